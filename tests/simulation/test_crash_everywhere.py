"""The operator is killed after each of its writes in turn; each time everything ends well."""

from dataclasses import replace

import pytest

from kohort.simulation.rolebasedgroup.labels import IN_PLACE, RECREATE
from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, STATEFULSETS, Fault, Scenario

PLANS = {
    "create": (),
    "rollout": (Fault("roll", at=6.0, value="2"),),
    "rollout with surge": (Fault("roll", at=6.0, value="2"),),
    "scale down": (Fault("scale", at=6.0, value="1"),),
    "failing revision": (Fault("fleeting-roll", at=6.0, seconds=16.0, value="3"),),
    "recovery": (Fault("crash-loop", at=6.0, pick=1),),
}


def make_scenario(plan: str, carrier: str) -> Scenario:
    """Two groups of one pod, or one group of two where members matter."""
    size = 2 if plan in ("create", "recovery") else 1
    surge = 1 if plan.endswith("surge") else 0
    groups = 1 if size == 2 else 2
    return Scenario(groups=groups, size=size, surge=surge, carrier=carrier, faults=PLANS[plan])


@pytest.mark.slow
@pytest.mark.parametrize("carrier", [STATEFULSETS, PODS])
@pytest.mark.parametrize("plan", PLANS)
def test_a_crash_after_any_write_changes_nothing_in_the_end(plan: str, carrier: str):
    expect_good_ends(make_scenario(plan, carrier))


CARRIED = {
    "a StatefulSet, b LeaderWorkerSet": "skew 1%",
    "a Deployment, b StatefulSet": "order b a",
}


@pytest.mark.slow
@pytest.mark.parametrize("carried", CARRIED)
def test_a_crash_after_any_write_for_carried_roles_changes_nothing_in_the_end(carried: str):
    roll = Fault("roll", at=8.0, pick=2, value="2")  # of both roles
    usual = {"api": "rbg", "carrier": PODS, "groups": 1, "rollout": IN_PLACE, "restart": RECREATE}
    more = {"roles": "a 2+0, b 2+0", "carried": carried, "rules": CARRIED[carried]}
    expect_good_ends(Scenario(**{**usual, **more}, faults=(roll,)))


def expect_good_ends(scenario: Scenario) -> None:
    whole = simulate(scenario)
    assert whole.is_good, whole.breaches[:3]
    for n in range(1, whole.writes + 1):
        crash = Fault("crash-after", n=n, seconds=0.5)
        outcome = simulate(replace(scenario, faults=(*scenario.faults, crash)))
        assert outcome.is_good, (n, outcome.breaches[:3])
        assert outcome.writes >= n, "it was never killed"
