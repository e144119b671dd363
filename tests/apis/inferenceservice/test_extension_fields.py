"""Each field of a component's extension changes an object, or a warning names it."""

from typing import Any

import pytest
from isvc_builders import RUNNER, model, multi_node, planned, rbg, runtime, service

from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.spec import EXTENSION_FIELDS
from kohort.cluster.kinds import BUDGET
from kohort.cluster.objects import Object

FIELDS = {
    "minReplicas": 4,
    "maxReplicas": 9,
    "scaleTarget": 33,
    "scaleMetric": "memory",
    "containerConcurrency": 5,
    "timeoutSeconds": 77,
    "canaryTrafficPercent": 10,
    "labels": {"team": "a"},
    "annotations": {"team": "a"},
    "minAvailable": 2,
    "maxUnavailable": 0,
    "deploymentStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
    "kedaConfig": {"scalingThreshold": "3"},
}
CLASS = "ome.io/autoscalerClass"
RAY = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}}
HPA, KEDA, EXTERNAL = ({"annotations": {CLASS: name}} for name in ("hpa", "keda", "external"))


def two_parts() -> Object:
    """A runtime whose decoder is one pod, as its engine is."""
    return runtime(decoderConfig={"runner": RUNNER})


FORMS: dict[str, tuple[str, Any, Any, dict[str, Any]]] = {
    "raw": ("engine", service, runtime, {}),
    "multi-node": ("engine", service, multi_node, {}),
    "serverless": ("engine", service, runtime, {"minReplicas": 0}),
    "ray": ("engine", service, multi_node, RAY),
    "group": ("engine", rbg, runtime, {}),
    "multi-node group": ("engine", rbg, multi_node, {}),
    "scaled multi-node": ("engine", service, multi_node, HPA),
    "keda": ("engine", service, runtime, KEDA),
    "keda group": ("engine", rbg, runtime, KEDA),
    "external": ("engine", service, runtime, EXTERNAL),
    "external multi-node": ("engine", service, multi_node, EXTERNAL),
    "external group": ("engine", rbg, runtime, EXTERNAL),
    "decoder": ("decoder", service, two_parts, {}),
    "multi-node decoder": ("decoder", service, multi_node, {}),
    "decoder of a group": ("decoder", rbg, two_parts, {}),
    "router": ("router", service, runtime, {}),
    "serverless router": ("router", service, runtime, {"minReplicas": 0}),
    "router of a group": ("router", rbg, runtime, {}),
}


def plan_form(form: str, **fields: Any) -> ServicePlan:
    part, write, held, base = FORMS[form]
    notes = {**base.get("annotations", {}), **fields.pop("annotations", {})}
    own = {**base, **fields, **({"annotations": notes} if notes else {})}
    rolled_out = {"components": {part: {"latestRolledoutRevision": "r1"}}}
    return planned({**write(**{part: own}), "status": rolled_out}, model(), held())


def test_every_field_is_tried():
    assert tuple(FIELDS) == EXTENSION_FIELDS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_heeded_or_warned_of(form: str, field: str):
    plain, told = plan_form(form), plan_form(form, **{field: FIELDS[field]})
    is_named = any(field in text for text in told.warnings)
    assert (told.objects != plain.objects) is not is_named
    assert not plain.warnings


def test_recreating_is_no_way_for_a_role():
    recreate = {"type": "Recreate"}
    plan = plan_form("group", deploymentStrategy=recreate)
    assert any("deploymentStrategy" in text for text in plan.warnings)
    assert not plan_form("raw", deploymentStrategy=recreate).warnings


def test_limits_of_a_rollout_that_recreates_are_warned_of():
    both = {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}
    (told,) = plan_form("raw", deploymentStrategy=both).warnings
    assert told == "spec.engine.deploymentStrategy.rollingUpdate has no effect with type Recreate"


def test_a_target_that_keda_does_not_read_is_warned_of():
    keda = {CLASS: "keda"}
    plan = plan_form("raw", annotations=keda, scaleTarget=50)
    assert any("scaleTarget" in text for text in plan.warnings)
    assert not plan_form("raw", annotations=keda).warnings
    assert plan_form("raw", annotations=keda).find(BUDGET, "chat-engine")


KEDA_FIELDS = {
    "enableKeda": False,
    "promServerAddress": "http://metrics:9090",
    "customPromQuery": "sum(requests)",
    "scalingThreshold": "3",
    "scalingOperator": "GreaterThan",
    "authenticationRef": {"name": "keys"},
    "authModes": "basic",
}


@pytest.mark.parametrize("form", ["keda", "keda group"])
@pytest.mark.parametrize("field", KEDA_FIELDS)
def test_a_field_for_keda_is_heeded_or_warned_of(form: str, field: str):
    plain, told = plan_form(form), plan_form(form, kedaConfig={field: KEDA_FIELDS[field]})
    is_named = any(f"spec.engine.kedaConfig.{field}" in text for text in told.warnings)
    assert (told.objects != plain.objects) is not is_named


@pytest.mark.parametrize("form", ["ray", "serverless"])
def test_keda_scales_no_component_whose_pods_another_controller_makes(form: str):
    keda = {CLASS: "keda"}
    plan = plan_form(form, annotations=keda, kedaConfig={"scalingThreshold": "3"})
    mode = {"ray": "MultiNodeRayVLLM", "serverless": "Serverless"}[form]
    assert f"spec.engine.kedaConfig has no effect in deployment mode {mode}" in plan.warnings


def test_what_a_service_says_to_keda_is_heeded_or_warned_of():
    held = service(kedaConfig={"scalingThreshold": "3"})
    (told,) = planned(held, model(), runtime()).warnings
    assert told == f"spec.kedaConfig has no effect without annotation {CLASS}: keda"
    held["metadata"]["annotations"] = {CLASS: "keda"}
    assert not planned(held, model(), runtime()).warnings
    held["spec"]["kedaConfig"] = {"enableKeda": False}
    (told,) = planned(held, model(), runtime()).warnings
    assert told.startswith("spec.kedaConfig.enableKeda false has no effect")
