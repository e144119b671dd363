"""
Carries out the actions of a step as requests to the API.

A create that meets its own object and a delete that finds nothing are successes.
Any other failure is passed to the component, and its key is reconciled again.
"""

from contextlib import suppress

import orjson

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import DeleteOptions, Patch, User, WriteOptions
from kohort.cluster.errors import AlreadyExists, Conflict, NotFound
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind, Object, find_controller, namespace_of
from kohort.cluster.port import PatchType
from kohort.simulator.component import Action, Bind, Create, Delete, Merge, Replace


def suspends(api: ApiServer, action: Action) -> bool:
    """Whether an action may have to wait, such as for a webhook."""
    match action:
        case Create(kind=kind):
            return _is_of_concern(api, "CREATE", kind)
        case Delete(kind=kind):
            return _is_of_concern(api, "DELETE", kind)
        case Replace(kind=kind, subresource=part) | Merge(kind=kind, subresource=part):
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


async def execute(api: ApiServer, action: Action, options: WriteOptions) -> None:
    """Carry out one action that changes objects, or raise ClusterError."""
    match action:
        case Create():
            await _create(api, action, options)
        case Replace(kind=kind, obj=obj, subresource=part):
            target = api.target(kind, namespace_of(obj), obj["metadata"]["name"], part)
            await api.update(target, obj, options)
        case Merge():
            await _merge(api, action, options)
        case Delete():
            await _delete(api, action, options)
        case Bind(namespace=namespace, name=name, uid=uid, node=node):
            target = api.target(POD, namespace, name, "binding")
            body = {"metadata": {"name": name, "uid": uid}, "target": {"name": node}}
            await api.create(target, body, options)


async def _create(api: ApiServer, action: Create, options: WriteOptions) -> None:
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


async def _merge(api: ApiServer, action: Merge, options: WriteOptions) -> None:
    patch = action.patch
    if action.uid:
        patch = {**patch, "metadata": {**patch.get("metadata", {}), "uid": action.uid}}
    target = api.target(action.kind, action.namespace, action.name, action.subresource)
    await api.patch(target, Patch(PatchType.MERGE, patch), options)


async def _delete(api: ApiServer, action: Delete, options: WriteOptions) -> None:
    asked = DeleteOptions(action.grace_seconds, action.propagation, action.uid, user=options.user)
    for other in action.unless:
        found = api.context.find(api.target(other.kind, other.namespace, other.name))
        if found is not None and found.uid == other.uid:
            raise Conflict(f"{action.name} stays: its owner {other.name} exists")
    with suppress(NotFound):
        await api.delete(api.target(action.kind, action.namespace, action.name), asked)
