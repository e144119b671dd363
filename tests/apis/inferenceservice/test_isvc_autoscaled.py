"""What forecasts take autoscalers for: they bring workloads within their bounds, and no further."""

import pytest

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.delegation import scale
from kohort.cluster.kinds import AUTOSCALER, DEPLOYMENT
from kohort.cluster.objects import Kind, Object


def named(name: str, **spec: object) -> dict[str, Object]:
    return {name: {"metadata": {"name": name}, "spec": spec}}


def autoscale(kind: Kind, name: str, least: int, most: int) -> dict[Kind, dict[str, Object]]:
    """A HorizontalPodAutoscaler of an object."""
    target = {"kind": kind.name, "name": name}
    return {AUTOSCALER: named("a", scaleTargetRef=target, minReplicas=least, maxReplicas=most)}


@pytest.mark.parametrize(("held", "wanted"), [(1, 2), (2, None), (4, None), (5, 4), (0, None)])
def test_replicas_come_within_the_bounds_and_none_stay_none(held: int, wanted: int | None):
    objects = {DEPLOYMENT: named("x", replicas=held), **autoscale(DEPLOYMENT, "x", 2, 4)}
    found = scale(objects)
    assert (found and found[1]["spec"]["replicas"]) == wanted


def test_an_autoscaler_of_an_adapter_scales_the_role_behind_it():
    roles = [{"name": "engine", "replicas": 1}, {"name": "router", "replicas": 1}]
    group = {kinds.ROLE_BASED_GROUP: named("x", roles=roles)}
    found = scale({**group, **autoscale(kinds.SCALING_ADAPTER, "x-router", 3, 4)})
    assert found is not None
    kind, obj, why = found
    assert (kind, [role["replicas"] for role in obj["spec"]["roles"]]) == (
        kinds.ROLE_BASED_GROUP,
        [1, 3],
    )
    assert why == "HorizontalPodAutoscaler a changes replicas from 1 to 3"


def test_a_scaled_object_of_keda_has_bounds_too():
    target = {"kind": "Deployment", "name": "x"}
    spec = {"scaleTargetRef": target, "minReplicaCount": 3, "maxReplicaCount": 4}
    objects = {DEPLOYMENT: named("x", replicas=1), kinds.SCALED_OBJECT: named("s", **spec)}
    assert scale(objects) is not None


def test_an_autoscaler_of_a_missing_workload_scales_nothing():
    assert scale({DEPLOYMENT: named("y"), **autoscale(DEPLOYMENT, "x", 2, 4)}) is None
