"""A group that is only being made: its roles are planned before anything of it exists."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, search, serving
from test_role_rules import is_over, workload

from kohort.model.observed import Observed, Progress, RoleInstances
from kohort.model.plans import Plan
from kohort.model.policies import Rule, Skew
from kohort.model.units import GROUPS, Line
from kohort.model.workload import Workload
from kohort.planning.plan import plan

SIZES = {"a": 2, "b": 1}
NOTHING = World((("a", ()), ("b", ())))
EVEN = Rule("even", ("a", "b"), scale_skew=Skew(share=0.5))
NEW_ROLES = {
    revision: tuple(RoleInstances(role, size, revision) for role, size in SIZES.items())
    for revision in (OLD, NEW)
}


def ask(*rules: Rule, groups: int = 1, partition: int = 0, after=None) -> Workload:
    """Groups that roll, with roles that start in an order."""
    found = workload(SIZES, *rules, after=after)
    rollout = replace(found.rollout, wanted=groups, partition=partition)
    return replace(found, groups=groups, rollout=rollout, has_rollout=True)


def decide(asked: Workload, world: World = NOTHING) -> Plan:
    """The plan for a group of which nothing exists, or what the world has."""
    exists = any(units for _, units in world.lines)
    groups = (group_of(world, SIZES),) if exists else ()
    return plan(asked, Observed(groups, exist=len(groups), new_roles=NEW_ROLES), NOW)


def steps_of(asked: Workload, world: World):
    found = decide(asked, world)
    return {line.role: step for line, step in found.steps.items() if line != GROUPS}


@pytest.mark.parametrize("failures", [0, 1])
@pytest.mark.parametrize("rules", [(), (EVEN,)], ids=["no rule", "even"])
def test_in_every_state_a_role_begins_after_those_before_it_and_the_group_becomes_whole(
    rules, failures
):
    asked = ask(*rules, after={"b": ("a",)})

    def check(before: World, after: World, role: str) -> str:
        begun = not before.units_of("b") and after.units_of("b")
        return "b began early" if begun and len(serving(before.units_of("a"))) < 2 else ""

    def ends(world: World) -> bool:
        return is_over(world) and [len(units) for _, units in world.lines] == [2, 1]

    start = replace(NOTHING, failures=failures)
    assert not search(start, lambda world: steps_of(asked, world), check, ends)


def test_every_instance_of_every_new_group_is_made_once():
    steps = decide(ask(groups=3)).steps
    made = {line: len(step.make) for line, step in steps.items() if line != GROUPS}
    assert made == {Line(group, role): SIZES[role] for group in range(3) for role in SIZES}


def test_each_new_group_says_for_which_role_it_waits():
    found = decide(ask(groups=2, after={"b": ("a",)}))
    waiting = [b.message for b in found.report.blockers if b.line.role]
    end = "role b waits for role a, of which 0 of 2 instances are ready"
    assert len(waiting) == 2
    assert all(message.endswith(end) for message in waiting)
    assert {b.line.group for b in found.report.blockers if b.line.role} == {0, 1}
    assert not found.steps[Line(1, "b")].make


def test_a_new_group_below_the_partition_is_made_from_the_old_revision():
    progress = Progress(1, 0, 0, NEW, base=OLD)
    seen = Observed(progress=progress, new_roles=NEW_ROLES)
    steps = plan(ask(groups=2, partition=1), seen, NOW).steps
    made = {group: {make.revision for make in steps[Line(group, "a")].make} for group in (0, 1)}
    assert made == {0: {OLD}, 1: {NEW}}
