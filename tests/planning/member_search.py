"""
Every state that the members of one small unit can reach, and what the controller makes of it.

The controller may stop after any write. Members become ready, crash and get over it, end, are
deleted by a user, and time passes. A member keeps its name until it has gone.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from line_search import find_dead_end

from kohort.model.observed import Crash, Failure, Instance, Member
from kohort.model.plans import Step
from kohort.model.units import Line, Phase

STATES_MAX = 60_000
NOW = 1_000_000.0
LATER = 100_000.0  # longer than any wait
LINE = Line(0, "r")
MISSING, STARTING, READY, CRASHED, ENDED, LEAVING = (
    *("missing", "starting", "ready"),
    *("crashed", "ended", "leaving"),
)


@dataclass(frozen=True)
class UnitWorld:
    """One unit: the state of each member by index, and what the cluster remembers."""

    members: tuple[str, ...]
    restarted: frozenset[int] = frozenset()  # members of which a container ran before
    known: frozenset[int] = frozenset()  # members that this life has had
    has_served: bool = False
    life: int = 0
    record: tuple[int, int, bool] | None = None  # failures in a row, life, whether it is long ago
    failures: int = 2  # accidents that may still happen
    parts: tuple[str, ...] = field(default=(), compare=False)
    spared: frozenset[int] = field(default=frozenset(), compare=False)

    def put(self, index: int, state: str) -> "UnitWorld":
        """The world in which one member has come to another state."""
        members = tuple(state if i == index else held for i, held in enumerate(self.members))
        restarted, life, known = self.restarted, self.life, self.known
        has_served = self.has_served or all(held == READY for held in members)
        if state in (STARTING, MISSING):
            restarted = restarted - {index}
        elif state == CRASHED:
            restarted = restarted | {index}
        if state == STARTING and index not in self.spared:
            known = known | {index}
        if index == 0 and state == MISSING:
            here = (i for i, held in enumerate(members) if held not in (MISSING, LEAVING))
            life, known, has_served = life + 1, frozenset(here) - self.spared, False
        world = replace(self, members=members, restarted=restarted, known=known)
        return replace(world, has_served=has_served, life=life)

    @property
    def is_recorded(self) -> bool:
        """Whether a failure of this life is remembered."""
        return self.record is not None and self.record[1] == self.life

    def instance(self) -> Instance:
        """The unit as a reader gives it."""
        entry = self.members[0] != MISSING
        phase = Phase.READY if all(s == READY for s in self.members) else Phase.STARTING
        held = [s for s in self.members if s != MISSING]
        if held and all(s == LEAVING for s in held):
            phase = Phase.LEAVING
        gone = tuple(f"x-{i}" for i in sorted(self.known) if self.members[i] == MISSING)
        members = tuple(
            self._member(i, state) for i, state in enumerate(self.members) if state != MISSING
        )
        return Instance(
            *(0, "new", phase, f"life-{self.life}" if entry else "", len(self.members), members),
            lost=gone if entry else (),
            has_served=self.has_served,
        )

    def _member(self, index: int, state: str) -> Member:
        phases = {READY: Phase.READY, LEAVING: Phase.LEAVING}
        has_restarted = index in self.restarted
        return Member(
            *(f"x-{index}", f"uid-{index}", index, "new", phases.get(state, Phase.STARTING)),
            ready_since=0.0 if state == READY else None,
            has_restarted=has_restarted,
            has_ended=state == ENDED,
            has_recovered=has_restarted and state == READY,
            crash=Crash(f"x-{index}", ended_at=NOW - 1) if has_restarted else None,
            is_spared=index in self.spared,
            part=self.parts[index] if self.parts else "",
        )

    def failure(self) -> tuple[Failure, ...]:
        """What the cluster remembers, as a record."""
        if self.record is None:
            return ()
        count, life, is_old = self.record
        at = NOW - LATER if is_old else NOW
        return (Failure(0, "new", f"life-{life}", count, at, Crash("x-0", ended_at=at), LINE),)


def cluster_moves(world: UnitWorld) -> Iterator[UnitWorld]:
    following = {STARTING: READY, CRASHED: READY, LEAVING: MISSING}
    hurt = replace(world, failures=world.failures - 1)
    for index, state in enumerate(world.members):
        if state in following:
            yield world.put(index, following[state])
        if world.failures and state in (STARTING, READY):
            yield hurt.put(index, CRASHED)
            yield hurt.put(index, ENDED)
        if world.failures and state not in (MISSING, LEAVING):
            yield hurt.put(index, LEAVING)
    if world.record is not None and not world.record[2]:
        yield replace(world, record=(*world.record[:2], True))


def writes(world: UnitWorld, step: Step) -> Iterator[UnitWorld]:
    """Each write of a step by itself; the entry goes last, since it ends the incarnation."""
    new = [f for f in step.failures if f not in world.failure()]
    for failure in new:
        yield replace(world, record=(min(failure.count, 3), world.life, False))
    here = [i for i, state in enumerate(world.members) if state not in (MISSING, LEAVING)]
    if step.retire:
        yield world.put(here[-1], LEAVING)
    for _, name in step.renew:
        yield world.put(int(name[2:]), LEAVING)
    if 0 in step.may_complete and 0 not in step.backing_off and not step.retire:
        waiting = step.waiting_parts.get(0, frozenset())
        for index, state in enumerate(world.members):
            is_held = bool(world.parts) and world.parts[index] in waiting
            if state == MISSING and not is_held:
                yield world.put(index, STARTING)


def search(
    start: UnitWorld,
    plan: Callable[[UnitWorld], Step],
    check: Callable[[UnitWorld, UnitWorld, Step], str],
    is_finished: Callable[[UnitWorld], bool],
) -> str:
    """What goes wrong first, in words; nothing if nothing can, and every state can still end."""
    seen, queue = {start}, deque([start])
    before: dict[UnitWorld, list[UnitWorld]] = {}
    while queue:
        assert len(seen) < STATES_MAX
        world = queue.popleft()
        step = plan(world)
        acted = list(writes(world, step))
        for after in acted or [world]:
            fault = check(world, after, step)
            if fault:
                return f"{fault}: {world} -> {after}"
        for after in [*acted, *cluster_moves(world)]:
            before.setdefault(after, []).append(world)
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return find_dead_end(seen, [world for world in seen if is_finished(world)], before)
