"""What seeds mean for RoleInstanceSets made by hand, and that checkers find what is wrong."""

import pytest

from kohort.apis.rolebasedgroup import pod_actions
from kohort.simulation.instanceset.scenarios import DRAWN_EDITS, NEVER, ROLES, draw_scenario
from kohort.simulation.run import simulate

SEEDS = 12


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, 4))
def test_fixed_seeds_of_sets_by_hand_keep_every_promise(first: int):
    for seed in range(first, first + 4):
        outcome = simulate(draw_scenario(seed))
        replay = f"kohort sim run --apis ris --seed {seed}"
        assert outcome.is_good, f"{outcome.breaches[:3]}; replay it with: {replay}"


def test_seeds_draw_every_manner_of_set():
    scenarios = [draw_scenario(seed) for seed in range(300)]
    assert {scenario.api for scenario in scenarios} == {"ris"}
    assert {scenario.roles for scenario in scenarios} == set(ROLES)
    assert {scenario.stateless for scenario in scenarios} == {"", "a"}
    drawn = {fault.name for scenario in scenarios for fault in scenario.faults}
    assert drawn >= set(DRAWN_EDITS)
    assert not drawn & set(NEVER)


def test_a_set_whose_pods_are_never_made_is_found(monkeypatch):
    monkeypatch.setattr(pod_actions.PodActions, "_make", lambda self, work: iter(()))
    assert not simulate(draw_scenario(0)).is_good
