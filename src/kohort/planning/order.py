"""
Order: the operator makes units one at a time from the lowest, and deletes from the highest.

It makes a missing unit when all lower units that exist are ready. It deletes a unit beyond the
wanted count when all units above it have gone, also where that unit goes because it is old. So a
broken lower unit keeps the operator from making higher ones, and has no other effect: earlier
phases decide which wanted units a rollout replaces and which units a failure takes down, and this
module leaves that as it is. Each wait is for a unit of the same line to become ready or to go, so
order never deadlocks a rollout or a change of scale.
"""

from collections.abc import Collection
from dataclasses import replace

from kohort.model.plans import Cause, Make, Retirement, Step
from kohort.model.reasons import ORDER, Blocker
from kohort.model.units import Phase
from kohort.planning.lines import LineState

REASON = ORDER


def keep_order(step: Step, state: LineState, beyond: Collection[int]) -> Step:
    """The step limited to one new unit and one surplus deletion at a time, if order matters."""
    if not state.is_ordered:
        return step
    make, growing = _order_makes(step.make, state)
    retire, shrinking = _order_surplus(step.retire, state, beyond)
    return replace(step, make=make, retire=retire, blockers=(*step.blockers, *growing, *shrinking))


def _order_makes(
    makes: tuple[Make, ...], state: LineState
) -> tuple[tuple[Make, ...], tuple[Blocker, ...]]:
    """The lowest missing unit, if all units below it are ready; otherwise a blocker."""
    if not makes:
        return (), ()
    first, *rest = sorted(makes, key=lambda make: make.ordinal)
    unready = [u for u in state.units if u.ordinal < first.ordinal and u.phase is not Phase.READY]
    if unready:
        lowest = min(unready, key=lambda unit: unit.ordinal)
        return (), (_explain(state, first.ordinal, "made", lowest.ordinal, "is ready"),)
    if rest:
        return (first,), (_explain(state, rest[0].ordinal, "made", first.ordinal, "is ready"),)
    return (first,), ()


def _order_surplus(
    retire: tuple[Retirement, ...], state: LineState, beyond: Collection[int]
) -> tuple[tuple[Retirement, ...], tuple[Blocker, ...]]:
    """The retirements with at most one surplus unit: the highest, if none above it is leaving."""
    surplus = sorted(
        (gone.ordinal for gone in retire if gone.ordinal in beyond and _may_wait(gone)),
        reverse=True,
    )
    if not surplus:
        return retire, ()
    highest, *rest = surplus
    leaving = (u.ordinal for u in state.units if u.phase is Phase.LEAVING)
    above = [ordinal for ordinal in leaving if ordinal > highest]
    waiting = surplus if above else rest
    kept = tuple(gone for gone in retire if gone.ordinal not in waiting)
    if not waiting:
        return kept, ()
    awaited = min(above) if above else highest
    return kept, (_explain(state, waiting[0], "taken down", awaited, "has gone"),)


def _may_wait(gone: Retirement) -> bool:
    """Whether order may delay the deletion; a failed unit goes at once and is recreated."""
    return gone.cause is not Cause.FAILED


def _explain(state: LineState, ordinal: int, done: str, awaited: int, end: str) -> Blocker:
    noun = state.noun
    message = f"{noun} {ordinal} is {done} when {noun} {awaited} {end}"
    return Blocker(REASON, message, (awaited,))
