"""
Groups that hold a rollout up on a revision that was given up.

A rollout goes from the highest ordinal down. Below its boundary the carrier makes groups from the
base, which is the revision before the rollout, so the target reaches a group there only after all
groups above it. One that does not serve may take the whole budget meanwhile, and the groups above
it have to serve on: the template that would mend it waits for it.

Where nothing else has the revision of such a group, the operator makes it anew. The carrier takes
the base, as it does after a failure. The group serves no requests, so that costs nothing, and
the rollout goes on when it serves. It happens once: on the base a group is not abandoned.

This rule makes nothing anew while something else may end the wait: groups of the target
that start, or the restart of a group that has failed.
"""

from collections.abc import Collection
from dataclasses import replace

from kohort.model.observed import Progress
from kohort.model.plans import Rollout
from kohort.model.units import Reach, Unit
from kohort.planning.lines import LineState
from kohort.planning.rollout.units import Roster


def renew_abandoned(
    rollout: Rollout, state: LineState, units: tuple[Unit, ...], failed: Collection[int]
) -> Rollout:
    """The step; if nothing else can move, it replaces the abandoned units below the boundary."""
    progress = state.progress
    found = [unit.ordinal for unit in state.units if unit.is_abandoned]
    if not found or progress is None or not _is_still(rollout, state, progress):
        return rollout
    roster = Roster(units, state.target)
    if not all(roster.is_done(o) for o in range(progress.boundary, progress.count)):
        return rollout
    places = range(state.rollout.partition, progress.boundary)
    gone = sorted((o for o in found if o in places and o not in failed), reverse=True)
    return replace(rollout, replace=tuple(gone))


def _is_still(rollout: Rollout, state: LineState, progress: Progress) -> bool:
    """Whether the carrier has acted on the last step and gets no other one, though it may."""
    is_same = (rollout.boundary, rollout.count) == (progress.boundary, progress.count)
    is_noted = state.reach in (Reach.SUFFIX, Reach.NOTED) and progress.target == state.target
    is_idle = is_same and not rollout.replace and not state.rollout.is_paused
    return is_idle and is_noted and progress.is_seen
