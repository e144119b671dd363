"""
The exhaustive search that every rollout strategy has to survive, for authors of strategies.

    from kohort.testing.strategies import check_strategy

    def test_my_strategy_keeps_the_budget():
        assert check_strategy(plan_my_way) == []

The search knows nothing of any planner. It walks through every state that a small cluster can
reach: a set that makes and replaces units as it likes within what it was told, units that become
ready, one that may fail, and a controller that may act on a view which is one change old. A
strategy passes if, in every state, no more units exist than may, enough serve, nothing is given
up that the budget does not pay for, and the rollout can still end.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kohort.model.observed import Progress
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit
from kohort.planning.rollout import Strategy

STATES_MAX = 30_000
_Slot = tuple[bool, bool] | None  # (updated, ready), or missing
_OLD, _NEW = "old", "new"


@dataclass(frozen=True)
class World:
    """A small cluster, and what its set was told last."""

    boundary: int
    count: int
    slots: tuple[_Slot, ...]
    target: str
    failures: int  # that may still happen
    view: tuple[_Slot, ...]  # the slots before the last change

    @property
    def serving(self) -> set[int]:
        """The units that serve."""
        return {i for i, slot in enumerate(self.slots) if slot and slot[1]}

    @property
    def given_up(self) -> set[int]:
        """Serving units that the set is already free to take down."""
        return {i for i in self.serving if self._may_take(i)}

    def _may_take(self, ordinal: int) -> bool:
        slot = self.slots[ordinal]
        is_old = slot is not None and not slot[0]
        is_released = self.target == _NEW and ordinal >= self.boundary and is_old
        return ordinal >= self.count or is_released


POLICIES = tuple(
    RolloutPolicy(wanted, max_unavailable=unavailable, max_surge=surge)
    for wanted in (1, 2, 3)
    for unavailable in (0, 1, 2)
    for surge in (0, 1, 2)
    if unavailable + surge and unavailable <= wanted
)


def check_strategy(
    strategy: Strategy,
    policies: tuple[RolloutPolicy, ...] = POLICIES,
    *,
    failures: int = 1,
    has_stale_views: bool = True,
) -> list[str]:
    """Which policies a strategy breaks, each with the state in which it did; empty: none."""
    found = []
    for policy in policies:
        fault = _explore(policy, failures, strategy, has_stale_views)
        if fault:
            found.append(f"{describe(policy)}: {fault}")
    return found


def describe(policy: RolloutPolicy) -> str:
    """A policy in words."""
    return f"{policy.wanted} wanted, {policy.max_unavailable} down, {policy.max_surge} extra"


def _read(slots: tuple[_Slot, ...]) -> list[Unit]:
    return [
        Unit(i, _NEW if slot[0] else _OLD, Phase.READY if slot[1] else Phase.STARTING)
        for i, slot in enumerate(slots)
        if slot is not None
    ]


def _list_plans(
    world: World, policy: RolloutPolicy, strategy: Strategy
) -> Iterator[tuple[World, bool]]:
    for view in {world.slots, world.view}:
        seen = Progress(world.boundary, world.count, policy.wanted, world.target)
        step = strategy(_read(view), seen, _NEW, policy)
        after = replace(world, boundary=step.boundary, count=step.count, target=_NEW)
        yield after, view == world.slots


def _list_changes(world: World) -> Iterator[World]:
    slots = list(world.slots) + [None] * (world.count - len(world.slots))
    for i, slot in enumerate(slots):
        if slot is None:
            if i < world.count:
                is_new = world.target == _NEW and i >= world.boundary
                yield _put(world, slots, i, (is_new, False))
            continue
        is_surplus = i >= world.count and all(other is None for other in slots[i + 1 :])
        may_update = world.target == _NEW and world.boundary <= i < world.count
        if is_surplus or (may_update and not slot[0]):
            yield _put(world, slots, i, None)
        if not slot[1]:
            yield _put(world, slots, i, (slot[0], True))
        elif world.failures:
            failed = _put(world, slots, i, (slot[0], False))
            yield replace(failed, failures=world.failures - 1)


def _put(world: World, slots: list[_Slot], index: int, slot: _Slot) -> World:
    changed = [*slots[:index], slot, *slots[index + 1 :]]
    while changed and changed[-1] is None:
        changed.pop()
    return replace(world, slots=tuple(changed), view=world.slots)


def _is_finished(world: World, policy: RolloutPolicy) -> bool:
    done = ((True, True),) * policy.wanted
    return (world.boundary, world.count) == (0, policy.wanted) and world.slots == done


def _explore(
    policy: RolloutPolicy, failures: int, strategy: Strategy, has_stale_views: bool
) -> str:
    slots = ((False, True),) * policy.wanted
    start = World(0, policy.wanted, slots, _OLD, failures, slots)
    seen, queue, finished = {start}, deque([start]), False
    while queue and len(seen) < STATES_MAX:
        world = queue.popleft()
        finished = finished or _is_finished(world, policy)
        if sum(slot is not None for slot in world.slots) > policy.wanted + policy.surge:
            return f"too many units exist: {world}"
        if len(world.serving) < policy.ready_min - (failures - world.failures):
            return f"too few serve: {world}"
        following = list(_list_changes(world))
        for after, is_fresh in _list_plans(world, policy, strategy):
            if not is_fresh and not has_stale_views:
                continue
            fault = _find_overspent(world, after, policy) if is_fresh else ""
            if fault:
                return fault
            following.append(after)
        fresh = [after for after in following if after not in seen]
        seen.update(fresh)
        queue.extend(dict.fromkeys(fresh))
    return "" if finished or queue else "the rollout never ends"


def _find_overspent(world: World, after: World, policy: RolloutPolicy) -> str:
    newly = after.given_up - world.given_up
    if newly and len(world.serving - after.given_up) < policy.ready_min:
        return f"gave up {sorted(newly)} without the budget: {world}"
    return ""
