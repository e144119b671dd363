"""The steps of a rollout before it happens, by hand: what goes, what comes, what is ready."""

import pytest
from ideal_workloads import (
    START,
    foretell,
    group,
    list_moves,
    observed,
    old_groups,
    workload,
)

from kohort.forecast.starts import measure_starts
from kohort.forecast.values import Amount, Ending
from kohort.model.observed import Observed
from kohort.model.units import Phase, Reach

CARRIERS = pytest.mark.parametrize("reach", [Reach.SUFFIX, Reach.NOTED])


@CARRIERS
def test_groups_are_replaced_one_by_one_from_the_highest(reach: Reach):
    found = foretell(workload(3, reach=reach), old_groups(3))
    assert list_moves(found) == [["-2", "+2"], ["-1", "+1"], ["-0", "+0"]]
    assert [step.least for step in found.steps] == [{"": 2}] * 3
    assert [step.after for step in found.steps] == [{"": 3}] * 3
    assert (found.ending, found.least, found.extra) == (Ending.DONE, {"": 2}, Amount(0, 0))


@CARRIERS
def test_surge_comes_first_and_goes_last(reach: Reach):
    found = foretell(workload(2, reach=reach, max_unavailable=0, max_surge=1), old_groups(2))
    assert list_moves(found) == [["+2"], ["-1", "+1"], ["-0", "+0"], ["-2"]]
    assert found.least == {"": 2}
    assert found.extra == Amount(2, 0)


@CARRIERS
def test_groups_below_the_partition_stay(reach: Reach):
    found = foretell(workload(3, reach=reach, partition=2), old_groups(3))
    assert list_moves(found) == [["-2", "+2"]]
    assert found.kept == {"": 2}
    assert found.ending is Ending.DONE


@CARRIERS
def test_a_new_object_is_one_step(reach: Reach):
    found = foretell(workload(3, reach=reach), Observed())
    assert list_moves(found) == [["+0", "+1", "+2"]]
    assert (found.former, found.amount_after) == ("", Amount(6, 0))


def test_nothing_is_to_be_done_at_rest():
    seen = observed(group(0, "new"), group(1, "new"), target="new")
    found = foretell(workload(2), seen)
    assert (found.steps, found.ending, found.seconds) == ((), Ending.DONE, 0)


def test_fewer_groups_go_at_once_from_the_highest():
    seen = observed(*(group(ordinal, "new") for ordinal in range(4)), target="new")
    found = foretell(workload(2), seen)
    assert list_moves(found) == [["-3", "-2"]]
    assert found.after[""].ready == 2


def test_the_time_is_that_of_all_starts_and_of_one_trial():
    found = foretell(workload(3), old_groups(3))
    # The first new group must last for ten seconds before the next one goes.
    assert found.seconds == 3 * START + 10
    assert [step.begins for step in found.steps] == [0, START + 10, 2 * START + 10]


def test_min_ready_seconds_are_waited_for_at_each_step():
    found = foretell(workload(2, min_ready_seconds=30), old_groups(2))
    assert [step.begins for step in found.steps] == [0, START + 30]


def test_a_broken_group_of_the_new_revision_blocks_and_the_planner_says_why():
    seen = observed(group(0), group(1), group(2, "new", Phase.BROKEN), target="new")
    found = foretell(workload(3), seen)
    assert (found.ending, list_moves(found)) == (Ending.BLOCKED, [])
    assert found.blockers[0].reason == "WaitingForReady"


def test_a_broken_old_group_is_made_anew_and_blocks_nothing():
    seen = observed(group(0), group(1), group(2, phase=Phase.BROKEN))
    found = foretell(workload(3), seen)
    assert list_moves(found) == [["-2", "+2"], ["-1", "+1"], ["-0", "+0"]]
    assert found.least == {"": 2}


def test_a_group_that_is_known_to_be_stuck_does_not_become_ready():
    seen = observed(group(0), group(1, "new", Phase.STARTING), target="new")
    assert foretell(workload(2), seen).ending is Ending.DONE
    assert foretell(workload(2), seen, stuck=frozenset({"uid-1"})).ending is Ending.BLOCKED


def test_gpus_are_counted_by_revision():
    gpus = {("", "old"): 8, ("", ""): 16}
    found = foretell(workload(2, max_surge=1, max_unavailable=0), old_groups(2), gpus=gpus)
    assert (found.amount_before.gpus, found.amount_after.gpus) == (16, 32)
    assert found.amount_peak.gpus == 48
    assert found.extra.gpus == 16


def test_a_forecast_ends_after_as_many_steps_as_are_asked_for():
    found = foretell(workload(5), old_groups(5), steps_max=2)
    assert (len(found.steps), found.ending) == (2, Ending.CUT)


def test_the_same_state_gives_the_same_forecast():
    asked = workload(4, max_unavailable=2, max_surge=1)
    assert foretell(asked, old_groups(4)) == foretell(asked, old_groups(4))


def test_a_start_lasts_from_the_first_pod_until_all_are_ready():
    starts = measure_starts(old_groups(3))
    assert (starts.count, starts.seconds) == (3, START)


def test_groups_that_are_not_ready_tell_nothing_about_starts():
    seen = observed(group(0, phase=Phase.STARTING))
    assert measure_starts(seen).count == 0
    assert measure_starts(Observed()).count == 0
