"""
Availability and the hold, in every state that a small cluster can reach.

The model of test_rollout_budget, with more to it: a group that is ready settles later, and only
then counts; a group of the new revision that fails is in doubt until it has settled again. Time is
left out: settling happens at any moment after getting ready, so whatever the seconds are, some
path has them. A controller may act on a view that is one change old.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from planning_builders import progress

from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit
from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.planning.rollout.hold import UntrustedUnit, hold_policy, hold_rollout

STARTING, READY, SETTLED = range(3)


@dataclass(frozen=True)
class Group:
    is_new: bool
    stage: int = STARTING
    is_doubted: bool = False


Groups = tuple[Group | None, ...]


@dataclass(frozen=True)
class World:
    boundary: int
    count: int
    groups: Groups
    target: str
    accidents: int
    view: Groups

    def at_least(self, stage: int) -> set[int]:
        return {i for i, g in enumerate(self.groups) if g and g.stage >= stage}

    def given_up(self) -> set[int]:
        """Serving groups that the carrier is already free to take down."""
        is_new = self.target == "new"
        return {
            i
            for i in self.at_least(READY)
            if i >= self.count or (is_new and i >= self.boundary and not self.groups[i].is_new)
        }


def decide(world: World, view: Groups, policy: RolloutPolicy, strategy) -> World:
    units = [
        Unit(
            i,
            "new" if g.is_new else "old",
            Phase.READY if g.stage else Phase.STARTING,
            is_settling=g.stage == READY,
        )
        for i, g in enumerate(view)
        if g is not None
    ]
    seen = progress(world.boundary, world.count, policy.wanted, world.target)
    untrusted = find_doubts(world, view)
    held = hold_policy(policy, seen, untrusted)
    step = hold_rollout(strategy(units, seen, "new", held), seen, held, untrusted)
    return replace(world, boundary=step.boundary, count=step.count, target="new")


def find_doubts(world: World, view: Groups) -> tuple[UntrustedUnit, ...]:
    if world.target != "new":
        return ()
    return tuple(UntrustedUnit(i) for i, g in enumerate(view[: world.count]) if g and g.is_doubted)


def cluster_moves(world: World, lasts: bool) -> Iterator[World]:
    groups = [*world.groups, *[None] * (world.count - len(world.groups))]
    for i, group in enumerate(groups):
        if group is None:
            if i < world.count:
                is_new = world.target == "new" and i >= world.boundary
                yield put(world, groups, i, Group(is_new))
            continue
        is_surplus = i >= world.count and all(g is None for g in groups[i + 1 :])
        may_update = world.target == "new" and world.boundary <= i < world.count
        if is_surplus or (may_update and not group.is_new):
            yield put(world, groups, i, None)
        if group.stage == STARTING:
            yield put(world, groups, i, replace(group, stage=READY))
        if group.stage == READY and (lasts or not group.is_new):
            yield put(world, groups, i, Group(group.is_new, SETTLED))
        broken = Group(group.is_new, STARTING, group.is_new)
        if group.stage and group.is_new and not lasts:
            yield put(world, groups, i, broken)
        elif group.stage and world.accidents:
            yield replace(put(world, groups, i, broken), accidents=world.accidents - 1)


def put(world: World, groups: list[Group | None], index: int, group: Group | None) -> World:
    changed = [*groups[:index], group, *groups[index + 1 :]]
    while changed and changed[-1] is None:
        changed.pop()
    return replace(world, groups=tuple(changed), view=world.groups)


@dataclass
class Search:
    """All states that can be reached, and what is wrong in one of them."""

    policy: RolloutPolicy
    accidents: int = 0
    lasts: bool = True
    strategy: object = plan_budgeted

    def run(self) -> str:
        groups: Groups = (Group(False, SETTLED),) * self.policy.wanted
        start = World(0, self.policy.wanted, groups, "old", self.accidents, groups)
        self.before: dict[World, set[World]] = defaultdict(set)
        seen, queue = {start}, deque([start])
        while queue:
            world = queue.popleft()
            wrong = self.find_wrong(world)
            if wrong:
                return wrong
            for after in self.follow(world):
                self.before[after].add(world)
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
        return self.find_stuck(seen) if self.lasts else ""

    def follow(self, world: World) -> Iterator[World]:
        yield from cluster_moves(world, self.lasts)
        yield from {
            decide(world, v, self.policy, self.strategy) for v in (world.groups, world.view)
        }

    def find_wrong(self, world: World) -> str:
        policy, lost = self.policy, self.accidents - world.accidents
        if sum(g is not None for g in world.groups) > policy.wanted + policy.surge:
            return f"too many groups: {world}"
        if self.lasts and len(world.at_least(READY)) < policy.ready_min - lost:
            return f"too few serve: {world}"
        old = {i for i in world.at_least(SETTLED) if not world.groups[i].is_new}
        if not self.lasts and len(old) < policy.ready_min:
            return f"too few of the old groups serve: {world}"
        after = decide(world, world.groups, policy, self.strategy)
        newly = after.given_up() - world.given_up()
        if newly and find_doubts(world, world.groups):
            return f"gave up {newly} in doubt: {world}"
        if newly and len(world.at_least(SETTLED) - after.given_up()) < policy.ready_min:
            return f"gave up {newly} without the budget: {world}"
        return ""

    def find_stuck(self, seen: set[World]) -> str:
        """Whether the rollout can end from everywhere."""
        done = ((Group(True, SETTLED),)) * self.policy.wanted
        ended = {w for w in seen if (w.boundary, w.count, w.groups) == (0, len(done), done)}
        queue = deque(ended)
        while queue:
            for world in self.before[queue.popleft()]:
                if world not in ended:
                    ended.add(world)
                    queue.append(world)
        return "" if ended == seen else f"never ends: {next(iter(seen - ended))}"


def policies(most: int) -> list[RolloutPolicy]:
    return [
        RolloutPolicy(wanted, max_unavailable=unavailable, max_surge=surge)
        for wanted in range(1, most + 1)
        for unavailable in (0, 1, 2)
        for surge in (0, 1, 2)
        if unavailable + surge and unavailable <= wanted and surge <= wanted
    ]


def name_of(policy: RolloutPolicy) -> str:
    return f"{policy.wanted} wanted, {policy.max_unavailable} down, {policy.max_surge} extra"


@pytest.mark.parametrize("policy", policies(2), ids=name_of)
@pytest.mark.parametrize("accidents", [0, 1])
def test_only_what_has_settled_pays_and_every_rollout_can_end(policy, accidents):
    assert not Search(policy, accidents).run()


@pytest.mark.parametrize("policy", policies(3), ids=name_of)
def test_a_revision_that_never_settles_never_costs_more_than_the_budget(policy):
    assert not Search(policy, lasts=False).run()


def test_the_search_sees_that_ready_for_a_moment_pays_without_settling():
    """A planner that counts what is ready would give up groups that no other group replaces."""

    def trusting(units, seen, target, policy):
        return plan_budgeted([replace(u, is_settling=False) for u in units], seen, target, policy)

    policy = RolloutPolicy(3, max_unavailable=1, max_surge=1)
    assert "without the budget" in Search(policy, lasts=False, strategy=trusting).run()
