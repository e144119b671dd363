"""
Subresources that are not simply a part of their object: scale, binding, eviction, tokens, reviews.
"""

from datetime import timedelta
from typing import Any

import orjson

from kohort.cluster.errors import BareError, TooManyRequests, conflict, invalid
from kohort.cluster.fields import Fault, FieldError, aggregate
from kohort.cluster.objects import Kind, Object
from kohort.cluster.selectors import read_label_selector
from kohort.simulator.api.context import Context, load
from kohort.simulator.api.reads.selecting import format_selector
from kohort.simulator.api.requests import (
    Answer,
    DeleteOptions,
    Patch,
    PatchType,
    Target,
    WriteOptions,
)
from kohort.simulator.api.writes.deleting import delete
from kohort.simulator.api.writes.filling import place_labels
from kohort.simulator.api.writes.patching import apply_to
from kohort.simulator.api.writes.writing import change, commit, explain_uid
from kohort.simulator.kinds import BUDGET
from kohort.simulator.resources.printers import Printer
from kohort.simulator.resources.resource import Resource
from kohort.simulator.schemas.builtin import load_shape

_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
_SCALED_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_TOKEN_SECONDS = 3600
_TOKEN_SECONDS_MIN = 600
_SCALE = Kind("autoscaling", "v1", "Scale", "scales")


def read_scale(context: Context, target: Target) -> Answer:
    """How many there are and should be, as an autoscaling/v1 Scale."""
    obj = load(target.resource, context.expect(target))
    return Answer(orjson.dumps(_scale_of(target.resource, obj)))


def _scale_of(resource: Resource, obj: Object) -> Object:
    paths = resource.scale
    assert paths is not None
    metadata = {f: obj["metadata"][f] for f in _SCALED_METADATA if f in obj["metadata"]}
    status: Object = {"replicas": _at(obj, paths.status_replicas) or 0}
    selector = _at(obj, paths.selector) if paths.selector else None
    if selector:
        status["selector"] = selector if isinstance(selector, str) else format_selector(selector)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": count} if (count := _at(obj, paths.spec_replicas)) else {},
        "status": status,
    }


def _at(obj: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(step)
    return obj


def _with(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    head, *rest = path
    inner = _with(obj.get(head) or {}, tuple(rest), value) if rest else value
    return {**obj, head: inner}


async def write_scale(
    context: Context, target: Target, scale: Object | Patch, options: WriteOptions
) -> Answer:
    """Set how many there should be, by a Scale or a patch of one."""
    resource = target.resource
    assert resource.scale is not None
    path = resource.scale.spec_replicas

    def wanted(live: Object) -> Object:
        asked = _asked(scale, _scale_of(resource, live))
        replicas = (asked.get("spec") or {}).get("replicas", 0)
        if resource.structural is None and (not isinstance(replicas, int) or replicas < 0):
            detail = "must be greater than or equal to 0"
            error = FieldError(Fault.INVALID, "spec.replicas", detail, replicas)
            raise invalid("Scale", "autoscaling", target.name, [error])
        version = (asked.get("metadata") or {}).get("resourceVersion")
        if version:
            live = _with(live, ("metadata", "resourceVersion"), version)
        return _with(live, path, replicas)

    main = Target(resource, target.namespace, target.name, "scale")
    answer = await change(context, main, wanted, options)
    return Answer(orjson.dumps(_scale_of(resource, orjson.loads(answer.raw))))


def _asked(scale: Object | Patch, current: Object) -> Object:
    if not isinstance(scale, Patch):
        return scale
    if scale.type is PatchType.APPLY:
        assert isinstance(scale.content, dict)
        return {**scale.content, "metadata": {}}
    shape = load_shape("autoscaling/v1", "Scale")
    return apply_to(Resource(_SCALE, shape, Printer()), current, scale)


async def bind(context: Context, target: Target, binding: Object, options: WriteOptions) -> Answer:
    """Put a pod on a node."""
    entry = context.expect(target)
    pod = load(target.resource, entry)
    node = _node_of(binding)
    _guard_binding(target, pod, binding)
    # Nobody becomes the manager of what a binding sets.
    pod["spec"] = {**pod["spec"], "nodeName": node}
    _mark_place(context, pod, binding, node)
    _mark_scheduled(context, pod)
    commit(context, target, pod, entry, options.dry_run)
    return Answer(orjson.dumps({**_SUCCESS, "code": 201}), 201)


def _node_of(binding: Object) -> str:
    asked: Object = binding.get("target") or {}
    errors: list[FieldError] = []
    if asked.get("kind") not in (None, "", "Node"):
        detail = 'supported values: "Node", "<empty>"'
        errors.append(FieldError(Fault.NOT_SUPPORTED, "target.kind", detail, asked["kind"]))
    if not asked.get("name"):
        errors.append(FieldError(Fault.REQUIRED, "target.name"))
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
    """What a binding carries goes over to the pod, and so does where the node is."""
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


async def evict(
    context: Context, target: Target, eviction: Object, options: WriteOptions
) -> Answer:
    """Delete a pod, if its disruption budgets allow it."""
    entry = context.expect(target)
    asked: Object = eviction.get("deleteOptions") or {}
    preconditions: Object = asked.get("preconditions") or {}
    deletion = DeleteOptions(
        grace_seconds=asked.get("gracePeriodSeconds"),
        uid=preconditions.get("uid", ""),
        dry_run=options.dry_run or bool(asked.get("dryRun")),
        user=options.user,
    )
    facts = entry.facts
    if not facts.is_leaving and facts.phase not in ("Succeeded", "Failed", "Pending"):
        await _spend_budget(context, target, entry.labels, options)
    if not deletion.dry_run and not facts.is_leaving and deletion.uid in ("", entry.uid):
        await _mark_evicted(context, target, options)
    await delete(context, Target(target.resource, target.namespace, target.name), deletion)
    return Answer(orjson.dumps({**_SUCCESS, "code": 201}), 201)


async def _mark_evicted(context: Context, target: Target, options: WriteOptions) -> None:
    """A pod says why it goes, for whoever replaces it."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": context.stamp(),
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }

    def marked(pod: Object) -> Object:
        status: Object = pod.get("status") or {}
        kept = [c for c in status.get("conditions") or () if c["type"] != condition["type"]]
        return {**pod, "status": {**status, "conditions": [*kept, condition]}}

    at_status = Target(target.resource, target.namespace, target.name, "status")
    await change(context, at_status, marked, options)


async def _spend_budget(
    context: Context, target: Target, labels: dict[str, str], options: WriteOptions
) -> None:
    budgets = [
        budget
        for entry in context.store.bucket(BUDGET.group_resource).entries.values()
        if entry.namespace == target.namespace
        for budget in [entry.decode()]
        if read_label_selector(budget["spec"].get("selector")).matches(labels)
    ]
    if len(budgets) > 1:
        raise BareError(
            "This pod has more than one PodDisruptionBudget, "
            "which the eviction subresource does not support."
        )
    for budget in budgets:
        status = budget.get("status") or {}
        if status.get("disruptionsAllowed", 0) <= 0:
            raise _over_budget(budget)
        at_status = Target(
            context.registry.of(BUDGET), target.namespace, budget["metadata"]["name"], "status"
        )
        left = {
            **status,
            "disruptionsAllowed": status["disruptionsAllowed"] - 1,
            "disruptedPods": {**status.get("disruptedPods", {}), target.name: context.stamp()},
        }
        await change(context, at_status, lambda live, s=left: {**live, "status": s}, options)  # type: ignore[misc]


def _over_budget(budget: Object) -> TooManyRequests:
    status = budget.get("status") or {}
    name = budget["metadata"]["name"]
    cause = {
        "reason": "DisruptionBudget",
        "message": f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy "
        f"pods and has {status.get('currentHealthy', 0)} currently",
    }
    return TooManyRequests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details={"causes": [cause]},
    )


def issue_token(context: Context, target: Target, request: Object) -> Answer:
    """A token for a service account. It opens nothing: the server knows one token only."""
    context.expect(target)
    seconds = (request.get("spec") or {}).get("expirationSeconds") or _TOKEN_SECONDS
    if seconds < _TOKEN_SECONDS_MIN:
        detail = "may not specify a duration less than 10 minutes"
        error = FieldError(Fault.INVALID, "spec.expirationSeconds", detail, seconds)
        raise invalid("TokenRequest", "authentication.k8s.io", "", [error])
    expires = context.clock() + timedelta(seconds=seconds)
    parts = [f"{context.chance.getrandbits(256):064x}" for _ in range(3)]
    status = {
        "token": ".".join(parts),
        "expirationTimestamp": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    body = {
        **request,
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": target.name, "namespace": target.namespace},
        "spec": {
            "audiences": ["kohort"],
            **(request.get("spec") or {}),
            "expirationSeconds": seconds,
        },
        "status": status,
    }
    return Answer(orjson.dumps(body), 201)


_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def review_access(target: Target, review: Object) -> Answer:
    """Whoever has the token may do everything, and is told so."""
    _check_review(target, review.get("spec") or {})
    status: Object = {"allowed": True}
    if target.resource.kind.name == "SelfSubjectRulesReview":
        status = {
            "resourceRules": [_EVERYTHING],
            "nonResourceRules": [_EVERY_PATH],
            "incomplete": False,
        }
    kind = target.resource.kind
    body = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": {}, **review}
    return Answer(orjson.dumps({**body, "status": status}), 201)


def _check_review(target: Target, spec: Object) -> None:
    asked = [field for field in ("resourceAttributes", "nonResourceAttributes") if spec.get(field)]
    if len(asked) == 1 or target.resource.kind.name != "SelfSubjectAccessReview":
        return
    detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    value = spec.get("resourceAttributes")
    error = FieldError(Fault.INVALID, "spec.resourceAttributes", detail, value)
    raise invalid("", target.resource.kind.group, "", [error])
