"""Objects that ask for more pods than a cluster can have are told so, and others are served."""

from typing import Any

import pytest
from group_lab import GroupLab, group, leader_worker, standalone, template

from kohort.apis.rolebasedgroup.admission.validation import validate_group
from kohort.apis.rolebasedgroup.admission.warnings import warn_group
from kohort.apis.rolebasedgroup.labels import KIND
from kohort.cluster.objects import Object, find_condition

HUGE = 2**31 - 1
NONE = {"name": "c", "size": 0, "template": template()}
EMPTY = {"name": "a", "replicas": HUGE, "customComponentsPattern": {"components": [NONE]}}
CASES = {
    "size": (leader_worker(size=HUGE), f"asks for {HUGE} pods in each instance; at most 10000"),
    "replicas": (
        standalone(replicas=HUGE),
        f"asks for {HUGE} instances of 1 pods; at most 1000000",
    ),
    "no pods": (EMPTY, f"asks for {HUGE} instances of 0 pods; at most 1000000"),
}


def named(name: str, *roles: Object) -> Object:
    made = group(*roles)
    made["metadata"]["name"] = name
    return made


def stalled(found: Object | None) -> Any:
    return find_condition(found or {}, "Stalled") or {}


@pytest.mark.parametrize("case", CASES)
def test_a_group_with_too_many_pods_is_refused(case: str):
    role, why = CASES[case]
    (error,) = validate_group(group(role))
    assert why in error.text()
    assert warn_group(group(role)) == []


@pytest.mark.parametrize("case", CASES)
async def test_a_stored_group_with_too_many_pods_keeps_no_other_waiting(lab: GroupLab, case: str):
    """It may be older than the webhook, or have come while no webhook answered."""
    lab.remove_webhooks()
    role, why = CASES[case]
    await lab.apply(named("huge", role))
    await lab.apply(group(standalone(replicas=1)))
    await lab.until(lab.is_ready)
    assert why in stalled(lab.find(KIND, "huge"))["message"]
    assert len(lab.pods()) == 1
