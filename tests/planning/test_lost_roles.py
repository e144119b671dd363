"""
A role that loses instances while a rule over roles bounds its rollout: they come back as they were.

Upstream bounds a role by the partition of its set, and makes a missing instance below the partition
from the revision before. So does a rule here: no more instances are made from the new revision than
the rule allows, whatever was lost.
"""

from collections import Counter
from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, search, serving
from test_role_rules import is_over, start, steps_of, updated, workload

from kohort.model.observed import Observed
from kohort.model.policies import Rule, Skew
from kohort.model.reasons import ORDER, ROLE
from kohort.model.units import Line, Phase
from kohort.model.workload import Workload
from kohort.planning.plan import plan

READY = Phase.READY
SIZES = {"a": 4, "b": 4}
TIED = Rule("even", ("a", "b"), update_skew=Skew(share=0.25))
ORDERED = Rule("first", ("b", "a"), is_ordered=True)


def lose(world: World, role: str, *ordinals: int) -> World:
    for ordinal in ordinals:
        world = world.put(role, ordinal, None)
    return world


def made(world: World, asked: Workload) -> Counter[str]:
    return Counter(make.revision for make in steps_of(world, asked)["a"].make)


def test_of_a_role_that_is_lost_whole_no_more_come_back_updated_than_the_skew_allows():
    lost = lose(start(SIZES), "a", 0, 1, 2, 3)
    assert made(lost, workload(SIZES, TIED)) == {OLD: 3, NEW: 1}


def test_a_role_that_loses_all_its_old_instances_does_not_run_ahead():
    begun = start(SIZES).put("a", 3, (NEW, READY))
    assert made(lose(begun, "a", 0, 1, 2), workload(SIZES, TIED)) == {OLD: 3}


def test_a_role_that_is_updated_after_another_comes_back_old():
    lost = lose(start(SIZES), "a", 0, 1, 2, 3)
    assert made(lost, workload(SIZES, ORDERED)) == {OLD: 4}
    step = steps_of(lost, workload(SIZES, ORDERED))["a"]
    assert [blocker.reason for blocker in step.blockers] == [ORDER]


def test_a_role_whose_dependency_is_still_old_comes_back_old():
    lost = lose(start(SIZES), "a", 0, 1, 2, 3)
    asked = workload(SIZES, after={"a": ("b",)})
    assert made(lost, asked) == {OLD: 4}
    assert ROLE in [blocker.reason for blocker in steps_of(lost, asked)["a"].blockers]


def hold(asked: Workload, partition: int) -> Workload:
    a, b = asked.roles
    assert a.rollout is not None
    return replace(asked, roles=(replace(a, rollout=replace(a.rollout, partition=partition)), b))


def makes_below(world: World, asked: Workload, partition: int) -> dict[int, str]:
    group = group_of(world, SIZES)
    roles = tuple(replace(r, partition=partition) if r.role == "a" else r for r in group.roles)
    decided = plan(asked, Observed((replace(group, roles=roles),), exist=1), NOW)
    return {make.ordinal: make.revision for make in decided.steps[Line(0, "a")].make}


def test_what_a_partition_keeps_does_not_count_for_what_a_rule_keeps():
    """Instances below the partition took the place of those that the rule has made old."""
    lost = lose(start(SIZES), "a", 0, 1, 2, 3)
    asked = hold(workload(SIZES, ORDERED), 2)
    assert makes_below(lost, asked, 2) == {0: OLD, 1: OLD, 2: OLD, 3: OLD}
    three = lose(start(SIZES), "a", 0, 1, 2)
    assert makes_below(three, asked, 2) == {0: OLD, 1: OLD, 2: OLD}


def test_a_role_that_has_come_to_its_partition_comes_back_updated_above_it():
    """Its set names the revision before for as long as the partition keeps instances of it."""
    done = start(SIZES).put("a", 2, (NEW, READY)).put("a", 3, (NEW, READY))
    lost = lose(done, "a", 3).put("b", 0, (OLD, Phase.STARTING))
    asked = hold(workload(SIZES, after={"a": ("b",)}), 2)
    assert makes_below(lost, asked, 2) == {3: NEW}


def test_a_role_that_is_updated_comes_back_updated_whatever_the_others_do():
    group = group_of(lose(start(SIZES), "a", 0, 1, 2, 3), SIZES)
    roles = tuple(replace(r, base="") if r.role == "a" else r for r in group.roles)
    asked = workload(SIZES, TIED)
    decided = plan(asked, Observed((replace(group, roles=roles),), exist=1), NOW)
    assert {make.revision for make in decided.steps[Line(0, "a")].make} == {NEW}


@pytest.mark.parametrize("rule", [TIED, ORDERED], ids=lambda rule: rule.name)
@pytest.mark.parametrize("lost", [(0, 1), (0,), (1,)], ids=str)
def test_whatever_is_lost_the_rule_holds_and_the_rollout_ends(rule: Rule, lost: tuple[int, ...]):
    sizes = {"a": 2, "b": 2}
    asked = workload(sizes, rule, unavailable=2)

    def check(before: World, after: World, role: str) -> str:
        if role != "a" or serving(before.units_of("a")) != serving(after.units_of("a")):
            return ""
        slow = updated(after, "b", is_ready=True)
        most = slow + 1 if rule is TIED else (2 if slow == 2 else 0)
        grown = updated(after, "a") > updated(before, "a")
        return f"a is at {updated(after, 'a')}" if grown and updated(after, "a") > most else ""

    world = lose(start(sizes), "a", *lost)
    assert not search(world, lambda w: steps_of(w, asked), check, is_over)
