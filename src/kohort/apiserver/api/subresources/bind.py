"""
The binding subresource: it sets a pod's node, once.

It is refused for a pod that has a node or is leaving, so two schedulers cannot both
place it. No webhook is asked, and no manager is recorded for what it sets.
"""

import orjson

from kohort.apiserver.api.context import Context, load
from kohort.apiserver.api.requests import SUCCESS, Answer, Target, WriteOptions
from kohort.apiserver.api.writes.pipeline import explain_uid
from kohort.apiserver.api.writes.server_fields import place_labels
from kohort.apiserver.api.writes.storage import commit
from kohort.cluster.errors import BareError, conflict
from kohort.cluster.fields import FieldError, FieldErrorType, aggregate
from kohort.cluster.objects import Object


async def bind(context: Context, target: Target, binding: Object, options: WriteOptions) -> Answer:
    """Put a pod on a node."""
    entry = context.expect(target)
    pod = load(target.resource, entry)
    node = _node_of(binding)
    _guard_binding(target, pod, binding)
    pod["spec"] = {**pod["spec"], "nodeName": node}
    _mark_place(context, pod, binding, node)
    _mark_scheduled(context, pod)
    await commit(context, target, pod, entry, options.dry_run)
    return Answer(orjson.dumps({**SUCCESS, "code": 201}), 201)


def _node_of(binding: Object) -> str:
    asked: Object = binding.get("target") or {}
    errors: list[FieldError] = []
    if asked.get("kind") not in (None, "", "Node"):
        detail = 'supported values: "Node", "<empty>"'
        errors.append(
            FieldError(FieldErrorType.NOT_SUPPORTED, "target.kind", detail, asked["kind"])
        )
    if not asked.get("name"):
        errors.append(FieldError(FieldErrorType.REQUIRED, "target.name"))
    if errors:
        raise BareError(aggregate(errors))
    return str(asked["name"])


def _guard_binding(target: Target, pod: Object, binding: Object) -> None:
    uid = (binding.get("metadata") or {}).get("uid")
    if uid and uid != pod["metadata"]["uid"]:
        seen = pod["metadata"]["uid"]
        raise conflict("pods", "", target.name, explain_uid(target, uid, seen))
    if "deletionTimestamp" in pod["metadata"]:
        why = f"pod {target.name} is being deleted, cannot be assigned to a host"
        raise conflict("pods/binding", "", target.name, why)
    node = pod["spec"].get("nodeName")
    if node:
        why = f'pod {target.name} is already assigned to node "{node}"'
        raise conflict("pods/binding", "", target.name, why)


def _mark_place(context: Context, pod: Object, binding: Object, node: str) -> None:
    """Copy the binding's metadata and the node's topology labels to the pod."""
    carried: Object = binding.get("metadata") or {}
    added = {
        "annotations": carried.get("annotations") or {},
        "labels": {**(carried.get("labels") or {}), **place_labels(context, node)},
    }
    for field, values in added.items():
        if values:
            pod["metadata"][field] = {**(pod["metadata"].get(field) or {}), **values}


def _mark_scheduled(context: Context, pod: Object) -> None:
    status = pod["status"] = dict(pod.get("status") or {})
    kept = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": context.stamp(),
    }
    status["conditions"] = [*kept, scheduled]
