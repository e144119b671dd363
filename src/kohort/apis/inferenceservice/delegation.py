"""
What forecasts need of a service: its workloads when they serve, scaled by their autoscalers, and
its workload strategies.

The status of a ready workload is what ``status/readiness.py`` reads of its kind, and no more. Of an
autoscaler only its bounds are known here: the load stays as it is.
"""

from collections.abc import Iterator, Mapping

from kohort.apis.api import Delegation
from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects, read_text
from kohort.apis.inferenceservice.spec import DeploymentMode
from kohort.apis.inferenceservice.strategies.registry import load_manager
from kohort.apis.inferenceservice.strategies.role_based_group import NAME as RBG
from kohort.cluster.kinds import AUTOSCALER, DEPLOYMENT
from kohort.cluster.objects import Kind, Object, annotations_of, metadata_of


def make_ready(kind: Kind, obj: Object) -> Object:
    """The workload as its controller leaves it when all its pods are ready."""
    if kind not in kinds.WORKLOADS:
        return obj
    generation = int(metadata_of(obj).get("generation") or 1)
    told = {"status": "True", "reason": "Ready", "message": ""}
    status: Object = {
        **read_object(obj, "status"),
        "observedGeneration": generation,
        "conditions": [{"type": name, **told} for name in ("Available", "Ready")],
    }
    spec = read_object(obj, "spec")
    if kind == kinds.ROLE_BASED_GROUP:
        status["roleStatuses"] = [
            {"name": role.get("name"), **_count(find_number(role, "replicas"))}
            for role in read_objects(spec, "roles")
        ]
    else:
        status |= _count(find_number(spec, "replicas"))
    return {**obj, "status": status}


def _count(replicas: int | None) -> Object:
    count = 1 if replicas is None else replicas
    return dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), count)


_SCALED = (DEPLOYMENT, kinds.LEADER_WORKER_SET)
# The fields of each kind of autoscaler with the least and the most replicas.
_BOUNDS = {
    AUTOSCALER: ("minReplicas", "maxReplicas"),
    kinds.SCALED_OBJECT: ("minReplicaCount", "maxReplicaCount"),
}


def scale(objects: Mapping[Kind, Mapping[str, Object]]) -> tuple[Kind, Object, str] | None:
    """The first workload outside of its autoscaler's bounds, with replicas within, and why."""
    for kind, (low, high) in _BOUNDS.items():
        for name, scaler in (objects.get(kind) or {}).items():
            spec = read_object(scaler, "spec")
            least, most = find_number(spec, low) or 1, find_number(spec, high)
            for target, obj, role in _list_targets(objects, read_object(spec, "scaleTargetRef")):
                held = _find_replicas(obj, role)
                wanted = max(least, held if most is None else min(held, most))
                # An autoscaler leaves a workload alone that has no replicas.
                if held not in (0, wanted):
                    why = f"{kind.name} {name} changes replicas from {held} to {wanted}"
                    return target, _put_replicas(obj, role, wanted), why
    return None


def _list_targets(
    objects: Mapping[Kind, Mapping[str, Object]], reference: Object
) -> Iterator[tuple[Kind, Object, str]]:
    """The workload that an autoscaler refers to; by a scaling adapter, a role of a group."""
    kind, name = reference.get("kind"), read_text(reference, "name")
    for each in _SCALED:
        if each.name == kind and name in (objects.get(each) or {}):
            yield each, objects[each][name], ""
    if kind == kinds.SCALING_ADAPTER.name:
        for group, obj in (objects.get(kinds.ROLE_BASED_GROUP) or {}).items():
            for role in read_objects(read_object(obj, "spec"), "roles"):
                if names.component_name(group, read_text(role, "name")) == name:
                    yield kinds.ROLE_BASED_GROUP, obj, read_text(role, "name")


def _find_replicas(obj: Object, role: str) -> int:
    spec = read_object(obj, "spec")
    held = next((r for r in read_objects(spec, "roles") if r.get("name") == role), spec)
    count = find_number(held, "replicas")
    return 1 if count is None else count


def _put_replicas(obj: Object, role: str, count: int) -> Object:
    spec = read_object(obj, "spec")
    if not role:
        return {**obj, "spec": {**spec, "replicas": count}}
    roles = [
        {**each, "replicas": count} if each.get("name") == role else each
        for each in read_objects(spec, "roles")
    ]
    return {**obj, "spec": {**spec, "roles": roles}}


def list_strategies() -> tuple[str, ...]:
    """The names of all workload strategies, in the order in which they are tried."""
    return tuple(each.get_strategy_name() for each in load_manager().list_strategies())


def put_strategy(service: Object, name: str) -> Object:
    """The service with the annotation by which it asks for a strategy, or without it."""
    notes = {k: v for k, v in annotations_of(service).items() if k != labels.DEPLOYMENT_MODE}
    if name == RBG:
        notes[labels.DEPLOYMENT_MODE] = DeploymentMode.ROLE_BASED_GROUP.value
    return {**service, "metadata": {**service["metadata"], "annotations": notes}}


DELEGATION = Delegation(make_ready, scale, list_strategies, put_strategy)
