"""
Carries out the actions of a step as requests to the API, and writes the Events of components.

A create that meets its own object and a delete that finds nothing are successes.
Any other failure is passed to the component, and its key is reconciled again.

An event with the same reason and message raises the count of the earlier one. Names rise
with time, so that events of one second are listed in the order in which they came. Earlier
events are remembered for a while only, as by the recorders of a real control plane.
"""

from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import orjson

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, User, WriteOptions
from kohort.cluster.errors import AlreadyExists, ClusterError, Conflict, NotFound
from kohort.cluster.kinds import EVENT, POD
from kohort.cluster.objects import Kind, Object, find_controller, namespace_of, uid_of
from kohort.cluster.port import PatchType
from kohort.simulator.component import (
    BindRequest,
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    ReplaceRequest,
)


def suspends(api: ApiServer, action: ComponentAction) -> bool:
    """Whether an action may have to wait, such as for a webhook."""
    match action:
        case CreateRequest(kind=kind):
            return _is_of_concern(api, "CREATE", kind)
        case DeleteRequest(kind=kind):
            return _is_of_concern(api, "DELETE", kind)
        case (
            ReplaceRequest(kind=kind, subresource=part) | MergeRequest(kind=kind, subresource=part)
        ):
            return _is_of_concern(api, "UPDATE", kind, part)
    return False


def _is_of_concern(api: ApiServer, operation: str, kind: Kind, part: str = "") -> bool:
    try:
        target = api.target(kind, part=part)
    except NotFound:
        # The kind is no longer served; the request itself will fail with that error.
        return False
    conversion = target.resource.conversion
    if conversion is not None and conversion.waits:
        return True
    return api.context.admission.concerns(operation, target)


def options_of(manager: str) -> WriteOptions:
    """The write options with a component's user and field manager."""
    return WriteOptions(manager=manager, user=User(f"system:{manager}", ("system:masters",)))


async def execute(api: ApiServer, action: ComponentAction, options: WriteOptions) -> None:
    """Carry out one action that changes objects, or raise ClusterError."""
    match action:
        case CreateRequest():
            await _create(api, action, options)
        case ReplaceRequest(kind=kind, obj=obj, subresource=part):
            target = api.target(kind, namespace_of(obj), obj["metadata"]["name"], part)
            await api.update(target, obj, options)
        case MergeRequest():
            await _merge(api, action, options)
        case DeleteRequest():
            await _delete(api, action, options)
        case BindRequest(namespace=namespace, name=name, uid=uid, node=node):
            target = api.target(POD, namespace, name, "binding")
            body = {"metadata": {"name": name, "uid": uid}, "target": {"name": node}}
            await api.create(target, body, options)


async def _create(api: ApiServer, action: CreateRequest, options: WriteOptions) -> None:
    target = api.target(action.kind, namespace_of(action.obj))
    # Copied, since the component may keep the object that it made.
    body: Object = orjson.loads(orjson.dumps(action.obj))
    try:
        await api.create(target, body, options)
    except AlreadyExists:
        name = action.obj["metadata"]["name"]
        found = api.context.find(api.target(action.kind, target.namespace, name))
        owner = find_controller(action.obj) or {}
        if found is None or found.controller != owner.get("uid", "") or found.is_leaving:
            raise


async def _merge(api: ApiServer, action: MergeRequest, options: WriteOptions) -> None:
    patch = action.patch
    if action.uid:
        patch = {**patch, "metadata": {**patch.get("metadata", {}), "uid": action.uid}}
    target = api.target(action.kind, action.namespace, action.name, action.subresource)
    await api.patch(target, PatchBody(PatchType.MERGE, patch), options)


async def _delete(api: ApiServer, action: DeleteRequest, options: WriteOptions) -> None:
    asked = DeleteOptions(action.grace_seconds, action.propagation, action.uid, user=options.user)
    for other in action.unless:
        found = api.context.find(api.target(other.kind, other.namespace, other.name))
        if found is not None and found.uid == other.uid:
            raise Conflict(f"{action.name} stays: its owner {other.name} exists")
    with suppress(NotFound):
        await api.delete(api.target(action.kind, action.namespace, action.name), asked)


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
        self, told: EventRequest, component: str, options: WriteOptions, moment: Moment
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
        await self._api.patch(target, PatchBody(PatchType.MERGE, patch), options)
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


def _event(told: EventRequest, source: str, moment: Moment) -> Object:
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
