"""Each field of a component's extension changes an object, or a warning names it."""

from typing import Any

import pytest
from isvc_builders import model, multi_node, planned, rbg, runtime, service

from kohort.apis.inferenceservice.assembly import ServicePlan
from kohort.apis.inferenceservice.spec import EXTENSION_FIELDS
from kohort.cluster.kinds import BUDGET

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
RAY = {"annotations": {"ome.io/deploymentMode": "MultiNodeRayVLLM"}}
FORMS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "raw": (service, runtime, {}),
    "multi-node": (service, multi_node, {}),
    "serverless": (service, runtime, {"minReplicas": 0}),
    "ray": (service, multi_node, RAY),
    "group": (rbg, runtime, {}),
    "multi-node group": (rbg, multi_node, {}),
}


def plan_form(form: str, **fields: Any) -> ServicePlan:
    write, held, base = FORMS[form]
    notes = {**base.get("annotations", {}), **fields.pop("annotations", {})}
    engine = {**base, **fields, **({"annotations": notes} if notes else {})}
    rolled_out = {"components": {"engine": {"latestRolledoutRevision": "r1"}}}
    return planned({**write(engine=engine), "status": rolled_out}, model(), held())


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


def test_a_target_that_keda_does_not_read_is_warned_of():
    keda = {"ome.io/autoscalerClass": "keda"}
    plan = plan_form("raw", annotations=keda, scaleTarget=50)
    assert any("scaleTarget" in text for text in plan.warnings)
    assert not plan_form("raw", annotations=keda).warnings
    assert plan_form("raw", annotations=keda).find(BUDGET, "chat-engine")
