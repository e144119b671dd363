"""
The budgeted strategy keeps its promise in every state that a small cluster can reach.

The model knows nothing of the planner: a set that makes and replaces groups as it
likes, groups that become ready, one that may fail, and a controller that may act
on a view that is one change old.
"""

from collections import deque
from dataclasses import dataclass, replace

import pytest
from planning_builders import progress, units

from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit
from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.planning.rollout.compatible import plan_compatible

STATES_MAX = 30_000
Group = tuple[bool, bool] | None  # (updated, ready), or missing


@dataclass(frozen=True)
class World:
    boundary: int
    count: int
    groups: tuple[Group, ...]
    target: str
    failures: int
    view: tuple[Group, ...]


def read(groups: tuple[Group, ...]) -> list[Unit]:
    return [
        Unit(i, "new" if g[0] else "old", Phase.READY if g[1] else Phase.STARTING)
        for i, g in enumerate(groups)
        if g is not None
    ]


def serving(world: World) -> set[int]:
    return {i for i, g in enumerate(world.groups) if g and g[1]}


def given_up(world: World) -> set[int]:
    """Serving groups that the set is already free to take down."""
    return {
        i
        for i in serving(world)
        if i >= world.count
        or (world.target == "new" and i >= world.boundary and not world.groups[i][0])
    }


def controller_moves(world: World, policy: RolloutPolicy, strategy):
    for view in {world.groups, world.view}:
        seen = progress(world.boundary, world.count, policy.wanted, world.target)
        step = strategy(read(view), seen, "new", policy)
        after = replace(world, boundary=step.boundary, count=step.count, target="new")
        yield after, view == world.groups


def cluster_moves(world: World):
    groups = list(world.groups) + [None] * (world.count - len(world.groups))
    for i, group in enumerate(groups):
        if group is None:
            if i < world.count:
                is_new = world.target == "new" and i >= world.boundary
                yield put(world, groups, i, (is_new, False))
            continue
        is_surplus = i >= world.count and all(g is None for g in groups[i + 1 :])
        may_update = world.target == "new" and world.boundary <= i < world.count
        if is_surplus or (may_update and not group[0]):
            yield put(world, groups, i, None)
        if not group[1]:
            yield put(world, groups, i, (group[0], True))
        elif world.failures:
            failed = put(world, groups, i, (group[0], False))
            yield replace(failed, failures=world.failures - 1)


def put(world: World, groups: list[Group], index: int, group: Group) -> World:
    changed = [*groups[:index], group, *groups[index + 1 :]]
    while changed and changed[-1] is None:
        changed.pop()
    return replace(world, groups=tuple(changed), view=world.groups)


def is_finished(world: World, policy: RolloutPolicy) -> bool:
    done = ((True, True),) * policy.wanted
    return (world.boundary, world.count) == (0, policy.wanted) and world.groups == done


def explore(policy: RolloutPolicy, failures: int, strategy, stale_views: bool) -> str:
    groups = ((False, True),) * policy.wanted
    start = World(0, policy.wanted, groups, "old", failures, groups)
    seen, queue, finished = {start}, deque([start]), False
    while queue and len(seen) < STATES_MAX:
        world = queue.popleft()
        finished = finished or is_finished(world, policy)
        lost = failures - world.failures
        if sum(g is not None for g in world.groups) > policy.wanted + policy.surge:
            return f"too many groups: {world}"
        if len(serving(world)) < policy.ready_min - lost:
            return f"too few serve: {world}"
        following = list(cluster_moves(world))
        for after, is_fresh in controller_moves(world, policy, strategy):
            if not is_fresh and not stale_views:
                continue
            newly = given_up(after) - given_up(world)
            if is_fresh and newly and len(serving(world) - given_up(after)) < policy.ready_min:
                return f"gave up {newly} without the budget: {world}"
            following.append(after)
        for after in following:
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return "" if finished or queue else "never finishes"


POLICIES = [
    RolloutPolicy(wanted, max_unavailable=unavailable, max_surge=surge)
    for wanted in (1, 2, 3)
    for unavailable in (0, 1, 2)
    for surge in (0, 1, 2)
    if unavailable + surge and unavailable <= wanted
]


def name_of(policy: RolloutPolicy) -> str:
    return f"{policy.wanted} wanted, {policy.max_unavailable} down, {policy.max_surge} extra"


@pytest.mark.parametrize("policy", POLICIES, ids=name_of)
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_the_budget_is_never_broken_and_the_rollout_ends(policy, failures):
    assert not explore(policy, failures, plan_budgeted, stale_views=True)


def test_the_model_finds_the_budget_that_upstream_breaks():
    """Reliability §4.1: with (2, 0, 2) and one failure upstream gives up too much."""
    policy = RolloutPolicy(2, max_unavailable=0, max_surge=2)
    assert explore(policy, 1, plan_compatible, stale_views=False)


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

    def test_going_back_replaces_whoever_serves_nobody_below_the_boundary(self):
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
