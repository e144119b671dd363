"""
An exhaustive search for faults of a rollout strategy, for authors of strategies.

    from kohort.testing import check_strategy

    def test_my_strategy_keeps_the_budget():
        assert check_strategy(plan_my_way) == []

The search knows nothing of any planner. It walks through every state that a small cluster can
reach: a StatefulSet that makes and replaces units in any order within its count and partition,
units that become ready, one that may fail, and a controller whose view may be one change old. A
strategy passes if, in every state, no more units exist than surge allows, enough are ready, it
releases no more units than the budget allows and none below the partition, and the rollout can
still end. It must decide the same each time, in whatever order the units are listed: only then
is one call for each state enough.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kohort.model.observed import Progress
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit
from kohort.planning.rollout import Strategy

STATES_MAX = 30_000
_Slot = tuple[bool, bool] | None  # (updated, ready), or missing
_OLD, _NEW = "old", "new"
_Asked = tuple[tuple[_Slot, ...], int, int, str]  # what a strategy sees: slots and progress


class _Misbehaved(Exception):
    """The strategy failed, or decided one thing and then another."""


@dataclass
class _Asker:
    """Calls a strategy for each state, and checks that it is a pure function."""

    strategy: Strategy
    policy: RolloutPolicy
    known: dict[_Asked, Rollout] = field(default_factory=dict)

    def ask(self, slots: tuple[_Slot, ...], world: "World") -> Rollout:
        """The step that the strategy takes; raises _Misbehaved."""
        asked = slots, world.boundary, world.count, world.target
        if asked not in self.known:
            self.known[asked] = self._ask_twice(slots, world)
        return self.known[asked]

    def _ask_twice(self, slots: tuple[_Slot, ...], world: "World") -> Rollout:
        seen = Progress(world.boundary, world.count, self.policy.wanted, world.target)
        units = _read(slots)
        try:
            step = self.strategy(units, seen, _NEW, self.policy)
            again = self.strategy(units[::-1], seen, _NEW, self.policy)
        except Exception as error:
            raise _Misbehaved(f"it raised {error!r} for {world}") from error
        if not isinstance(step, Rollout):
            raise _Misbehaved(f"it returned {step!r}, which is no Rollout, for {world}")
        if step != again:
            raise _Misbehaved(
                f"it decided {step} and then, for the same units in another order, {again}, "
                f"for {world}"
            )
        return step


@dataclass(frozen=True)
class World:
    """A small cluster, and the last count and partition of its set."""

    boundary: int
    count: int
    slots: tuple[_Slot, ...]
    target: str
    failures: int  # how many units may still fail
    view: tuple[_Slot, ...]  # the slots before the last change

    @property
    def serving(self) -> set[int]:
        """The ready units."""
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

    def __str__(self) -> str:
        units = ", ".join(f"unit {i} {_describe(slot)}" for i, slot in enumerate(self.slots))
        told = f"{self.count} units, of which those from {self.boundary} on may be updated"
        return f"[{units or 'no units'}; the last step allowed {told}]"


def _describe(slot: _Slot) -> str:
    if slot is None:
        return "missing"
    return f"{_NEW if slot[0] else _OLD} and {'ready' if slot[1] else 'not ready'}"


POLICIES = (
    *(
        RolloutPolicy(wanted, max_unavailable=unavailable, max_surge=surge)
        for wanted in (1, 2, 3)
        for unavailable in (0, 1, 2)
        for surge in (0, 1, 2)
        if unavailable + surge and unavailable <= wanted
    ),
    RolloutPolicy(2, partition=1, max_unavailable=1),
    RolloutPolicy(3, partition=1, max_unavailable=0, max_surge=1),
    RolloutPolicy(3, partition=2, max_unavailable=2),
)


def check_strategy(
    strategy: Strategy,
    policies: tuple[RolloutPolicy, ...] = POLICIES,
    *,
    failures: int = 1,
    has_stale_views: bool = True,
) -> list[str]:
    """The policies that a strategy breaks, each with the state in which it did; empty: none."""
    found = []
    for policy in policies:
        try:
            fault = _explore(_Asker(strategy, policy), failures, has_stale_views)
        except _Misbehaved as error:
            fault = str(error)
        if fault:
            found.append(f"{describe(policy)}: {fault}")
    return found


def describe(policy: RolloutPolicy) -> str:
    """A policy in words."""
    kept = f", partition {policy.partition}" if policy.partition else ""
    return f"{policy.wanted} wanted, {policy.max_unavailable} down, {policy.max_surge} extra{kept}"


def _read(slots: tuple[_Slot, ...]) -> list[Unit]:
    return [
        Unit(i, _NEW if slot[0] else _OLD, Phase.READY if slot[1] else Phase.STARTING)
        for i, slot in enumerate(slots)
        if slot is not None
    ]


def _list_plans(world: World, asker: _Asker) -> Iterator[tuple[World, bool]]:
    for view in {world.slots, world.view}:
        step = asker.ask(view, world)
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
    done = tuple((ordinal >= policy.partition, True) for ordinal in range(policy.wanted))
    is_told = (world.boundary, world.count) == (policy.partition, policy.wanted)
    return is_told and world.slots == done


def _explore(asker: _Asker, failures: int, has_stale_views: bool) -> str:
    policy = asker.policy
    slots = ((False, True),) * policy.wanted
    start = World(0, policy.wanted, slots, _OLD, failures, slots)
    seen, queue, finished = {start}, deque([start]), False
    while queue and len(seen) < STATES_MAX:
        world = queue.popleft()
        finished = finished or _is_finished(world, policy)
        if sum(slot is not None for slot in world.slots) > policy.wanted + policy.surge:
            return f"more than {policy.wanted + policy.surge} units exist: {world}"
        if len(world.serving) < policy.ready_min - (failures - world.failures):
            return f"fewer than {policy.ready_min} units serve: {world}"
        following = list(_list_changes(world))
        for after, is_fresh in _list_plans(world, asker):
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
    if after.boundary < policy.partition:
        return f"it released units below the partition, from {after.boundary} on: {world}"
    newly = after.given_up - world.given_up
    left = len(world.serving - after.given_up)
    if newly and left < policy.ready_min:
        names = ", ".join(map(str, sorted(newly)))
        return (
            f"it gave up units that serve ({names}) without the budget: {left} would be left, "
            f"and {policy.ready_min} must serve: {world}"
        )
    return ""
