"""
The recoveries of one workload: when each begins, why, and when it has ended.

A plan that restarts a unit begins a recovery, once for each incarnation: the same plan is made
again until its writes are done. It ends when another incarnation in its place is ready. If the
next one fails before that, the same recovery goes on and another one is counted. Where units are
alike, none stands in the place of a former one, and the recovery ends with the line whole again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kohort.model.observed import Instance, Observed
from kohort.model.plans import Plan, Restart, Step
from kohort.model.units import GROUPS, Level, Line, Phase


class Cause(StrEnum):
    """Why a unit is made anew; a short list, since it is a label."""

    CRASHED = "crashed"  # a container ended, or the kubelet restarted it
    LOST = "lost"  # a member was deleted, or has gone with its node
    UNFIT = "unfit"  # a member was created wrong and cannot work


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovery that begins."""

    level: Level
    cause: Cause


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a recovery: a unit of a line, or one member of it, that is made anew."""

    line: Line
    ordinal: int
    member: str = ""

    @property
    def level(self) -> Level:
        if self.member:
            return Level.MEMBER
        return Level.GROUP if self.line == GROUPS else Level.INSTANCE


@dataclass(frozen=True, slots=True)
class _Open:
    incarnation: str
    since: float


class Recoveries:
    """The recoveries of one workload that have begun and not ended."""

    def __init__(self) -> None:
        self._open: dict[_Place, _Open] = {}

    def begin(self, decided: Plan, observed: Observed, now: float) -> list[Recovery]:
        """The recoveries that begin with this plan."""
        begun = []
        for line, step in decided.steps.items():
            for place, incarnation, cause in _list_restarts(line, step, observed):
                known = self._open.get(place)
                if known is None or known.incarnation != incarnation:
                    since = now if known is None else known.since
                    self._open[place] = _Open(incarnation, since)
                    begun.append(Recovery(place.level, cause))
        return begun

    def end(self, decided: Plan, observed: Observed, now: float) -> list[tuple[Level, float]]:
        """The level and the seconds of each recovery that has ended."""
        ended = []
        for place, known in list(self._open.items()):
            step = decided.steps.get(place.line)
            if step is not None and any(r.incarnation == known.incarnation for r in step.restarts):
                continue
            is_over = _is_over(place, known.incarnation, decided, observed)
            if is_over is None:
                continue
            del self._open[place]
            if is_over:
                ended.append((place.level, now - known.since))
        return ended


def _list_restarts(
    line: Line, step: Step, observed: Observed
) -> Iterator[tuple[_Place, str, Cause]]:
    if not step.restarts and not step.renew:
        return
    units = {unit.ordinal: unit for unit in _find_units(line, observed) or ()}
    for restart in step.restarts:
        cause = _find_cause(restart, step, units.get(restart.ordinal))
        yield _Place(line, restart.ordinal), restart.incarnation, cause
    for ordinal, name in step.renew:
        members = units[ordinal].members if ordinal in units else ()
        uid = next((m.uid for m in members if m.name == name and m.has_ended), "")
        yield _Place(line, ordinal, name), uid, Cause.CRASHED


def _find_cause(restart: Restart, step: Step, unit: Instance | None) -> Cause:
    is_recorded = any(
        failure.incarnation == restart.incarnation and failure.crash.member == restart.cause
        for failure in step.failures
    )
    if unit is None or is_recorded:
        return Cause.CRASHED if is_recorded else Cause.LOST
    if restart.cause in unit.unfit:
        return Cause.UNFIT
    is_there = any(
        member.name == restart.cause and member.phase is not Phase.LEAVING
        for member in unit.members
    )
    return Cause.CRASHED if is_there else Cause.LOST


def _find_units(line: Line, observed: Observed) -> tuple[Instance, ...] | None:
    """The units of a line; None if its group is gone."""
    if line == GROUPS:
        return observed.groups
    for group in observed.groups:
        if group.ordinal == line.group:
            return next((held.instances for held in group.roles if held.role == line.role), None)
    return None


def _is_over(place: _Place, incarnation: str, decided: Plan, observed: Observed) -> bool | None:
    """True: a new incarnation is ready; False: none will come; None: it is not ready yet."""
    units = _find_units(place.line, observed)
    if units is None:
        return False
    unit = next((unit for unit in units if unit.ordinal == place.ordinal), None)
    if place.member:
        return _is_renewed(place.member, incarnation, unit)
    if unit is not None and unit.phase is Phase.READY:
        return unit.incarnation != incarnation
    if unit is not None:
        return None
    step = decided.steps.get(place.line)
    wanted = step.wanted if step is not None else len(units)
    is_whole = len(units) >= wanted and all(unit.phase is Phase.READY for unit in units)
    return bool(units) if is_whole else None


def _is_renewed(name: str, uid: str, unit: Instance | None) -> bool | None:
    if unit is None:
        return False
    member = next((member for member in unit.members if member.name == name), None)
    if member is None or member.phase is not Phase.READY:
        return None
    return member.uid != uid
