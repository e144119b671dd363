"""
This is where the log of one container is read to its end, over streams that break.

Streams of logs end for many reasons: the container ended, an API server or a kubelet restarted, a
proxy waited too long. So the state of the container decides whether there is more, not the stream.
A stream is resumed from the moment of the last line; servers know moments by the second, so lines
that were shown are left out by their own stamps. What is forbidden is not tried again.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson

from kohort.cli.exits import Failure
from kohort.cluster.errors import BadRequest, ClusterError, Forbidden, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Object, uid_of
from kohort.cluster.port import Address, Selection
from kohort.cluster.timestamps import write_time

PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds between attempts that bring nothing
Say = Callable[[str], None]
_Moment = tuple[datetime, str]  # a second, and the digits of its fraction


@dataclass(frozen=True, slots=True)
class Container:
    """One run of a container."""

    address: Address  # of its pod
    uid: str  # of its pod
    name: str
    restarts: int


@dataclass(slots=True)
class Progress:
    """How far a log was read: the moment of its last line, and how many lines have that moment."""

    moment: _Moment | None = None
    count: int = 0
    _repeated: int = field(default=0)  # lines of that moment that a resumed stream brought

    def restart(self) -> None:
        """A stream begins that starts at or before the last line."""
        self._repeated = 0

    def take(self, stamp: str) -> bool:
        """Whether a line with this stamp is new."""
        moment = _read_moment(stamp)
        if moment is None or (self.moment is not None and moment < self.moment):
            return moment is None
        if moment != self.moment:
            self.moment, self.count, self._repeated = moment, 1, 1
            return True
        self._repeated += 1
        is_new = self._repeated > self.count
        self.count = max(self.count, self._repeated)
        return is_new


def _read_moment(stamp: str) -> _Moment | None:
    head, _, rest = stamp.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    try:
        second = datetime.fromisoformat(head + rest[len(digits) :])
    except ValueError:
        return None
    if second.tzinfo is None:
        return None
    return second.astimezone(UTC), digits.ljust(9, "0")


async def read_lines(
    cluster: HttpCluster, address: Address, query: Mapping[str, str]
) -> AsyncGenerator[str, None]:
    """The lines of a log; raises Failure where reading logs is forbidden."""
    rest = b""
    try:
        async with aclosing(cluster.stream_log(address, query)) as chunks:
            async for chunk in chunks:
                *whole_lines, rest = (rest + chunk).split(b"\n")
                for line in whole_lines:
                    yield line.decode(errors="replace")
    except Forbidden as error:
        raise Failure(
            f"you may not get pods/log in namespace {address.namespace}: {error}; ask for a role "
            "with the verb get on pods/log"
        ) from error
    if rest:
        yield rest.decode(errors="replace")


class FollowedLog:
    """What one run of a container writes, to the end of that run."""

    def __init__(
        self,
        cluster: HttpCluster,
        container: Container,
        query: Mapping[str, str],
        say: Say,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._cluster = cluster
        self._container = container
        self._query = query
        self._say = say
        self._pauses = pauses
        self._progress = Progress()
        self._fruitless = 0  # attempts since the last line
        self._said = ""

    async def read(self) -> AsyncGenerator[str, None]:
        """Its lines, each once; raises Failure where reading logs is forbidden."""
        is_over = False
        while True:
            is_broken = False
            try:
                async with aclosing(self._attempt()) as lines:
                    async for line in lines:
                        yield line
            except ClusterError as error:
                is_broken = not isinstance(error, NotFound | BadRequest)
                self._describe(error)
            if is_over and not is_broken:
                return
            place = min(self._fruitless, len(self._pauses) - 1)
            self._fruitless += 1
            await asyncio.sleep(self._pauses[place])
            status = await self._find_status()
            if status is None:
                return
            # The last lines of an ended container may be unread: one more stream brings them.
            is_over = "running" not in (status.get("state") or {})

    async def _attempt(self) -> AsyncGenerator[str, None]:
        """The new lines of one stream."""
        query = {**self._query, "container": self._container.name}
        query |= {"follow": "true", "timestamps": "true"}
        if self._progress.moment is not None:
            second, _ = self._progress.moment
            query.pop("tailLines", None)
            query["sinceTime"] = write_time(second)
        self._progress.restart()
        stream = read_lines(self._cluster, self._container.address, query)
        async with aclosing(stream) as lines:
            async for line in lines:
                stamp, _, text = line.partition(" ")
                if not self._progress.take(stamp):
                    continue
                self._fruitless, self._said = 0, ""
                is_bare = _read_moment(stamp) is None
                yield line if is_bare or self._query.get("timestamps") else text

    def _describe(self, error: ClusterError) -> None:
        name = self._container.address.name
        if isinstance(error, NotFound):
            text = "" if self._progress.moment else f"{name} is gone, and its logs with it"
        elif isinstance(error, BadRequest):
            text = f"{name}: {error}"
        else:
            text = f"the log of {name} broke off ({error}); it is read again"
        if text and text != self._said:
            self._say(f"note: {text}")
            self._said = text

    async def _find_status(self) -> Object | None:
        """The status of the container; None if this run of it, or its pod, is gone."""
        address = self._container.address
        fields = f"metadata.name={address.name}"
        try:
            listing = await self._cluster.list(
                Selection(address.kind, address.namespace, "", fields)
            )
        except ClusterError:
            return {"state": {"running": {}}}  # The state is unknown until the next attempt.
        pods = (orjson.loads(raw) for raw in listing.items)
        pod = next((pod for pod in pods if uid_of(pod) == self._container.uid), None)
        status = find_container_status(pod or {}, self._container.name)
        is_same = int(status.get("restartCount") or 0) == self._container.restarts
        return status if pod is not None and is_same else None


def find_container_status(pod: Object, name: str) -> Object:
    """The status of a container of a pod; empty if there is none yet."""
    status = pod.get("status") or {}
    held = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return next((found for found in held if found.get("name") == name), {})
