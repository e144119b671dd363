"""
Events: notices become objects that people see in ``kubectl describe``.

The same notice twice in a row about one object is told once: an event is worth a
write when something happened, not when somebody looked. Events are a courtesy,
so one that the server refuses is forgotten.
"""

from hashlib import sha256

from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Cluster
from kohort.model.reasons import Notice

EVENT = Kind("events.k8s.io", "v1", "Event", "events")
TOLD_MAX = 10_000
_NOTE_MAX = 1024


class EventSink:
    """Tells the cluster what happened."""

    def __init__(self, cluster: Cluster, reporter: str, instance: str) -> None:
        self._cluster = cluster
        self._reporter = reporter
        self._instance = instance
        self._told: dict[tuple[str, str], str] = {}
        self.count = 0

    async def tell(self, about: Object, notices: tuple[Notice, ...], now: str) -> None:
        """Write the notices that are new."""
        for notice in notices:
            key = (uid_of(about), f"{notice.reason}/{notice.action}")
            if self._told.get(key) == notice.message:
                continue
            if len(self._told) >= TOLD_MAX:
                self._told.clear()
            self._told[key] = notice.message
            try:
                await self._cluster.create(
                    EVENT, namespace_of(about) or "default", self._event(about, notice, now)
                )
                self.count += 1
            except ClusterError:
                continue

    def _event(self, about: Object, notice: Notice, now: str) -> Object:
        text = f"{uid_of(about)}/{notice.reason}/{notice.message}/{now}"
        suffix = sha256(text.encode()).hexdigest()[:16]
        body: Object = {
            "kind": "Event",
            "apiVersion": "events.k8s.io/v1",
            "metadata": {"name": f"{name_of(about)}.{suffix}", "namespace": namespace_of(about)},
            "eventTime": now.replace("Z", ".000000Z"),
            "reportingController": self._reporter,
            "reportingInstance": self._instance,
            "action": notice.action or "Update",
            "reason": notice.reason,
            "regarding": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": name_of(about),
                "namespace": namespace_of(about),
                "uid": uid_of(about),
            },
            "note": notice.message[:_NOTE_MAX],
            "type": notice.type,
        }
        if notice.related:
            body["related"] = {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": notice.related,
                "namespace": namespace_of(about),
            }
        return body
