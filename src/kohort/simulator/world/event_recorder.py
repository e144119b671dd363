"""
Writes the Event objects of components; repeats raise the count of one event.

An event with the same reason and message raises the count of the earlier one. Names rise
with time, so that events of one second are listed in the order in which they came. Earlier
events are remembered for a while only, as by the recorders of a real control plane.
"""

from collections import OrderedDict
from datetime import UTC, datetime, timedelta

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import Patch, WriteOptions
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import EVENT
from kohort.cluster.objects import Object, uid_of
from kohort.cluster.port import PatchType
from kohort.simulator.component import Emit, Moment

REMEMBERED_MAX = 4096
# The source of events by component; other components use their field manager.
SOURCES = {
    "deployments": "deployment-controller",
    "disruption": "controllermanager",
    "replicasets": "replicaset-controller",
    "scheduler": "default-scheduler",
    "statefulsets": "statefulset-controller",
    "volumes": "persistentvolume-controller",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Recorder:
    """Writes Event objects."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self._names: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._last = 0

    async def record(
        self, told: Emit, component: str, options: WriteOptions, moment: Moment
    ) -> None:
        """Create an Event, or raise the count of an equal one."""
        source = told.source or SOURCES.get(component, options.manager)
        metadata = told.about["metadata"]
        namespace = metadata.get("namespace") or "default"
        key = (uid_of(told.about), source, told.type, told.reason, told.message)
        known = self._names.get(key)
        if known is not None and await self._count(namespace, known, options, moment):
            return
        name = f"{metadata['name']}.{self._rising(moment):x}"
        self._remember(key, name)
        body = _event(told, source, moment)
        body["metadata"] = {"name": name, "namespace": namespace}
        try:
            await self._api.create(self._api.target(EVENT, namespace), body, options)
        except ClusterError:
            # Lost events are harmless: a terminating namespace refuses them.
            return

    async def _count(
        self, namespace: str, name: str, options: WriteOptions, moment: Moment
    ) -> bool:
        target = self._api.target(EVENT, namespace, name)
        seen = self._api.context.find(target)
        if seen is None:
            return False
        patch = {"count": seen.decode().get("count", 1) + 1, "lastTimestamp": moment.stamp}
        await self._api.patch(target, Patch(PatchType.MERGE, patch), options)
        return True

    def _rising(self, moment: Moment) -> int:
        """Nanoseconds since 1970, or one more than the last time."""
        now = (moment.wall - _EPOCH) // _MICROSECOND * 1000
        self._last = max(now, self._last + 1)
        return self._last

    def _remember(self, key: tuple[str, ...], name: str) -> None:
        self._names[key] = name
        if len(self._names) > REMEMBERED_MAX:
            self._names.popitem(last=False)


def _event(told: Emit, source: str, moment: Moment) -> Object:
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "involvedObject": _reference(told.about),
        "reason": told.reason,
        "message": told.message,
        "type": told.type,
        "source": {"component": source},
        "reportingComponent": source,
        "reportingInstance": "",
        "firstTimestamp": moment.stamp,
        "lastTimestamp": moment.stamp,
        "count": 1,
    }


def _reference(about: Object) -> Object:
    metadata = about["metadata"]
    fields = ("name", "namespace", "uid", "resourceVersion")
    return {
        "kind": about["kind"],
        "apiVersion": about["apiVersion"],
        **{field: metadata[field] for field in fields if field in metadata},
    }
