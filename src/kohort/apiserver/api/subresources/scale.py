"""
The scale subresource: current and desired replicas, whatever fields the kind has for them.

No Scale is stored. A kind names the paths of its counts: the server reads a Scale from
these fields of the object, and a write to the Scale changes the same fields.
"""

from typing import Any

import orjson

from kohort.apiserver.api.context import Context, load
from kohort.apiserver.api.requests import Answer, PatchBody, Target, WriteOptions
from kohort.apiserver.api.writes.decoder import encode_patched, refuse_patch
from kohort.apiserver.api.writes.patch_writes import apply_to
from kohort.apiserver.api.writes.pipeline import change
from kohort.apiserver.resources.printers import Printer
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.resources.scales import read_counts
from kohort.apiserver.schemas import strict
from kohort.apiserver.schemas.builtin import load_shape
from kohort.apiserver.schemas.go_json import write_builtin
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType

_SCALED_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_SCALE = Kind("autoscaling", "v1", "Scale", "scales")


def read_scale(target: Target, entry: StoredObject) -> Answer:
    """The autoscaling/v1 Scale of an object."""
    obj = load(target.resource, entry)
    return Answer(write_builtin(_scale_of(target.resource, obj)))


def _scale_of(resource: Resource, obj: Object) -> Object:
    paths = resource.scale
    assert paths is not None
    metadata = {f: obj["metadata"][f] for f in _SCALED_METADATA if f in obj["metadata"]}
    counts = read_counts(paths, obj)
    status: Object = {"replicas": counts.found}
    if counts.selector:
        status["selector"] = counts.selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": counts.wanted} if counts.wanted else {},
        "status": status,
    }


def _with(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    head, *rest = path
    inner = _with(obj.get(head) or {}, tuple(rest), value) if rest else value
    return {**obj, head: inner}


async def write_scale(
    context: Context, target: Target, scale: Object | PatchBody, options: WriteOptions
) -> Answer:
    """Set the desired replicas, from a Scale or a patch of one."""
    resource = target.resource
    assert resource.scale is not None
    path = resource.scale.spec_replicas

    def wanted(live: Object) -> Object:
        asked = _asked(scale, _scale_of(resource, live))
        replicas = (asked.get("spec") or {}).get("replicas", 0)
        if resource.structural is None and (not isinstance(replicas, int) or replicas < 0):
            detail = "must be greater than or equal to 0"
            error = FieldError(FieldErrorType.INVALID, "spec.replicas", detail, replicas)
            raise invalid("Scale", "autoscaling", target.name, [error])
        version = (asked.get("metadata") or {}).get("resourceVersion")
        if version:
            live = _with(live, ("metadata", "resourceVersion"), version)
        return _with(live, path, replicas)

    main = Target(resource, target.namespace, target.name, "scale")
    answer = await change(context, main, wanted, options)
    return Answer(write_builtin(_scale_of(resource, orjson.loads(answer.raw))))


def _asked(scale: Object | PatchBody, current: Object) -> Object:
    if not isinstance(scale, PatchBody):
        return scale
    shape = load_shape("autoscaling/v1", "Scale")
    if scale.type is PatchType.APPLY:
        assert isinstance(scale.content, dict)
        patched = {**scale.content, "metadata": {}}
    else:
        patched = apply_to(Resource(_SCALE, shape, Printer()), current, scale)
    shown = encode_patched(patched)
    try:
        return strict.read_object(patched, shape)[0]
    except strict.Unreadable as error:
        raise refuse_patch(str(error), shown) from None
