"""Edges of a rollout that faults planted by hand have shown to need a test of their own."""

import pytest
from planning_builders import progress, units

from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit
from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.planning.rollout.compatible import plan_compatible
from kohort.planning.rollout.units import Roster

READY_OLD, READY_NEW = (True, False), (True, True)


def test_a_partition_that_the_user_raises_is_taken_up():
    policy = RolloutPolicy(wanted=2, partition=1, max_unavailable=1, max_surge=0)
    found = plan_budgeted(units([READY_OLD, READY_NEW]), progress(0, 2, 2), "new", policy)
    assert found.boundary == 1


def test_a_unit_that_is_leaving_is_neither_old_nor_updated():
    roster = Roster([Unit(0, "old", Phase.LEAVING), Unit(1, "new", Phase.LEAVING)], "new")
    assert not roster.is_stale(0)
    assert not roster.is_updated(1)


def test_surge_that_has_to_serve_is_sheltered_from_a_new_target():
    policy = RolloutPolicy(wanted=2, partition=0, max_unavailable=0, max_surge=1)
    serving = units([(False, False), READY_OLD, READY_OLD])
    assert plan_budgeted(serving, progress(0, 3, 2, "old"), "new", policy).boundary == 3
    spare = units([READY_OLD, READY_OLD, READY_OLD])
    assert plan_budgeted(spare, progress(0, 3, 2, "old"), "new", policy).boundary == 2


@pytest.mark.parametrize("is_new", [False, True])
def test_surge_that_has_to_serve_stays_when_template_and_count_change_at_once(is_new):
    """Two groups are made anew, two extra ones serve, and the user wants one, of another kind."""
    policy = RolloutPolicy(wanted=1, partition=0, max_unavailable=0, max_surge=1)
    there = units([(False, False), (False, False), (True, is_new), (True, is_new)])
    found = plan_budgeted(there, progress(0, 4, 2, "old"), "new", policy)
    assert (found.count, found.replace) == (3, ())
    serving = units([READY_OLD, READY_OLD, (True, is_new), (True, is_new)])
    assert plan_budgeted(serving, progress(0, 4, 2, "old"), "new", policy).count == 2


def test_old_units_below_the_partition_cost_nothing_and_surge_is_given_back():
    policy = RolloutPolicy(wanted=2, partition=1, max_unavailable=0, max_surge=1)
    rolled = units([READY_OLD, READY_NEW, READY_NEW])
    assert plan_budgeted(rolled, progress(1, 3, 2), "new", policy).count == 2


def test_surge_stays_while_a_wanted_unit_is_old():
    policy = RolloutPolicy(wanted=2, partition=0, max_unavailable=0, max_surge=1)
    rolling = units([READY_OLD, READY_NEW, READY_NEW])
    assert plan_budgeted(rolling, progress(1, 3, 2), "new", policy).count == 3


def test_surge_is_made_though_the_budget_alone_would_do():
    policy = RolloutPolicy(wanted=2, partition=0, max_unavailable=1, max_surge=1)
    rolling = units([READY_OLD, READY_OLD])
    assert plan_budgeted(rolling, progress(2, 2, 2), "new", policy).count == 3


def test_a_released_unit_stays_when_another_was_lost_after_the_step():
    policy = RolloutPolicy(wanted=2, partition=0, max_unavailable=0, max_surge=1)
    lost = [*units([READY_OLD, READY_NEW]), Unit(2, "new", Phase.LEAVING)]
    found = plan_budgeted(lost, progress(0, 3, 2), "new", policy)
    assert found.replace == ()
    assert found.blocker is not None
    assert found.blocker.ordinals == (2,)
    whole = units([READY_OLD, READY_NEW, READY_NEW])
    assert plan_budgeted(whole, progress(0, 3, 2), "new", policy).replace == (0,)


def test_a_released_unit_that_does_not_serve_goes_whatever_was_lost():
    policy = RolloutPolicy(wanted=2, partition=0, max_unavailable=0, max_surge=1)
    broken = [*units([(False, False), READY_NEW]), Unit(2, "new", Phase.LEAVING)]
    assert plan_budgeted(broken, progress(0, 3, 2), "new", policy).replace == (0,)


@pytest.mark.parametrize("plan", [plan_budgeted, plan_compatible])
@pytest.mark.parametrize("boundary", [0, 3, 2**31 - 1])
def test_a_plan_for_any_number_of_units_looks_at_those_that_are_there(plan, boundary):
    most = 2**31 - 1
    policy = RolloutPolicy(wanted=most, partition=0, max_unavailable=1, max_surge=0)
    some = units([READY_OLD, READY_NEW, READY_OLD])
    found = plan(some, progress(boundary, most, most), "new", policy)
    assert found.count == most


def test_a_blocker_counts_all_units_and_names_some():
    most = 2**31 - 1
    policy = RolloutPolicy(wanted=most, partition=0, max_unavailable=1, max_surge=0)
    found = plan_budgeted(units([READY_OLD] * 3), progress(3, most, most), "new", policy)
    assert found.blocker is not None
    assert f"{most - 3} groups are not ready" in found.blocker.message
    assert len(found.blocker.ordinals) == 1_000


def test_a_broken_old_unit_at_the_bottom_waits_for_room_and_is_named():
    """
    A set rolls from the top, and what it makes below its partition is old again.

    So a unit at the bottom that does not serve can be replaced only after those above it, and
    without surge the promise keeps these: the user has to give room, and is told which unit
    takes it.
    """
    there = units([(False, False), READY_OLD, READY_OLD])
    narrow = RolloutPolicy(wanted=3, partition=0, max_unavailable=1, max_surge=0)
    found = plan_budgeted(there, progress(3, 3, 3), "new", narrow)
    assert (found.boundary, found.count, found.replace) == (3, 3, ())
    assert found.blocker is not None
    assert found.blocker.ordinals == (0,)
    for unavailable, surge in ((1, 1), (2, 0)):
        roomy = RolloutPolicy(3, 0, max_unavailable=unavailable, max_surge=surge)
        extra = units([(False, False), READY_OLD, READY_OLD, *[READY_NEW] * surge])
        found = plan_budgeted(extra, progress(3, 3 + surge, 3), "new", roomy)
        assert found.boundary == 2
