"""
Events: the operator writes notices as Event objects, which ``kubectl describe`` shows.

The operator does not write the same notice about an object again within moments: an event
is worth a write when something happened, not each time that it happens in a loop. Of a
large workload it writes the first Normal events of each reason and then one every few seconds:
two hundred groups that start need no two hundred writes. Every Warning is written. A wall clock
that is set back holds up no event. No
reconcile waits until events are written, and the operator drops an event that the API
server does not take.

They are written through the core group: ``kubectl describe`` sorts by ``lastTimestamp``, which
the newer group refuses in a new event. Clients of that group see the same event, with
``eventTime``, ``note`` and ``regarding``. Names rise with time, since the timestamps that
are sorted by have whole seconds, and ties stay in the order of names.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256

from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import EVENT
from kohort.cluster.objects import Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Cluster
from kohort.model.reasons import Notice

TOLD_MAX = 10_000
AT_ONCE_MAX = 8
WAITING_MAX = 1_000
REPEAT_AFTER = timedelta(seconds=1)
# Normal events of one reason about one object: so many at once, then one in each interval.
AT_FIRST_MAX = 25
INTERVAL = timedelta(seconds=10)
_NOTE_BYTES_MAX = 1024


class EventSink:
    """Writes notices as Event objects, in the background."""

    def __init__(
        self,
        cluster: Cluster,
        reporter: str,
        instance: str,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self._cluster = cluster
        self._may_write = may_write
        self._reporter = reporter
        self._instance = instance
        self._told: dict[tuple[str, str, str], datetime] = {}
        # When the allowance of an object and a reason will be whole again.
        self._whole_at: dict[tuple[str, str], datetime] = {}
        self._waiting: deque[Object] = deque(maxlen=WAITING_MAX)
        self._changed = asyncio.Event()
        self._is_stopping = False
        self.count = 0

    def emit(self, about: Object, notices: tuple[Notice, ...], now: str) -> None:
        """Queue the notices that are new, to be written soon."""
        moment = datetime.fromisoformat(now)
        for notice in notices:
            key = (uid_of(about), notice.reason, notice.message)
            if self._is_new(key, moment) and self._is_within_allowance(notice, key[:2], moment):
                self._waiting.append(self._event(about, notice, now))
        self._changed.set()

    async def run(self) -> None:
        """Write queued events until stopped, and the rest of the queue after that."""
        while self._waiting or not self._is_stopping:
            count = min(len(self._waiting), AT_ONCE_MAX)
            await asyncio.gather(*(self._write(self._waiting.popleft()) for _ in range(count)))
            if not self._waiting and not self._is_stopping:
                self._changed.clear()
                await self._changed.wait()

    def stop(self) -> None:
        """Let ``run`` end when it has written the queued events."""
        self._is_stopping = True
        self._changed.set()

    def _is_new(self, key: tuple[str, str, str], moment: datetime) -> bool:
        told = self._told.get(key)
        if told is not None and timedelta() <= moment - told < REPEAT_AFTER:
            return False
        if len(self._told) >= TOLD_MAX:
            self._told.clear()
        self._told[key] = moment
        return True

    def _is_within_allowance(self, notice: Notice, key: tuple[str, str], moment: datetime) -> bool:
        if notice.type != "Normal":
            return True
        longest = AT_FIRST_MAX * INTERVAL
        held = self._whole_at.get(key, moment)
        whole_at = (held if moment < held <= moment + longest else moment) + INTERVAL
        if whole_at - moment > longest:
            return False
        if len(self._whole_at) >= TOLD_MAX:
            self._whole_at.clear()
        self._whole_at[key] = whole_at
        return True

    async def _write(self, event: Object) -> None:
        if not self._may_write():
            return
        # A credential plugin, a provider or a file may fail as well as the API server.
        with suppress(KohortError):
            await self._cluster.create(EVENT, event["metadata"]["namespace"] or "default", event)

    def _event(self, about: Object, notice: Notice, now: str) -> Object:
        # Events of one second keep their order by a number in place of microseconds.
        number = self.count % 1_000_000
        self.count += 1
        body: Object = {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {
                "name": f"{name_of(about)}.{_rise(now, number)}{_digest(about, notice)}",
                "namespace": namespace_of(about),
            },
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": name_of(about),
                "namespace": namespace_of(about),
                "uid": uid_of(about),
            },
            "type": notice.type,
            "reason": notice.reason,
            "message": _cut(notice.message),
            "action": notice.action or "Update",
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "eventTime": now.replace("Z", f".{number:06}Z"),
            "source": {"component": self._reporter},
            "reportingComponent": self._reporter,
            "reportingInstance": self._instance,
        }
        if notice.related:
            body["related"] = {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": notice.related,
                "namespace": namespace_of(about),
            }
        return body


def _rise(now: str, number: int) -> str:
    """A timestamp in hexadecimal nanoseconds, whose texts sort as the timestamps do."""
    return f"{int(datetime.fromisoformat(now).timestamp()) * 1_000_000_000 + number * 1_000:016x}"


def _digest(about: Object, notice: Notice) -> str:
    """A suffix that keeps the event names of two processes at the same moment apart."""
    text = f"{uid_of(about)}/{notice.reason}/{notice.message}"
    return sha256(text.encode(errors="replace")).hexdigest()[:6]


def _cut(message: str) -> str:
    """The message cut to the bytes that an API server takes, at a whole character."""
    return message.encode(errors="replace")[:_NOTE_BYTES_MAX].decode(errors="ignore")
