"""
Parts of an instance: which of its members the operator may make, where they start in an order.

A part begins when each part that it comes after has as many ready members as its size; a part of
size 0 has them from the start. A part of which a member exists is never held, so a short outage
of one part does not stop the operator from repairing another. Parts that wait for each other in a
cycle have no order, and no part waits for a part that does not exist.
"""

from collections.abc import Iterable, Mapping

from kohort.model.cycles import find_cycle
from kohort.model.observed import Instance, Member
from kohort.model.reasons import Blocker
from kohort.model.units import Phase
from kohort.model.workload import Part
from kohort.planning.lines import LineState


def plan_parts(state: LineState, made: Iterable[int] = ()) -> Mapping[int, frozenset[str]]:
    """The parts that wait, by ordinal of their unit, also for units that this plan makes."""
    before = _find_before(state.parts)
    if not before:
        return {}
    live = [unit for unit in state.units if unit.phase is not Phase.LEAVING]
    found = {unit.ordinal: _find_waiting(state.parts, before, unit.members) for unit in live}
    found |= {ordinal: _find_waiting(state.parts, before, ()) for ordinal in made}
    return {ordinal: waiting for ordinal, waiting in found.items() if waiting}


def explain_parts(state: LineState, waiting: Mapping[int, frozenset[str]]) -> tuple[Blocker, ...]:
    """One blocker: which part of the lowest unit waits for which, and how many units wait."""
    units = {unit.ordinal: unit for unit in state.units if unit.ordinal in waiting}
    if not units:
        return ()
    unit = units[min(units)]
    name, awaited = _find_first(state.parts, waiting[unit.ordinal], unit)
    ready = _count_ready(awaited.name, unit.members)
    others = f", and {len(units) - 1} more {state.noun}s wait" if len(units) > 1 else ""
    message = (
        f"part {name} of {state.name_unit(unit.ordinal)} waits for part {awaited.name}, of which "
        f"{ready} of {awaited.size} members are ready{others}"
    )
    return (Blocker("WaitingForPart", message, tuple(sorted(units))),)


def _find_before(parts: tuple[Part, ...]) -> dict[str, tuple[Part, ...]]:
    """For each part, the non-empty parts that it waits for; empty if the parts form a cycle."""
    by_name = {part.name: part for part in parts}
    if find_cycle({part.name: part.after for part in parts}):
        return {}
    found = {
        part.name: tuple(by_name[n] for n in part.after if n in by_name and by_name[n].size > 0)
        for part in parts
        if part.size > 0
    }
    return {name: before for name, before in found.items() if before}


def _find_waiting(
    parts: tuple[Part, ...], before: dict[str, tuple[Part, ...]], members: tuple[Member, ...]
) -> frozenset[str]:
    begun = {m.part for m in members if m.is_current and m.phase is not Phase.LEAVING}
    return frozenset(
        part.name
        for part in parts
        if part.name not in begun
        and any(_count_ready(p.name, members) < p.size for p in before.get(part.name, ()))
    )


def _find_first(
    parts: tuple[Part, ...], waiting: frozenset[str], unit: Instance
) -> tuple[str, Part]:
    """The first part that waits for a part which does not wait itself, and that awaited part."""
    before = _find_before(parts)
    pairs = [
        (part.name, awaited)
        for part in parts
        if part.name in waiting
        for awaited in before[part.name]
        if _count_ready(awaited.name, unit.members) < awaited.size
    ]
    return next((pair for pair in pairs if pair[1].name not in waiting), pairs[0])


def _count_ready(name: str, members: tuple[Member, ...]) -> int:
    ready = (m for m in members if m.is_current and m.phase is Phase.READY)
    return sum(member.part == name for member in ready)
