"""What seeds mean for RoleInstances made by hand, and that checkers find what is wrong."""

import pytest

from kohort.apis.rolebasedgroup import pod_actions
from kohort.simulation.roleinstance.scenarios import DRAWN_EDITS, NEVER, ROLES, draw_scenario
from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, Fault, Scenario

SEEDS = 8
ROLL = Fault("roll", at=17.0, value="2")


def one_instance(*faults: Fault) -> Scenario:
    return Scenario(
        api="rins", groups=1, carrier=PODS, restart="None", roles="a 1&1", faults=faults
    )


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, 4))
def test_fixed_seeds_of_instances_by_hand_keep_every_promise(first: int):
    for seed in range(first, first + 4):
        outcome = simulate(draw_scenario(seed))
        replay = f"kohort sim run --apis rins --seed {seed}"
        assert outcome.is_good, f"{outcome.breaches[:3]}; replay it with: {replay}"


def test_seeds_draw_every_manner_of_instance():
    scenarios = [draw_scenario(seed) for seed in range(300)]
    assert {scenario.api for scenario in scenarios} == {"rins"}
    assert {scenario.roles for scenario in scenarios} == set(ROLES)
    assert {scenario.drain for scenario in scenarios} == {0, 3}
    drawn = {fault.name for scenario in scenarios for fault in scenario.faults}
    assert drawn >= set(DRAWN_EDITS)
    assert not drawn & set(NEVER)


def test_pods_of_an_instance_by_hand_that_could_have_changed_as_they_ran_are_found(monkeypatch):
    assert simulate(one_instance(ROLL)).is_good
    monkeypatch.setattr(pod_actions, "find_in_place_change", lambda *given: None)
    broken = simulate(one_instance(ROLL))
    assert any(breach.startswith("G10: x-") for breach in broken.breaches)


def test_an_instance_by_hand_that_stays_as_it_was_is_found(monkeypatch):
    monkeypatch.setattr(pod_actions.PodActions, "_change", lambda self, work: iter(()))
    broken = simulate(one_instance(ROLL))
    assert broken.breaches[0].startswith("O2: the instance does not serve")
