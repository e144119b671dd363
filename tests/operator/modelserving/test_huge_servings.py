"""A ModelServing that asks for more pods than a cluster can have is told so; others are served."""

import pytest
from serving_lab import KIND, ServingLab, role, serving

from kohort.apis.modelserving.admission.validation import validate_serving
from kohort.apis.modelserving.plugins.known import BUILT_INS
from kohort.cluster.objects import Object, find_condition

HUGE = 2**31 - 1
CASES = {
    "groups": (serving(role(workers=0), replicas=HUGE), f"{HUGE} groups of 1 pods"),
    "no pods": (serving(role(replicas=0), replicas=HUGE), f"{HUGE} groups of 0 pods"),
    "instances": (serving(role(replicas=HUGE, workers=0)), f"2 groups of {HUGE} pods"),
    "workers": (serving(role(workers=HUGE)), f"2 groups of {HUGE + 1} pods"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_serving_with_too_many_pods_is_refused(case: str):
    huge, why = CASES[case]
    texts = [error.text() for error in validate_serving(huge, None, BUILT_INS)]
    assert any(f"{why} are too many: at most 1000000 pods are made" in text for text in texts)


@pytest.mark.parametrize("case", CASES)
async def test_a_stored_serving_with_too_many_pods_keeps_no_other_waiting(
    lab: ServingLab, case: str
):
    lab.remove_webhooks()
    huge, why = CASES[case]
    await lab.apply(as_huge(huge))
    await lab.apply(serving(role(), replicas=1))
    await lab.until(lambda: len(lab.pods()) == 2)
    stalled = find_condition(lab.find(KIND, "huge") or {}, "Stalled") or {}
    assert why in stalled["message"]


def as_huge(made: Object) -> Object:
    return {**made, "metadata": {**made["metadata"], "name": "huge"}}
