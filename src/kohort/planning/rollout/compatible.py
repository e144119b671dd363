"""
The rollout of the upstream LeaderWorkerSet controller, value for value.

Boundary and count are what upstream would write as partition and replicas in
the same state, its known weaknesses included: it counts surge slots, not ready
surge units, so some rollouts serve with fewer units than maxUnavailable promises. It is
here for users who depend on the exact steps; ``budgeted`` is the default.

Where the user sets minReadySeconds, a unit that is ready but not yet available is not done,
and counts against the budget; without minReadySeconds, ready and available are the same.
"""

from collections.abc import Sequence

from kohort.model.observed import Progress
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Unit
from kohort.planning.rollout.units import Roster, count_while_rolling, spent


def plan_compatible(
    units: Sequence[Unit], progress: Progress | None, target: str, policy: RolloutPolicy
) -> Rollout:
    """One step, as the upstream LeaderWorkerSet controller takes it."""
    if progress is None:
        return Rollout(policy.partition, policy.wanted)
    roster = Roster(units, target)
    boundary, count = _compute(roster, progress, target, policy)
    boundary = max(boundary, policy.partition)
    return Rollout(boundary, count, spent(roster, progress, target))


def _compute(
    roster: Roster, progress: Progress, target: str, policy: RolloutPolicy
) -> tuple[int, int]:
    wanted, count, boundary = policy.wanted, progress.count, progress.boundary
    if progress.target != target:
        if count < wanted:
            return min(wanted, count), wanted
        return min(wanted, count), count_while_rolling(policy, wanted)
    if boundary == 0 and count == wanted:
        return 0, wanted
    if count < wanted:
        return boundary, wanted
    unready = wanted - roster.count_done(min(count, wanted))
    if progress.noted != wanted:
        most = wanted + policy.surge
        return min(boundary, most), count_while_rolling(policy, unready)
    moved = min(_window(roster, count, policy), boundary)
    return moved, count_while_rolling(policy, unready)


def _window(roster: Roster, count: int, policy: RolloutPolicy) -> int:
    """How far down the boundary may go: a window of the budget above the finished tail."""
    reclaimed = policy.wanted + policy.surge - count
    step = policy.max_unavailable + policy.surge - reclaimed
    tail = 0
    while tail < count and roster.is_done(count - 1 - tail):
        tail += 1
    base = max(0, count - tail - step)
    # Unavailable units below the window count against the budget.
    boundary = base + base - roster.count_available(base)
    ordinal = min(boundary, count - 1)
    while ordinal >= base and (not roster.is_ready(ordinal) or roster.is_updated(ordinal)):
        boundary = ordinal
        ordinal -= 1
    return boundary
