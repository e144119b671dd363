"""
What forecasts need of a service: its workloads when they serve, and its workload strategies.

The status of a ready workload is what ``status/readiness.py`` reads of its kind, and no more.
"""

from kohort.apis.api import Delegation
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects
from kohort.apis.inferenceservice.spec import DeploymentMode
from kohort.apis.inferenceservice.strategies.registry import load_manager
from kohort.apis.inferenceservice.strategies.role_based_group import NAME as RBG
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


def list_strategies() -> tuple[str, ...]:
    """The names of all workload strategies, in the order in which they are tried."""
    return tuple(each.get_strategy_name() for each in load_manager().list_strategies())


def put_strategy(service: Object, name: str) -> Object:
    """The service with the annotation by which it asks for a strategy, or without it."""
    notes = {k: v for k, v in annotations_of(service).items() if k != labels.DEPLOYMENT_MODE}
    if name == RBG:
        notes[labels.DEPLOYMENT_MODE] = DeploymentMode.ROLE_BASED_GROUP.value
    return {**service, "metadata": {**service["metadata"], "annotations": notes}}


DELEGATION = Delegation(make_ready, list_strategies, put_strategy)
