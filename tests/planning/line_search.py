"""
Every state that a small line can reach whose units are made and taken down one by one.

The search knows nothing of the planner. The controller may stop after any write, units become
ready or fail, and a unit that was deleted keeps its ordinal until it has gone.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kohort.model.observed import Group, Instance, Member, RoleInstances
from kohort.model.plans import Step
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Level, Phase

STATES_MAX = 40_000
NOW = 1_000_000.0
OLD, NEW = "old", "new"
State = tuple[str, Phase]  # (revision, phase)
Units = tuple[tuple[int, State], ...]  # by ordinal


def make_instance(ordinal: int, state: State, **more) -> Instance:
    revision, phase = state
    since = 0.0 if phase is Phase.READY else None
    member = Member(f"x-{ordinal}", f"uid-{ordinal}", 0, revision, phase, ready_since=since)
    placed = replace(member, is_placed=True)
    return Instance(ordinal, revision, phase, f"uid-{ordinal}", 1, (placed,), **more)


def instances_of(units: Units) -> tuple[Instance, ...]:
    return tuple(make_instance(ordinal, state) for ordinal, state in units)


@dataclass(frozen=True)
class World:
    """The lines of one group, by role."""

    lines: tuple[tuple[str, Units], ...]
    failures: int = 0  # that may still happen
    unwanted: frozenset[int] = frozenset()  # the user asks for others in their place
    hooked: frozenset[int] = frozenset()  # another client holds them
    preparing: frozenset[int] = frozenset()  # that client was told that they are about to go

    def put(self, role: str, ordinal: int, state: State | None) -> "World":
        held = {**dict(self.units_of(role)), ordinal: state}
        changed = tuple(sorted((o, s) for o, s in held.items() if s is not None))
        lines = ((name, changed if name == role else units) for name, units in self.lines)
        after = replace(self, lines=tuple(lines))
        return after if state is not None else after._forget(ordinal)

    def _forget(self, ordinal: int) -> "World":
        """A unit has gone: one of the same ordinal is another unit."""
        gone = {ordinal}
        return replace(
            self,
            unwanted=self.unwanted - gone,
            hooked=self.hooked - gone,
            preparing=self.preparing - gone,
        )

    def mark(self, unit: Instance) -> Instance:
        """A unit with what users and other clients have said about it."""
        return replace(
            unit,
            is_unwanted=unit.ordinal in self.unwanted,
            delete_hold="a label" if unit.ordinal in self.hooked else "",
            update_hold="a label" if unit.ordinal in self.hooked else "",
            is_preparing=unit.ordinal in self.preparing,
        )

    def units_of(self, role: str) -> Units:
        return dict(self.lines)[role]


def serving(units: Units) -> set[int]:
    return {ordinal for ordinal, state in units if state[1] is Phase.READY}


def live(units: Units) -> list[tuple[int, State]]:
    return [unit for unit in units if unit[1][1] is not Phase.LEAVING]


def cluster_moves(world: World) -> Iterator[World]:
    for ordinal in world.hooked & world.preparing:
        yield replace(world, hooked=world.hooked - {ordinal})
    for role, units in world.lines:
        for ordinal, (revision, phase) in units:
            if phase is Phase.LEAVING:
                yield world.put(role, ordinal, None)
            elif phase is Phase.STARTING:
                yield world.put(role, ordinal, (revision, Phase.READY))
            elif world.failures:
                failed = world.put(role, ordinal, (revision, Phase.STARTING))
                yield replace(failed, failures=world.failures - 1)


def writes(world: World, role: str, step: Step) -> Iterator[World]:
    """Each write of a step by itself: the controller may stop after any of them."""
    held = dict(world.units_of(role))
    for make in step.make:
        assert make.ordinal not in held, f"made twice: {make} in {world}"
        yield world.put(role, make.ordinal, (make.revision, Phase.STARTING))
    for gone in step.retire:
        yield world.put(role, gone.ordinal, (held[gone.ordinal][0], Phase.LEAVING))
    for ordinal in step.amend:
        amended = world.put(role, ordinal, (NEW, Phase.STARTING))
        yield replace(amended, preparing=world.preparing - {ordinal})
    for ordinal in step.held.keys() - world.preparing:
        yield replace(world, preparing=world.preparing | {ordinal})
    going = {*(gone.ordinal for gone in step.retire), *step.amend, *step.held}
    for ordinal in world.preparing - going:
        yield replace(world, preparing=world.preparing - {ordinal})


def group_of(world: World, wanted: dict[str, int], target: str = NEW) -> Group:
    base = OLD if target == NEW else NEW
    roles = tuple(
        RoleInstances(
            role, wanted[role], target, tuple(map(world.mark, instances_of(units))), base=base
        )
        for role, units in world.lines
    )
    return Group(0, target, Phase.STARTING, "g", 1, roles=roles)


def search(
    start: World,
    plan: Callable[[World], dict[str, Step]],
    check: Callable[[World, World, str], str],
    is_finished: Callable[[World], bool],
) -> str:
    """What goes wrong first, in words; nothing if nothing can, and every state can still end."""
    seen, queue = {start}, deque([start])
    before: dict[World, list[World]] = {}
    finished = []
    while queue and len(seen) < STATES_MAX:
        world = queue.popleft()
        steps = plan(world)
        if is_finished(world):
            finished.append(world)
        following = list(cluster_moves(world))
        for role, step in steps.items():
            for after in writes(world, role, step):
                fault = check(world, after, role)
                if fault:
                    return f"{fault}: {world} -> {after}"
                following.append(after)
        for after in following:
            before.setdefault(after, []).append(world)
            if after not in seen:
                seen.add(after)
                queue.append(after)
    if queue:
        return ""
    return find_dead_end(seen, finished, before)


def find_dead_end(seen: set, finished: list, before: dict) -> str:
    """A state from which no end can be reached, if there is one."""
    alive, queue = set(finished), deque(finished)
    while queue:
        for earlier in before.get(queue.popleft(), ()):
            if earlier not in alive:
                alive.add(earlier)
                queue.append(earlier)
    dead = next((world for world in seen if world not in alive), None)
    return "" if dead is None else f"it never ends: {dead}"


def instance_policy(wanted: int, unavailable: int, surge: int = 0, partition: int = 0):
    return RolloutPolicy(
        wanted, partition, max_unavailable=unavailable, max_surge=surge, level=Level.INSTANCE
    )
