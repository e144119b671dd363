"""
A rollout holds while the new revision does not last.

When a unit of the target revision fails after it was ready, no boundary is lowered, nothing
that was released is taken down and no surge is given back, until that unit is trusted again:
ready for as long as its next wait would be. So one accident costs ten seconds, and an image that
crashes again and again never gets past the units that it had when it first crashed. The same
holds while such a unit was ready and is not.

Only units of the target revision hold a rollout, so a new target or an undo ends it. What the user
asks for beside the rollout (more units, fewer, a higher partition) is not held.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kohort.model.observed import Failure, Instance, Progress
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.reasons import Blocker
from kohort.model.units import Phase, Unit
from kohort.planning.failures import find_failure, is_recent, seconds_since, trust_seconds
from kohort.planning.lines import LineState
from kohort.planning.recovery import must_restart


@dataclass(frozen=True, slots=True)
class UntrustedUnit:
    """A unit of the target revision that is not trusted."""

    ordinal: int
    failure: Failure | None = None  # None: it was ready and is not, and nothing has crashed
    wait: float | None = None  # seconds that it has still to be ready; None: it is not ready


def find_untrusted(state: LineState, now: float) -> tuple[UntrustedUnit, ...]:
    """The units that hold the rollout, lowest first."""
    progress = state.progress
    if progress is None or progress.target != state.target or not state.may_roll:
        return ()
    return tuple(_list_untrusted(state, progress, now))


def find_trust_waits(state: LineState, now: float) -> Iterator[float]:
    """How long units that failed have still to be ready before that is forgotten."""
    failures = {failure.ordinal: failure for failure in state.failures}
    for group in state.units:
        failure, since = find_failure(failures, group, state.backoff), group.ready_since
        if failure is not None and since is not None:
            wait = trust_seconds(failure.count, state.backoff) - seconds_since(since, now)
            if wait > 0:
                yield wait


def hold_policy(
    policy: RolloutPolicy, progress: Progress | None, untrusted: tuple[UntrustedUnit, ...]
) -> RolloutPolicy:
    """The policy while the rollout holds: what has not been released is out of bounds."""
    if not untrusted or progress is None:
        return policy
    return replace(policy, partition=max(policy.partition, progress.boundary))


def hold_rollout(
    rollout: Rollout,
    progress: Progress | None,
    policy: RolloutPolicy,
    untrusted: tuple[UntrustedUnit, ...],
) -> Rollout:
    """The step while the rollout holds: surge stays, and nothing old is taken down."""
    if not untrusted or progress is None:
        return rollout
    most = min(progress.count, policy.wanted + policy.surge)
    return replace(rollout, count=max(rollout.count, most), replace=())


def shrink_held(rollout: Rollout, units: tuple[Unit, ...], policy: RolloutPolicy) -> Rollout:
    """
    The step of a held line with fewer units, where the user asks for fewer.

    Where what exists is all that is remembered, old units beyond the count would go because they
    are old, and a hold keeps those. So they go as what is too many, as far as the rest serves.
    """
    available = {unit.ordinal for unit in units if unit.is_available}
    ready = {unit.ordinal for unit in units if unit.is_ready}
    count = rollout.count
    while count > policy.wanted + policy.surge:
        left = available - {count - 1}
        if count - 1 in ready and len(left) < policy.ready_min:
            break
        available, count = left, count - 1
    return replace(rollout, count=count)


def explain_hold(
    untrusted: tuple[UntrustedUnit, ...], state: LineState, *, is_repeated: bool
) -> Blocker:
    """Why the rollout stands still; a repeated one makes units anew on their revision."""
    first, noun = untrusted[0], state.noun
    failure, name = first.failure, state.name_unit(untrusted[0].ordinal)
    which = ", which was made anew," if is_repeated else " of the new revision"
    if failure is None:
        cause = f"{name}{which} has failed or is ready no more"
        end = f"it goes on when the {noun} is ready again"
    else:
        times = "" if failure.count == 1 else f" {failure.count} times in a row"
        cause = f"{name}{which} failed{times} ({failure.crash})"
        seconds = f"{trust_seconds(failure.count, state.backoff):g}"
        end = f"it goes on when the {noun} has been ready for {seconds} seconds"
    others = f", and {len(untrusted) - 1} more" if len(untrusted) > 1 else ""
    return Blocker(
        reason="HoldingOnRestarts",
        message=f"the rollout holds: {cause}{others}; {end}",
        ordinals=tuple(unit.ordinal for unit in untrusted),
        members=() if failure is None else (failure.crash.member,),
    )


def _list_untrusted(state: LineState, progress: Progress, now: float) -> Iterator[UntrustedUnit]:
    failures = {f.ordinal: f for f in state.failures if f.revision == state.target}
    groups = {group.ordinal: group for group in state.units}
    # Only groups that exist or have failed: a workload may ask for millions that do neither.
    for ordinal in sorted(o for o in {*groups, *failures} if o < progress.count):
        group = groups.get(ordinal)
        if group is None or group.phase is Phase.LEAVING:
            failure = failures.get(ordinal)
            if failure and ordinal >= progress.boundary and is_recent(failure, state.backoff, now):
                yield UntrustedUnit(ordinal, failure)
        elif group.revision == state.target:
            failure = find_failure(failures, group, state.backoff)
            yield from _distrust(state, group, failure, now)


def _distrust(
    state: LineState, group: Instance, failure: Failure | None, now: float
) -> Iterator[UntrustedUnit]:
    since, has_failed = group.ready_since, must_restart(group, state.recovery, failure)
    if has_failed or (failure is not None and since is None) or _has_broken(group):
        yield UntrustedUnit(group.ordinal, failure)
    elif failure is not None and since is not None:
        wait = trust_seconds(failure.count, state.backoff) - seconds_since(since, now)
        if wait > 0:
            yield UntrustedUnit(group.ordinal, failure, wait)


def _has_broken(group: Instance) -> bool:
    """Whether a member was ready and is not; one that was deleted has not broken."""
    if group.phase is Phase.READY:
        return False
    present = (m for m in group.members if m.is_current and m.phase is not Phase.LEAVING)
    return any(member.was_ready for member in present)
