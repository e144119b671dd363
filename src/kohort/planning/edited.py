"""
Groups that another client edited, or that were made from a template which it edited.

The boundary stands where the last rollout left it, mostly at 0, so all edited groups would
count as released, although no plan has released them. This module releases them as in any
rollout, from the highest ordinal and as the budget allows. It raises the boundary above the
first group that the budget does not allow, since the carrier may act on the boundary by itself.
Where the operator makes units one by one, the boundary stays: nothing is released by it, and a
raised one would make missing units from the old revision.
"""

from dataclasses import replace

from kohort.model.observed import Instance
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Reach, Unit
from kohort.planning.lines import LineState


def spare_edited(
    rollout: Rollout, state: LineState, units: tuple[Unit, ...], policy: RolloutPolicy
) -> Rollout:
    """The step, with no more edited groups replaced than the budget allows."""
    serving = {unit.ordinal for unit in units if unit.is_ready}
    edited = {g.ordinal for g in state.units if g.is_edited and g.ordinal in serving}
    if not edited:
        return rollout
    # Unlike in a rollout (``budgeted``), the release of a group that is ready but not available yet
    # costs nothing: only available groups are counted below, on both sides. Once nothing of the
    # budget is left, it is not released either.
    counted = {unit.ordinal for unit in units if unit.is_available}
    given_up = {g.ordinal for g in state.units if _is_given_up(g, rollout, state)}
    left = len(counted - given_up) - policy.ready_min
    boundary = rollout.boundary
    for ordinal in sorted(edited, reverse=True):
        if boundary <= ordinal < rollout.count:
            if left <= 0:
                boundary = ordinal + 1
                break
            left -= ordinal in counted
    kept = tuple(i for i in rollout.replace if i not in edited or i >= boundary)
    if state.reach is Reach.ANY:
        boundary = rollout.boundary
    return replace(rollout, boundary=boundary, replace=kept)


def _is_given_up(group: Instance, rollout: Rollout, state: LineState) -> bool:
    """Whether this step or an earlier one releases this group for a reason other than an edit."""
    if group.ordinal >= rollout.count:
        return True
    progress = state.progress
    if group.is_edited or progress is None or progress.target == group.revision:
        return False
    if state.reach is Reach.ANY:
        return group.ordinal in rollout.replace
    return group.ordinal >= progress.boundary
