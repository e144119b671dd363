"""
The budgeted strategy keeps its promise in every state that a small cluster can reach.

The search is the one that authors of strategies have: it knows nothing of the planner.
"""

from dataclasses import replace

import pytest
from planning_builders import progress, units

from kohort.model.policies import RolloutPolicy
from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.planning.rollout.compatible import plan_compatible
from kohort.testing.strategies import POLICIES, check_strategy, describe


@pytest.mark.parametrize("policy", POLICIES, ids=describe)
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_the_budget_is_never_broken_and_the_rollout_ends(policy, failures):
    assert check_strategy(plan_budgeted, (policy,), failures=failures) == []


def test_the_model_finds_the_budget_that_upstream_breaks():
    """With two groups, none down, two extra and one failure, upstream gives up too much."""
    policy = RolloutPolicy(2, max_unavailable=0, max_surge=2)
    assert check_strategy(plan_compatible, (policy,), has_stale_views=False)


class TestExamples:
    def test_it_begins_with_as_many_groups_as_upstream(self):
        policy = RolloutPolicy(4, max_unavailable=1, max_surge=4)
        step = plan_budgeted(units([(True, False)] * 4), progress(0, 4, 4, "old"), "new", policy)
        assert (step.boundary, step.count) == (4, 7)

    def test_broken_old_groups_go_free_of_charge(self):
        """lws#567: nothing of the old revision is ready, and the rollout still moves."""
        policy = RolloutPolicy(3, max_unavailable=1)
        step = plan_budgeted(units([(False, False)] * 3), progress(3, 3, 3), "new", policy)
        assert step.boundary == 0

    def test_a_broken_new_revision_stops_the_rollout_and_says_so(self):
        policy = RolloutPolicy(3, max_unavailable=1)
        groups = units([(True, False), (True, False), (False, True)])
        step = plan_budgeted(groups, progress(2, 3, 3), "new", policy)
        assert step.boundary == 2
        assert step.blocker is not None
        assert step.blocker.reason == "WaitingForReady"
        assert step.blocker.ordinals == (2,)

    def test_groups_below_the_partition_are_left_alone(self):
        policy = RolloutPolicy(4, partition=3, max_unavailable=4)
        step = plan_budgeted(units([(True, False)] * 4), progress(4, 4, 4), "new", policy)
        assert step.boundary == 3

    def test_stale_groups_are_taken_down_only_after_the_set_has_seen_the_boundary(self):
        policy = RolloutPolicy(4, max_unavailable=2)
        groups = units([(True, False)] * 4)
        unseen = plan_budgeted(groups, progress(2, 4, 4, is_seen=False), "new", policy)
        assert unseen.replace == ()
        assert plan_budgeted(groups, progress(2, 4, 4), "new", policy).replace == (3, 2)

    def test_going_back_replaces_unready_groups_below_the_boundary(self):
        """It takes the whole budget, so those above it, which serve, could never go first."""
        policy = RolloutPolicy(3, max_unavailable=1)
        groups = units([(True, True), (False, False), (True, False)])
        back = replace(progress(3, 3, 3), is_base=True)
        assert plan_budgeted(groups, back, "new", policy).replace == (1,)
        assert plan_budgeted(groups, replace(back, is_seen=False), "new", policy).replace == ()
        assert plan_budgeted(groups, progress(3, 3, 3), "new", policy).replace == ()

    def test_going_back_spares_what_is_below_the_partition(self):
        policy = RolloutPolicy(3, partition=2, max_unavailable=1)
        groups = units([(True, False), (False, False), (True, False)])
        back = replace(progress(3, 3, 3), is_base=True)
        assert plan_budgeted(groups, back, "new", policy).replace == ()

    def test_at_rest_nothing_moves(self):
        policy = RolloutPolicy(3, max_unavailable=1, max_surge=1)
        step = plan_budgeted(units([(True, True)] * 3), progress(0, 3, 3), "new", policy)
        assert (step.boundary, step.count, step.replace) == (0, 3, ())
