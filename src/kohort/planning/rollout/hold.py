"""
A rollout holds while units of the new revision crash after they were ready.

When a unit of the target revision fails after it was ready, the operator lowers no boundary,
takes no released unit down and gives no surge back, until it trusts that unit again: when the unit
has been ready for as long as its next backoff would be. So one accident costs ten seconds, and an
image that crashes again and again never gets past the units that it had when it first crashed.
The same holds while such a unit was ready and is not, unless a hook prepares the unit to go: that
unit is not ready because the operator asked for it.

Only units of the target revision hold a rollout, so a new target or an undo ends the hold. A hold
does not stop other changes of the user (more units, fewer, a higher partition).
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
    """A unit of the target revision that failed after it was ready, and holds the rollout."""

    ordinal: int
    failure: Failure | None = None  # None: the unit became unready without a crash
    wait: float | None = None  # seconds that the unit must stay ready; None: it is not ready


def find_untrusted(state: LineState, now: float) -> tuple[UntrustedUnit, ...]:
    """The units that hold the rollout, lowest first."""
    progress = state.progress
    if progress is None or progress.target != state.target or not state.may_roll:
        return ()
    return tuple(_list_untrusted(state, progress, now))


def find_trust_waits(state: LineState, now: float) -> Iterator[float]:
    """Seconds that each failed unit must stay ready until the operator trusts it again."""
    failures = _list_failures(state)
    for group in state.units:
        for failure in _find_failures(state, failures, group):
            since = group.ready_since
            wait = 0.0 if since is None else _find_wait(state, failure, since, now)
            if wait > 0:
                yield wait


def hold_policy(
    policy: RolloutPolicy, progress: Progress | None, untrusted: tuple[UntrustedUnit, ...]
) -> RolloutPolicy:
    """The policy while the rollout holds: the partition protects all units not yet released."""
    if not untrusted or progress is None:
        return policy
    return replace(policy, partition=max(policy.partition, progress.boundary))


def hold_rollout(
    rollout: Rollout,
    progress: Progress | None,
    policy: RolloutPolicy,
    untrusted: tuple[UntrustedUnit, ...],
) -> Rollout:
    """The step while the rollout holds: surge stays, and no old unit is taken down."""
    if not untrusted or progress is None:
        return rollout
    most = min(progress.count, policy.wanted + policy.surge)
    return replace(rollout, count=max(rollout.count, most), replace=())


def shrink_line(rollout: Rollout, units: tuple[Unit, ...], policy: RolloutPolicy) -> Rollout:
    """
    The step with fewer units, where the user lowers the count of a line with ``Reach.ANY``.

    There every old unit counts as released, so the strategy has no budget left for units beyond
    the count while the line rolls, and a hold forbids to replace old ones. They go as surplus
    instead, as long as enough other units stay ready.
    """
    staying = [unit for unit in units if unit.ordinal < rollout.count]
    available = {unit.ordinal for unit in staying if unit.is_available} - {*rollout.replace}
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
    """Why the rollout holds; a repeated rollout recreates edited units of the same revision."""
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
    failures = _list_failures(state, state.target)
    groups = {group.ordinal: group for group in state.units}
    # Only groups that exist or have failed: a spec may ask for millions that do neither.
    for ordinal in sorted(o for o in {*groups, *failures} if o < progress.count):
        group = groups.get(ordinal)
        if group is None or group.phase is Phase.LEAVING:
            recent = [f for f in failures.get(ordinal, ()) if is_recent(f, state.backoff, now)]
            if recent and ordinal >= progress.boundary:
                yield UntrustedUnit(ordinal, recent[0])
        elif group.revision == state.target and (group.has_failed or not group.is_preparing):
            yield from _distrust(state, group, _find_failures(state, failures, group), now)


def _list_failures(state: LineState, revision: str = "") -> dict[int, list[Failure]]:
    """The failures of each unit and of the instances in it; of one revision, if one is named."""
    found: dict[int, list[Failure]] = {}
    for failure in (*state.failures, *state.inner_failures):
        if revision in ("", failure.revision):
            found.setdefault(failure.ordinal, []).append(failure)
    return found


def _find_failures(
    state: LineState, failures: dict[int, list[Failure]], group: Instance
) -> list[Failure]:
    """The failures of a unit that still count for its present incarnation."""
    held = failures.get(group.ordinal, ())
    return [f for f in held if find_failure({group.ordinal: f}, group, state.backoff)]


def _distrust(
    state: LineState, group: Instance, failures: list[Failure], now: float
) -> Iterator[UntrustedUnit]:
    since = group.ready_since
    last = max(failures, key=lambda failure: (failure.count, failure.at), default=None)
    has_failed = must_restart(group, state.recovery, last)
    if has_failed or (last is not None and since is None) or _has_broken(group):
        yield UntrustedUnit(group.ordinal, last)
    elif last is not None and since is not None:
        wait = _find_wait(state, last, since, now)
        if wait > 0:
            yield UntrustedUnit(group.ordinal, last, wait)


def _find_wait(state: LineState, failure: Failure, since: float, now: float) -> float:
    """Seconds that a failed unit must stay ready until the operator trusts it again."""
    return trust_seconds(failure.count, state.backoff) - seconds_since(since, now)


def _has_broken(group: Instance) -> bool:
    """Whether a member was ready and is not; a deleted member does not count."""
    if group.phase is Phase.READY:
        return False
    present = (m for m in group.members if m.is_current and m.phase is not Phase.LEAVING)
    return any(member.was_ready for member in present)
