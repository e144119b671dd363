"""
Which units are available: a unit that was ready only for a moment is not.

A unit is available when it has been ready for minReadySeconds (by default at once). Besides, a
new revision is on trial until one of its units has been ready for as long as it took to start, at
least three seconds and at most ten: otherwise the rollout would take the next units down because
of an image that becomes ready and crashes a second later. The trial comes once in a rollout and
costs no more than one start of a unit. ``compatible`` has no trial, since its steps are
upstream's.

A unit that has failed and waits to be recreated is not available, even if its members are ready.
A unit whose members are all ready serves, even if its carrier does not count them yet: it is not
available, but taking it down costs one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kohort.model.observed import Instance
from kohort.model.units import Phase, Unit
from kohort.planning.failures import seconds_since
from kohort.planning.lines import LineState
from kohort.planning.recovery import must_restart
from kohort.planning.scale import find_stale

TRIAL_SECONDS_MIN = 3.0
TRIAL_SECONDS_MAX = 10.0
_UNTRIED = "compatible"  # the strategy that has no trial; those of other packages have one


@dataclass(frozen=True, slots=True)
class Availability:
    """The units as policies see them, and how long each settling unit must still stay ready."""

    units: tuple[Unit, ...]
    waits: dict[int, float]  # seconds, by ordinal


def judge_availability(state: LineState, now: float) -> Availability:
    """The units of a line; those that are ready but not yet available are marked settling."""
    on_trial = _find_trial(state, now)
    asked = float(state.rollout.min_ready_seconds)
    known = {failure.ordinal: failure for failure in state.failures}
    units, waits = [], {}
    for group in state.units:
        unit = group.unit
        if unit.is_ready:
            wait = _seconds_left(group, asked, now)
            if group.ordinal in on_trial:
                wait = max(wait, on_trial[group.ordinal])
            has_failed = must_restart(group, state.recovery, known.get(group.ordinal))
            if wait > 0 and not has_failed:
                waits[group.ordinal] = wait
            is_settling = wait > 0 or has_failed
            unit = replace(unit, is_settling=True) if is_settling else unit
        elif group.is_uncounted and state.rollout.strategy != _UNTRIED:
            unit = replace(unit, phase=Phase.READY, is_settling=True)
        units.append(unit)
    return Availability(tuple(units), waits)


def _seconds_left(group: Instance, seconds: float, now: float) -> float:
    """Seconds that a ready group must still stay ready."""
    if seconds <= 0:
        return 0.0
    since = group.ready_since
    # The carrier's status says ready, but the pod cache does not show all members ready yet.
    return seconds if since is None else max(0.0, seconds - seconds_since(since, now))


def _find_trial(state: LineState, now: float) -> dict[int, float]:
    """The ready units of a revision on trial, and the seconds that each must stay ready."""
    if state.rollout.strategy == _UNTRIED or not state.may_roll or not find_stale(state):
        return {}
    found = dict(_trials(state, now))
    return {} if any(wait <= 0 for wait in found.values()) else found


def _trials(state: LineState, now: float) -> Iterator[tuple[int, float]]:
    known = {failure.ordinal: failure for failure in state.failures}
    for group in state.units:
        if group.revision != state.target or not group.unit.is_ready:
            continue
        if must_restart(group, state.recovery, known.get(group.ordinal)):
            continue
        since = group.ready_since
        # The trial of a unit updated in place begins with that update: its pods may be years old.
        begun = max(group.made_at, group.amended_at)
        started = 0.0 if since is None else since - begun
        seconds = min(max(started, TRIAL_SECONDS_MIN), TRIAL_SECONDS_MAX)
        yield group.ordinal, _seconds_left(group, seconds, now)
