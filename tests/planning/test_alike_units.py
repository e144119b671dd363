"""Units that are alike and have no addresses, and units that another client holds by a hook."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, instance_policy, search, serving
from test_line_budget import check_budget, is_finished, line

from kohort.model.plans import Hold
from kohort.model.policies import Amendment, RolloutPolicy, Victims
from kohort.model.units import Phase
from kohort.planning.step import plan_step

BUDGETS = [(1, 0), (2, 0), (0, 1), (1, 1), (0, 2)]
READY = Phase.READY


def start(*states, **more) -> World:
    return World((("r", tuple(enumerate(states))),), **more)


def decide(world: World, policy: RolloutPolicy, **more):
    return plan_step(line(world, policy, victims=Victims.ALIKE, **more), NOW)


def retired(step) -> list[int]:
    return [gone.ordinal for gone in step.retire]


def run_out(world: World, policy: RolloutPolicy, **more) -> tuple[World, int]:
    """The end of a line in which every write succeeds at once, and how many units were made."""
    made = 0
    for _ in range(40):
        step = decide(world, policy, **more)
        made += len(step.make)
        for make in step.make:
            world = world.put("r", make.ordinal, (make.revision, READY))
        for ordinal in retired(step):
            world = world.put("r", ordinal, None)
    return world, made


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
@pytest.mark.parametrize("unwanted", [{0}, {1, 2}], ids=str)
def test_what_the_user_wants_replaced_is_replaced_within_the_budget(budget, failures, unwanted):
    policy = instance_policy(3, *budget)
    world = start(*[(NEW, READY)] * 3, failures=failures, unwanted=frozenset(unwanted))

    def ask(found: World) -> bool:
        return is_finished(policy)(found) and not found.unwanted

    def plan(found: World):
        return {"r": decide(found, policy)}

    assert not search(world, plan, check_budget(policy, failures), ask)


@pytest.mark.parametrize("budget", [(1, 0), (0, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("victims", [Victims.ALIKE, Victims.BEYOND], ids=str)
@pytest.mark.parametrize("amendment", [Amendment.NEVER, Amendment.IF_POSSIBLE], ids=str)
def test_units_that_are_held_go_within_the_budget_whenever_they_are_let_go(
    budget, victims, amendment
):
    policy = instance_policy(3, *budget)
    world = start(*[(OLD, READY)] * 3, hooked=frozenset({0, 2}))

    def plan(found: World):
        state = line(found, policy, victims=victims, amendment=amendment)
        may = amendment is Amendment.IF_POSSIBLE
        units = tuple(replace(u, may_amend=may and u.revision == OLD) for u in state.units)
        return {"r": plan_step(replace(state, units=units), NOW)}

    def check(before: World, after: World, role: str) -> str:
        fault = check_budget(policy, 0, victims)(before, after, role)
        counted = serving(dict(after.lines)["r"]) - after.preparing
        told = after.preparing - before.preparing
        if told and len(counted) < policy.ready_min:
            return f"{sorted(told)} may go at any time, and too few others serve"
        return fault

    assert not search(world, plan, check, is_finished(policy))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_a_rollout_makes_each_unit_once(budget, wanted):
    policy = instance_policy(wanted, *budget)
    world, made = run_out(start(*[(OLD, READY)] * wanted), policy)
    assert is_finished(policy)(world)
    assert made == wanted


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("partition", [1, 2])
def test_a_partition_keeps_so_many_old_units_whichever_they_are(budget, partition):
    policy = instance_policy(3, *budget, partition=partition)
    world, _ = run_out(start(*[(OLD, READY)] * 3), policy)
    revisions = [state[0] for _, state in world.units_of("r")]
    assert sorted(revisions) == [NEW] * (3 - partition) + [OLD] * partition


def go_back(*states) -> list[int]:
    """The units that go when the target is the revision that the line had before."""
    state = line(start(*states), instance_policy(2, 1, partition=1), victims=Victims.ALIKE)
    return retired(plan_step(replace(state, base=""), NOW))


def test_a_partition_keeps_no_broken_unit_of_a_revision_that_the_user_gave_up():
    assert go_back((NEW, READY), (OLD, Phase.STARTING)) == [1]
    assert go_back((OLD, Phase.BROKEN), (NEW, READY)) == [0]
    assert go_back((NEW, READY), (OLD, READY)) == []


@pytest.mark.parametrize("base", ["", "before"])
def test_the_role_is_updated_when_no_such_unit_is_left(base: str):
    def is_updated(*states) -> bool:
        (held,) = group_of(start(*states), {"r": 2}).roles
        return replace(held, base=base, partition=1, are_alike=True).is_updated

    assert is_updated((NEW, READY), (OLD, READY))
    assert is_updated((NEW, READY), (OLD, Phase.STARTING)) is bool(base)


def test_a_missing_unit_is_made_old_while_the_partition_protects_more():
    policy = instance_policy(3, 1, partition=2)
    step = decide(start((OLD, READY), (NEW, READY)), policy)
    assert [(make.ordinal, make.revision) for make in step.make] == [(2, OLD)]


def test_a_new_unit_does_not_wait_for_the_one_that_leaves():
    world = start((NEW, READY), (NEW, Phase.LEAVING))
    step = decide(world, instance_policy(2, 1))
    assert [make.ordinal for make in step.make] == [2]


def test_the_cheapest_and_newest_of_the_ready_ones_go():
    state = line(start(*[(NEW, READY)] * 4), instance_policy(2, 1), victims=Victims.ALIKE)
    costs, times = (5, 0, 0, 0), (1.0, 1.0, 3.0, 2.0)
    units = tuple(
        replace(u, cost=c, made_at=t) for u, c, t in zip(state.units, costs, times, strict=True)
    )
    assert sorted(retired(plan_step(replace(state, units=units), NOW))) == [2, 3]


def test_old_units_go_before_new_ones_when_the_line_shrinks():
    world = start((NEW, READY), (OLD, READY), (OLD, READY), (NEW, READY))
    assert retired(decide(world, instance_policy(2, 1))) == [1, 2]


def test_a_line_that_shrinks_in_a_rollout_keeps_a_new_unit():
    starting = Phase.STARTING
    world = start((OLD, READY), (NEW, starting), (NEW, starting))
    gone = retired(decide(world, instance_policy(1, 1, 1)))
    assert gone[0] == 0 and len(gone) == 2
    world = start((OLD, READY), (OLD, READY), (NEW, starting), (NEW, starting))
    assert len(retired(decide(world, instance_policy(2, 2, 1)))) == 2


def test_a_paused_rollout_replaces_what_the_user_asks_for_and_nothing_else():
    policy = replace(instance_policy(2, 1), is_paused=True)
    world = start((OLD, READY), (OLD, READY), unwanted=frozenset({1}))
    assert retired(decide(world, policy)) == [1]


def test_a_unit_that_is_held_is_named_and_the_step_says_by_what():
    world = start((OLD, READY), (OLD, READY), hooked=frozenset({0, 1}))
    step = decide(world, instance_policy(2, 1))
    assert (retired(step), dict(step.held)) == ([], {1: Hold.DELETE})
    (blocker,) = [b for b in step.blockers if b.reason == "WaitingForHook"]
    assert blocker.message == "instance 1 is deleted when another client has removed a label"


def test_a_unit_that_is_needed_again_is_no_longer_held():
    world = start((NEW, READY), (NEW, READY), hooked=frozenset({1}), preparing=frozenset({1}))
    assert decide(world, instance_policy(1, 1)).held == {1: Hold.DELETE}
    assert decide(world, instance_policy(2, 1)).held == {}


def test_a_unit_that_a_hook_prepares_adds_nothing_to_the_budget():
    gone = frozenset({3})
    world = start(*[(OLD, READY)] * 3, (NEW, READY), hooked=gone, preparing=gone)
    step = plan_step(line(world, instance_policy(3, 1), victims=Victims.BEYOND), NOW)
    assert retired(step) == [2]


def test_a_partition_protects_nothing_that_the_user_wants_replaced():
    world = start((NEW, READY), (NEW, READY), unwanted=frozenset({1}))
    assert retired(decide(world, instance_policy(2, 1, partition=2))) == [1]


def test_a_line_grows_only_while_few_units_are_unavailable():
    policy = replace(instance_policy(6, 1), growth_max=2)
    step = decide(start((NEW, READY), (NEW, Phase.STARTING)), policy)
    assert len(step.make) == 1
    (blocker,) = [b for b in step.blockers if b.reason == "WaitingForGrowth"]
    assert blocker.message.startswith("3 instances are made when more are available: 2 may be")
    assert not decide(start(*[(NEW, Phase.STARTING)] * 2), policy).make
    made = run_out(start(), policy)[1]
    assert made == 6


def test_a_limit_of_none_at_all_counts_as_one():
    policy = replace(instance_policy(3, 1), growth_max=0)
    assert len(decide(start((NEW, READY)), policy).make) == 1
