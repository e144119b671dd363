"""
Hooks: another client may hold a unit until it is prepared to be deleted or updated.

A client that drains an engine or saves its cache holds the unit by its own hook. All other rules
decide first which units go and which are updated, within the budget; then the units that are held
are left out of the step, and named in it, so that the carrier tells that client. From that moment
on no rule counts on the unit, since the client may let it go at any time: it costs the budget like
a unit that has gone. If a later plan keeps the unit, the step no longer names it, and the carrier
tells the client so. No hook holds a failed unit, since its members do not work.
"""

from dataclasses import replace

from kohort.model.observed import Instance
from kohort.model.plans import Cause, Hold, Step
from kohort.model.reasons import HOOK, Blocker
from kohort.model.units import Phase
from kohort.planning.lines import LineState


def count_out(unit: Instance) -> Instance:
    """The unit as rules see it: not ready if another client prepares it to go."""
    if not unit.is_preparing or unit.phase is not Phase.READY:
        return unit
    return replace(unit, phase=Phase.STARTING)


def wait_for_hooks(step: Step, state: LineState) -> Step:
    """The step without the units that a hook holds, which it names instead."""
    units = {unit.ordinal: unit for unit in state.units}
    held = {
        gone.ordinal: Hold.DELETE
        for gone in step.retire
        if gone.cause is not Cause.FAILED and units[gone.ordinal].delete_hold
    }
    held |= {o: Hold.UPDATE for o in step.amend if units[o].update_hold}
    if not held:
        return step
    return replace(
        step,
        retire=tuple(gone for gone in step.retire if gone.ordinal not in held),
        amend=tuple(ordinal for ordinal in step.amend if ordinal not in held),
        held=held,
        blockers=(*step.blockers, _explain(held, units, state)),
    )


def _explain(held: dict[int, Hold], units: dict[int, Instance], state: LineState) -> Blocker:
    first, hold = next(iter(held.items()))
    unit = units[first]
    by = unit.delete_hold if hold is Hold.DELETE else unit.update_hold
    more = f"; {len(held) - 1} more wait" if len(held) > 1 else ""
    done = "deleted" if hold is Hold.DELETE else "updated"
    message = f"{state.noun} {first} is {done} when another client has removed {by}{more}"
    return Blocker(HOOK, message, tuple(held))
