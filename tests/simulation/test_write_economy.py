"""O4: failures on the way to the server make nothing be made or deleted more often."""

from dataclasses import replace

import pytest

from kohort.simulation.choices import Choices
from kohort.simulation.economy import HARMLESS, allowance_of, compare_economy
from kohort.simulation.faults import CATALOGUE, draw_scenario
from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, Fault, Scenario
from kohort.simulation.simulated_api import EARLIER

_EDITS = ("roll", "scale", "resize")


def draw_harmless(seed: int) -> Scenario:
    """A workload of a seed, one edit, and failures that hurt no pod."""
    choices = Choices(seed).fork("economy")
    names = [choices.pick(sorted(HARMLESS)) for _ in range(4)]
    drawn = [CATALOGUE[name].draw(choices) for name in (choices.pick(_EDITS), *names)]
    return replace(draw_scenario(seed), partition=0, faults=tuple(drawn))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 24, 6))
def test_failed_requests_and_late_watches_cost_no_object(first: int):
    for seed in range(first, first + 6):
        scenario = draw_harmless(seed)
        assert allowance_of(scenario) == 0
        outcome = simulate(scenario)
        assert outcome.is_good, (seed, outcome.breaches[:3])
        assert compare_economy(outcome) == (), seed


@pytest.mark.slow
def test_what_happens_to_pods_costs_each_object_little():
    for seed in range(12):
        outcome = simulate(draw_scenario(seed))
        assert compare_economy(outcome) == (), seed


@pytest.mark.parametrize(("latency", "allowance"), [(0.0, 0), (0.2, 2)])
def test_a_template_that_never_serves_may_meet_groups_that_start_later(
    latency: float, allowance: int
):
    scenario = Scenario(seed=1, latency=latency, faults=(Fault("bad-roll", at=8.0, seconds=5.0),))
    assert allowance_of(scenario) == allowance


def test_a_revision_that_an_earlier_version_named_otherwise_costs_nothing():
    upgrade = Fault("upgrade", at=12.6, seconds=3.3)
    forms = {"carrier": PODS, "restart": "RoleRecreate", "rollout": "ServingGroupRollingUpdate"}
    outcome = simulate(Scenario(seed=1, api="ms", roles="a 2+0", faults=(upgrade,), **forms))
    assert outcome.is_good
    assert any(f" ADDED ControllerRevision x-{EARLIER}" in line for line in outcome.log)
    assert compare_economy(outcome) == ()


def test_an_object_that_is_made_again_for_nothing_is_noticed():
    fault = Fault("delete-child", at=8.0, value="Service")
    outcome = simulate(Scenario(seed=1, faults=(fault,)))
    assert allowance_of(outcome.scenario) == 1
    as_if_harmless = replace(outcome, scenario=replace(outcome.scenario, faults=()))
    assert compare_economy(as_if_harmless) == (
        "O4: Service x was ADDED 2 times, and 1 times without failures",
        "O4: Service x was DELETED 1 times, and 0 times without failures",
    )
