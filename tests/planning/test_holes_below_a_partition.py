"""A missing instance below a partition: it protects nothing in its stead."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, instances_of, search
from test_role_rules import workload

from kohort.model.observed import Observed, RoleInstances
from kohort.model.policies import Victims
from kohort.model.units import GROUPS, Line, Phase
from kohort.model.workload import Workload
from kohort.planning.plan import plan

READY = Phase.READY
SIZES = {"a": 2, "b": 1}
# Of two instances of a the first is missing; the second is old, and no partition keeps it.
HOLED = World((("a", ((1, (OLD, READY)),)), ("b", ((0, (OLD, READY)),))))


def ask() -> Workload:
    """Role b is updated after role a, of which the first instance keeps its revision."""
    found = workload(SIZES, after={"b": ("a",)})
    a, b = found.roles
    assert a.rollout is not None
    held = replace(a, rollout=replace(a.rollout, partition=1), victims=Victims.BEYOND)
    return replace(found, roles=(held, b))


def steps_of(world: World):
    group = group_of(world, SIZES)
    roles = tuple(replace(r, partition=1) if r.role == "a" else r for r in group.roles)
    decided = plan(ask(), Observed((replace(group, roles=roles),), exist=1), NOW)
    return {line.role: step for line, step in decided.steps.items() if line != GROUPS}


def is_over(world: World) -> bool:
    first, second = (OLD, READY), (NEW, READY)
    return world.lines == (("a", ((0, first), (1, second))), ("b", ((0, second),)))


@pytest.mark.parametrize("failures", [0, 1])
def test_in_every_state_the_next_role_waits_until_what_is_above_the_hole_is_updated(failures):
    def check(before: World, after: World, role: str) -> str:
        touched = before.units_of("b") != after.units_of("b")
        was_old = dict(before.units_of("b")).get(0, (NEW, READY))[0] == OLD
        done = dict(before.units_of("a")).get(1) == (NEW, READY)
        return "b came before a" if touched and was_old and not done else ""

    assert not search(replace(HOLED, failures=failures), steps_of, check, is_over)


@pytest.mark.parametrize(
    ("ordinals", "wanted", "partition", "unprotected"),
    [
        ([0, 1, 2], 3, 1, [1, 2]),
        ([1, 2], 3, 1, [1, 2]),
        ([2], 3, 2, [2]),
        ([0, 2], 3, 2, [2]),
        ([1, 3, 5, 8], 4, 2, [5, 8]),  # sparse, and none is missing: positions count
        ([3, 5], 3, 1, [3, 5]),  # 0 is made, and is the first
        ([3, 5], 3, 2, [5]),
        ([], 3, 1, []),
    ],
)
def test_which_instances_a_partition_lets_go(ordinals, wanted, partition, unprotected):
    units = instances_of(tuple((ordinal, (OLD, READY)) for ordinal in ordinals))
    held = RoleInstances("a", wanted, NEW, units, partition=partition)
    assert [unit.ordinal for unit in held.list_unprotected(partition)] == unprotected
    assert held.is_updated is (not unprotected)


def test_a_role_with_an_old_instance_above_the_hole_is_still_updating():
    decided = plan(ask(), Observed((group_of(HOLED, SIZES),), exist=1), NOW)
    assert decided.report.roles["a"].is_updating


def test_a_sparse_role_waits_as_a_dense_one_does():
    """Ordinals beyond the count, as a scale-down by cost leaves them."""
    sparse = ((3, (OLD, READY)), (5, (OLD, READY)))
    asked = workload({"a": 1, "b": 2}, after={"b": ("a",)}, unavailable=2)
    world = World((("a", ((0, (NEW, Phase.STARTING)),)), ("b", sparse)))
    decided = plan(asked, Observed((group_of(world, {"a": 1, "b": 2}),), exist=1), NOW)
    step = decided.steps[Line(0, "b")]
    assert step.retire == ()
    assert [blocker.reason for blocker in step.blockers] == ["WaitingForRole"]
