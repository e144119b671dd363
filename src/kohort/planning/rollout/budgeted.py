"""
The rollout that never breaks its budget.

The budget is the number of available units, surge included, less the units that an earlier
step has already released, less the units that must stay available. The boundary goes down one
ordinal at a time where the carrier takes a boundary; where the operator makes units one by one it
starts at the partition, and the budget says how many old units above it go. Releasing a unit costs
one if it is ready on another revision, and nothing otherwise: a broken old unit serves no traffic
and never holds a rollout up (lws#567).
A unit that is ready but not available yet adds nothing to the budget and costs one all the
same: were it free, the rollout would take down a whole set that has just started. The rollout
gives surge back only when every wanted unit has been replaced, and only while enough units
stay available.

It begins with as many units as the upstream controller does, so that clients which watch
the count see the numbers that they know.
"""

from collections.abc import Sequence
from itertools import islice

from kohort.model.observed import Progress
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.reasons import Blocker, count
from kohort.model.units import Unit
from kohort.planning.rollout.units import Roster, count_while_rolling, spent

NAMED_MAX = 1_000  # groups that a blocker names; it counts all


def plan_budgeted(
    units: Sequence[Unit], progress: Progress | None, target: str, policy: RolloutPolicy
) -> Rollout:
    """One step that leaves enough units available, whatever has failed meanwhile."""
    roster = Roster(units, target)
    if progress is None:
        return _begin(roster, policy)
    rolling = count_while_rolling(policy, policy.wanted)
    if progress.target != target:
        shelter = _shelter(roster, progress, policy, rolling)
        count = rolling if progress.count >= policy.wanted else policy.wanted
        # The user may lower the count at the same time: units that must stay ready stay.
        return Rollout(max(shelter, policy.partition), max(count, shelter))
    if progress.count < policy.wanted:
        return Rollout(max(progress.boundary, policy.partition), policy.wanted)
    step = _Step(roster, progress, policy)
    boundary = step.lower_boundary()
    count = step.settle_count(boundary, rolling)
    blocker = step.explain(boundary, target)
    released = step.affordable(spent(roster, progress, target))
    return Rollout(boundary, count, (*released, *step.find_free()), blocker)


def _begin(roster: Roster, policy: RolloutPolicy) -> Rollout:
    """
    The first step, which protects units that exist although their carrier does not.

    Another client has deleted the carrier without its units. A new carrier knows one template and
    replaces units of any other by itself, so it releases none before a later step has judged them.
    """
    end = roster.find_end()
    if end == 0:
        return Rollout(policy.partition, policy.wanted)
    count = max(policy.wanted, min(end, policy.wanted + policy.surge))
    return Rollout(max(policy.partition, count), count)


def _shelter(roster: Roster, progress: Progress, policy: RolloutPolicy, rolling: int) -> int:
    """
    The boundary for a new target: the wanted count, or above the surge that must stay ready.

    A surge unit may go if it is old, or if its ordinal is beyond the new count.
    """
    boundary = progress.count
    left = len(roster.available()) - policy.ready_min
    while boundary > policy.wanted:
        is_doomed = boundary > rolling or roster.is_stale(boundary - 1)
        serves = roster.is_ready(boundary - 1) and is_doomed
        if serves and left <= 0:
            break
        left -= serves
        boundary -= 1
    return boundary


class _Step:
    """One pass over the budget; ``left`` is how many available units may still go."""

    def __init__(self, roster: Roster, progress: Progress, policy: RolloutPolicy) -> None:
        self._roster = roster
        self._progress = progress
        self._policy = policy
        available = roster.available()
        released = sum(self._is_released(ordinal) for ordinal in available)
        self.left = len(available) - released - policy.ready_min

    def _is_released(self, ordinal: int) -> bool:
        """Whether an earlier step has already released this unit to be replaced."""
        progress = self._progress
        if ordinal >= progress.count:
            return True
        return ordinal >= progress.boundary and self._roster.is_stale(ordinal)

    def affordable(self, released: tuple[int, ...]) -> tuple[int, ...]:
        """
        The released units that may go now.

        Another unit may have failed after the step that released them: then released units
        which still run stay and serve in its place.
        """
        spare = len(self._roster.available()) - self._policy.ready_min
        serving = [ordinal for ordinal in released if self._roster.is_ready(ordinal)]
        kept = set(serving[max(0, spare) :])
        return tuple(ordinal for ordinal in released if ordinal not in kept)

    def find_free(self) -> tuple[int, ...]:
        """
        Stale units below the boundary that are not ready and may be replaced at once.

        After a rollback to the revision before the rollout the carrier makes every missing unit
        from the target, wherever the boundary stands. Without this, one old unit that never
        becomes ready would use up the budget, and ready units above it could not go first.
        """
        progress = self._progress
        if not progress.is_base or not progress.is_seen:
            return ()
        stale = reversed(self._roster.stale(self._policy.partition, progress.boundary))
        return tuple(ordinal for ordinal in stale if not self._roster.is_ready(ordinal))

    def lower_boundary(self) -> int:
        """The boundary, as low as the budget and the user's partition allow."""
        boundary = min(self._progress.boundary, self._progress.count)
        partition = self._policy.partition
        for ordinal in reversed(self._roster.stale(partition, boundary)):
            if not self._roster.is_ready(ordinal):
                continue
            if self.left <= 0:
                return ordinal + 1
            self.left -= 1
        return partition

    def settle_count(self, boundary: int, rolling: int) -> int:
        """
        The number of units: ``rolling`` until every wanted unit is replaced, then no surge.

        While no unit is old but some are missing, the count keeps its surge, since the rollout
        may just have taken the missing units down, and gets no more, since they may have failed.
        """
        policy, count = self._policy, self._progress.count
        is_rolled = boundary <= policy.partition and not self._roster.stale(
            policy.partition, policy.wanted
        )
        missing = any(
            not self._roster.is_updated(i) for i in range(policy.partition, policy.wanted)
        )
        wanted = rolling
        if is_rolled:
            wanted = max(policy.wanted, min(count, rolling)) if missing else policy.wanted
        while count > wanted:
            # The cache may be stale, so surge that seems broken stays too while too few are ready.
            serves = self._roster.is_ready(count - 1) and not self._is_released(count - 1)
            if serves > self.left:
                break
            self.left -= serves
            count -= 1
        return max(count, wanted)

    def explain(self, boundary: int, target: str) -> Blocker | None:
        """Why the boundary does not go down in this step; None if it does."""
        policy = self._policy
        stale = self._roster.stale(policy.partition, policy.wanted)
        released = tuple(reversed(self._roster.stale(self._progress.boundary, policy.wanted)))
        is_held = self.affordable(released) != released
        is_still = boundary >= self._progress.boundary and bool(stale) and boundary > stale[0]
        if not is_still and not is_held:
            return None
        roster, total = self._roster, self._progress.count
        missing = (i for i in range(total) if not roster.is_available(i))
        waiting = tuple(islice(missing, NAMED_MAX))
        settling = roster.count_settling(total)
        unready = total - roster.count_available(total) - settling
        parts = []
        noun = policy.level.value
        if unready:
            parts.append(f"{count(unready, f'{noun} is', f'{noun}s are')} not ready")
        if settling:
            those = count(settling, f"{noun} is", f"{noun}s are")
            parts.append(f"{those} ready for too short a time")
        parts.append(f"maxUnavailable is {policy.max_unavailable}")
        are = ", ".join(parts[:-1]) + (" and " if parts[1:] else "") + parts[-1]
        is_repeated = all(roster.is_edited(ordinal) for ordinal in stale)
        goal = "to be made anew" if is_repeated else "for the new revision"
        return Blocker(
            reason="WaitingForReady",
            message=(f"{len(stale)} of {policy.wanted} {noun}s wait {goal}: {are}"),
            ordinals=waiting,
        )
