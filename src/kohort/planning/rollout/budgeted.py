"""
The rollout that never breaks its budget.

The budget is counted in units that are available at this moment, surge included: those
that are counted on, less those that an earlier step has already released, less those that
must keep serving. The boundary goes down one ordinal at a time, and each step
costs one if the unit there serves on another revision, and nothing otherwise: a
broken old unit serves nobody and never holds a rollout up (lws#567). A unit that serves but
is not counted on yet earns nothing and costs one all the same: were it free, a set that has
just started would be taken down whole. Surge is
given back only when every wanted unit has been replaced, and only as far as the
rest keeps the promise.

It begins with as many units as upstream does, so that clients who watch the
count see what they know.
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
    """One step that leaves enough units serving, whatever has failed meanwhile."""
    if progress is None:
        return Rollout(policy.partition, policy.wanted)
    roster = Roster(units, target)
    rolling = count_while_rolling(policy, policy.wanted)
    if progress.target != target:
        shelter = _shelter(roster, progress, policy, rolling)
        count = rolling if progress.count >= policy.wanted else policy.wanted
        # Fewer may be wanted at the same time: what has to serve until then stays.
        return Rollout(max(shelter, policy.partition), max(count, shelter))
    if progress.count < policy.wanted:
        return Rollout(max(progress.boundary, policy.partition), policy.wanted)
    step = _Step(roster, progress, policy)
    boundary = step.lower_boundary()
    count = step.settle_count(boundary, rolling)
    blocker = step.explain(boundary, target)
    released = step.affordable(spent(roster, progress, target))
    return Rollout(boundary, count, (*released, *step.find_free()), blocker)


def _shelter(roster: Roster, progress: Progress, policy: RolloutPolicy, rolling: int) -> int:
    """
    Where a new target begins: at the wanted units, or above as much surge as has to serve.

    Surge is given up if it is old, or if there are more units than there may be from now on.
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
    """One pass over the budget; ``left`` is what may still be spent."""

    def __init__(self, roster: Roster, progress: Progress, policy: RolloutPolicy) -> None:
        self._roster = roster
        self._progress = progress
        self._policy = policy
        available = roster.available()
        released = sum(self._is_released(ordinal) for ordinal in available)
        self.left = len(available) - released - policy.ready_min

    def _is_released(self, ordinal: int) -> bool:
        """Whether an earlier step has given this unit up already."""
        progress = self._progress
        if ordinal >= progress.count:
            return True
        return ordinal >= progress.boundary and self._roster.is_stale(ordinal)

    def affordable(self, released: tuple[int, ...]) -> tuple[int, ...]:
        """
        Those of the released units that may go now.

        A unit may be lost after a step was decided: then those that the step has released
        serve instead of it, as long as nobody has taken them down.
        """
        free = len(self._roster.available()) - self._policy.ready_min
        serving = [ordinal for ordinal in released if self._roster.is_ready(ordinal)]
        kept = set(serving[max(0, free) :])
        return tuple(ordinal for ordinal in released if ordinal not in kept)

    def find_free(self) -> tuple[int, ...]:
        """
        Stale units that hold the boundary up, and that may be replaced at once.

        They do not serve, and after going back to where a rollout began they are made from
        the target wherever the boundary stands. Without this, one that never serves takes the
        whole budget, and those above it, which serve, could not go first.
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
        The number of units: all surge until every wanted unit is replaced, then none.

        While none is old any more but some are missing, surge is neither given back, since
        the rollout may just have taken them down, nor added, since they may just have failed.
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
            # A view may be old, so surge that seems broken is kept too while too few serve.
            serves = self._roster.is_ready(count - 1) and not self._is_released(count - 1)
            if serves > self.left:
                break
            self.left -= serves
            count -= 1
        return max(count, wanted)

    def explain(self, boundary: int, target: str) -> Blocker | None:
        """Why the boundary stands where it stands, if it stands still."""
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
