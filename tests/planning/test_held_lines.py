"""A line that holds because its new unit crashes still does what the user asks for beside it."""

from dataclasses import replace
from itertools import product

import pytest
from line_search import NEW, NOW, OLD, instance_policy
from test_line_edges import RECREATE, failure, line, unit

from kohort.model.observed import Crash, Instance
from kohort.model.plans import Hold, Step
from kohort.model.policies import RolloutPolicy, Victims
from kohort.model.units import Phase
from kohort.planning.step import plan_step

READY, STARTING = Phase.READY, Phase.STARTING


def crashing(ordinal: int) -> Instance:
    found = unit(ordinal, NEW, STARTING)
    crash = Crash(f"x-{ordinal}", ended_at=NOW - 1)
    member = replace(found.members[0], has_restarted=True, crash=crash)
    return replace(found, members=(member,))


def plan(units: list[Instance], policy: RolloutPolicy, victims: Victims) -> Step:
    records = tuple(failure(held.ordinal) for held in units if held.has_failed)
    state = line(*units, policy=policy, failures=records, recovery=RECREATE, victims=victims)
    return plan_step(state, NOW)


def shrink(units: list[Instance], policy: RolloutPolicy, victims: Victims) -> int:
    """Do what plans say until nothing more goes: how many are left."""
    while True:
        gone = {retired.ordinal for retired in plan(units, policy, victims).retire}
        if not gone:
            return len(units)
        units = [held for held in units if held.ordinal not in gone]
        serving = sum(held.phase is READY for held in units)
        assert serving >= policy.ready_min, f"{gone} were taken down"


@pytest.mark.parametrize("victims", Victims)
@pytest.mark.parametrize(("unavailable", "surge"), [(0, 1), (1, 1), (0, 2)], ids=str)
@pytest.mark.parametrize("wanted", range(4))
def test_a_held_line_is_scaled_down_as_far_as_the_rest_serves(victims, unavailable, surge, wanted):
    policy = instance_policy(wanted, unavailable, surge)
    for phases in product((READY, STARTING), repeat=3):
        if phases.count(READY) < policy.ready_min:
            continue
        old = [unit(ordinal, OLD, phase) for ordinal, phase in enumerate(phases)]
        left = shrink([*old, crashing(3)], policy, victims)
        # Where those that stay do not serve, higher ones that do are kept until they are back.
        if all(phase is READY for phase in phases[:wanted]):
            assert left <= wanted + policy.surge


def test_a_held_line_that_is_not_scaled_keeps_its_extra_unit_and_all_old_ones():
    units = [*(unit(ordinal, OLD) for ordinal in range(3)), crashing(3)]
    step = plan(units, instance_policy(3, 0, 1), Victims.HIGHEST)
    assert step.retire == ()
    assert step.blockers[0].reason == "HoldingOnRestarts"


@pytest.mark.parametrize("victims", Victims)
@pytest.mark.parametrize(("unavailable", "surge"), [(1, 0), (2, 0), (0, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("places", [(3, 4, 5), (0, 7, 8), (0, 1, 9), (1, 2, 3)], ids=str)
def test_units_that_stand_beyond_the_count_go_within_the_budget(
    victims, unavailable, surge, places
):
    """As when a set of random ordinals becomes one whose ordinals begin at zero."""
    policy = instance_policy(3, unavailable, surge)
    for revisions in product((OLD, NEW), repeat=3):
        units = [unit(o, revision) for o, revision in zip(places, revisions, strict=True)]
        gone = {retired.ordinal for retired in plan(units, policy, victims).retire}
        assert len(units) - len(gone) >= policy.ready_min, f"{gone} were taken down"


def test_a_held_line_gives_up_no_unit_that_has_to_serve():
    units = [unit(0, OLD, STARTING), unit(1, OLD), unit(2, OLD, STARTING), crashing(3)]
    step = plan(units, instance_policy(1, 0, 1), Victims.BEYOND)
    assert 1 not in [retired.ordinal for retired in step.retire]


@pytest.mark.parametrize("trouble", ["it crashed once", "its pods are hidden"])
def test_a_unit_that_a_hook_prepares_to_go_holds_nothing(trouble):
    """Else the hold would keep the unit, its client would be told so, and all began anew."""
    found = unit(2, NEW, delete_hold="label a=b", is_preparing=True)
    records = (failure(2),) if trouble == "it crashed once" else ()
    if not records:
        member = replace(found.members[0], phase=STARTING, ready_since=None, was_ready=True)
        found = replace(found, phase=STARTING, members=(member,))
    policy = instance_policy(2, 0, 1)
    state = line(unit(0), unit(1), found, policy=policy, failures=records, victims=Victims.ALIKE)
    step = plan_step(state, NOW)
    assert step.held == {2: Hold.DELETE}
    assert [blocker.reason for blocker in step.blockers] == ["WaitingForHook"]
