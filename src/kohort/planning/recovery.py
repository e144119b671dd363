"""
Which units the operator restarts after a failure, and when.

A unit lives and dies as one engine: when a member has failed, was deleted or has
gone, the operator restarts the whole unit, once for each incarnation of it. Members that
belong to an earlier incarnation are leftovers and cause no restart (lws#805). With
``after-start`` the operator leaves a unit alone that is still coming up, and with ``after-ready``
one that was never ready: the kubelet restarts its containers, and the operator recreates only
members that have ended. A crash from which a member recovered before its unit was ready has no
consequence.

A spared member takes no other pod down; neither does a deleted one, where the policy spares
deleted members. The operator recreates both alone, the entry too. Under such a policy a recorded
failure leads to a restart even if the failed member was deleted meanwhile: that deletion may be
our own restart, interrupted. So the operator deletes members before their entry, whose end is the
end of the incarnation.

The operator records the failure of a unit before it takes the unit down. A later plan, which
reads the record, takes it down after the backoff or the user's grace period, whichever is longer:
so a restart of the operator forgets no wait, and a crash between both writes does no harm. Where
the policy forgives, a member that was ready again since its crash has not failed. A deleted
member is no failure of the engine: the operator restarts its unit at once.

A member that was created wrong, so that it cannot work, takes its unit down under any policy.

The operator compares uids to find members that have gone, and needs no delete event, so it
also notices a member that another client has replaced.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kohort.model.observed import Crash, Failure, Group, Instance, Member
from kohort.model.plans import Restart
from kohort.model.policies import RecoveryPolicy, Trigger
from kohort.model.reasons import Blocker
from kohort.model.units import Phase
from kohort.planning.failures import (
    find_failure,
    keep_failures,
    record_failure,
    seconds_since,
    wait_seconds,
)
from kohort.planning.lines import LineState

_SAME_SECONDS = 2.0  # the kubelet writes the condition this soon after a container ends


@dataclass(frozen=True, slots=True)
class Recovery:
    """The units to restart now, the units that wait, and the failure records to store."""

    restarts: tuple[Restart, ...] = ()
    waits: dict[int, float] = field(default_factory=dict)  # seconds, by ordinal
    failures: tuple[Failure, ...] = ()
    recorded: frozenset[int] = frozenset()  # units whose failure is new


def plan_recovery(state: LineState, now: float) -> Recovery:
    """Which failed units to restart now and which must wait, lowest first."""
    policy = state.recovery
    if policy is None:
        unfit = (u for u in state.units if u.unfit and u.phase is not Phase.LEAVING)
        restarts = [Restart(u.ordinal, u.incarnation, u.unfit[0]) for u in unfit]
        return Recovery(tuple(restarts), failures=state.failures)
    known = {failure.ordinal: failure for failure in state.failures}
    restarts, waits, new = [], {}, []
    for group in state.units:
        is_there = group.incarnation or group.lost
        if not is_there or group.phase is Phase.LEAVING:
            continue
        last = find_failure(known, group, policy.backoff)
        crash = find_crash(group, policy, last)
        cause = _find_damage(group, policy)
        if crash is not None and not _is_recorded(last, group, crash, policy):
            new.append(record_failure(last, group, crash, now, policy.backoff, state.line))
        elif last is not None and (crash is not None or _is_condemned(group, policy, last)):
            wait = _find_wait(last, policy) - seconds_since(last.at, now)
            if wait > 0 and _is_to_replace(group, policy, last):
                waits[group.ordinal] = wait
            elif wait <= 0 and must_restart(group, policy, last):
                cause = cause or (crash or last.crash).member
        if cause:
            waits.pop(group.ordinal, None)
            restarts.append(Restart(group.ordinal, group.incarnation, cause))
    failures = keep_failures(state.failures, tuple(new), now, policy.backoff)
    return Recovery(tuple(restarts), waits, failures, frozenset(f.ordinal for f in new))


def _find_wait(last: Failure, policy: RecoveryPolicy) -> float:
    return max(wait_seconds(last.count, policy.backoff), policy.grace_seconds)


def explain_waits(recovery: Recovery, state: LineState) -> tuple[Blocker, ...]:
    """Which failed units the operator will recreate after a backoff, and when."""
    if not recovery.waits or state.recovery is None:
        return ()
    ordinal = min(recovery.waits, key=lambda ordinal: (recovery.waits[ordinal], ordinal))
    failure = next(f for f in recovery.failures if f.ordinal == ordinal)
    until = datetime.fromtimestamp(failure.at + _find_wait(failure, state.recovery), UTC)
    others = f", and {len(recovery.waits) - 1} more wait" if len(recovery.waits) > 1 else ""
    message = (
        f"{state.name_unit(ordinal)} failed {failure.count} times in a row ({failure.crash}): "
        f"it is made anew at {until:%H:%M:%S} UTC{others}"
    )
    members = (failure.crash.member,)
    return (Blocker("BackingOff", message, tuple(sorted(recovery.waits)), members),)


def find_crash(
    group: Instance, policy: RecoveryPolicy, last: Failure | None = None
) -> Crash | None:
    """
    The failure of a unit's present incarnation, if it has failed.

    With trigger ``never`` the kubelet restarts containers alone, and only a member that failed
    after it was ready counts: an engine may restart until the other members are up.
    """
    if group.is_quiet:
        return None
    failed = next(_failed_members(group, policy, last), None)
    return None if failed is None else failed.crash or Crash(failed.name)


def must_restart(
    group: Instance, policy: RecoveryPolicy | None, last: Failure | None = None
) -> bool:
    """Whether the unit's present incarnation has failed, so that the operator recreates it."""
    if policy is None:
        return False
    if last is not None and _is_condemned(group, policy, last):
        return True
    if group.is_quiet:
        return False
    if policy.trigger is Trigger.NEVER:
        entry = next((m for m in group.members if m.index == 0 and m.is_current), None)
        return entry is not None and entry.has_ended and not _is_renewed_alone(entry, group, policy)
    return any(True for _ in _failed_members(group, policy, last))


def _is_condemned(group: Instance, policy: RecoveryPolicy, last: Failure) -> bool:
    """Whether a recorded failure alone restarts the unit, since the policy spares deletions."""
    if policy.is_forgiving or policy.trigger is Trigger.NEVER or not policy.spares_deleted:
        return False
    return bool(group.incarnation) and last.incarnation == group.incarnation


def find_ended(state: LineState, staying: frozenset[int]) -> tuple[tuple[int, str], ...]:
    """The ended members that the operator recreates without their unit: (ordinal, name)."""
    return tuple(
        (unit.ordinal, member.name)
        for unit in state.units
        if not unit.is_quiet and unit.ordinal in staying and not _has_roles(unit)
        for member in unit.members
        if _has_ended(member) and _is_renewed_alone(member, unit, state.recovery)
    )


def _is_renewed_alone(member: Member, unit: Instance, policy: RecoveryPolicy | None) -> bool:
    """Whether the operator recreates a member alone; a new entry mostly restarts the unit."""
    if member.index > 0 or member.is_spared or policy is None or policy.spares_deleted:
        return True
    return policy.trigger is Trigger.AFTER_READY and not unit.has_served


def _has_roles(unit: Instance) -> bool:
    """Whether the unit is a group with named roles, whose own lines handle their members."""
    return isinstance(unit, Group) and bool(unit.roles)


def _has_ended(member: Member) -> bool:
    return member.has_ended and member.is_current and member.phase is not Phase.LEAVING


def _is_to_replace(group: Instance, policy: RecoveryPolicy, last: Failure | None) -> bool:
    """Whether a pod must be recreated, and not only a container that the kubelet restarts."""
    has_ended = any(m.has_ended for m in group.members if m.is_current)
    return has_ended or must_restart(group, policy, last)


def _is_left_alone(group: Instance, trigger: Trigger) -> bool:
    """Whether the trigger lets no failed or deleted member restart the unit now."""
    if trigger is Trigger.NEVER or (trigger is Trigger.AFTER_START and group.is_forming):
        return True
    return trigger is Trigger.AFTER_READY and not group.has_served


def _failed_members(
    group: Instance, policy: RecoveryPolicy, last: Failure | None
) -> Iterator[Member]:
    present = (m for m in group.members if m.is_current and m.phase is not Phase.LEAVING)
    if policy.trigger is Trigger.NEVER:
        return (m for m in present if m.has_ended or (m.was_ready and m.crash is not None))
    if _is_left_alone(group, policy.trigger):
        return iter(())
    present = (m for m in present if not m.is_spared and not _is_forgiven(m, group, policy, last))
    return (m for m in present if m.has_restarted or m.has_ended)


def _is_forgiven(
    member: Member, group: Instance, policy: RecoveryPolicy, last: Failure | None
) -> bool:
    """
    Whether a member has recovered from its crash, so that the crash causes no restart.

    After the recovery the pods no longer show whether the unit was ready before the crash. Only
    the record does: the operator records no crash before the unit was ready.
    """
    if not member.has_recovered or member.has_ended:
        return False
    if policy.is_forgiving:
        return True
    is_recorded = last is not None and last.incarnation == group.incarnation
    return policy.trigger is Trigger.AFTER_READY and not is_recorded


def _is_recorded(
    last: Failure | None, group: Instance, crash: Crash, policy: RecoveryPolicy
) -> bool:
    if last is None or last.incarnation != group.incarnation:
        return False
    if policy.trigger is Trigger.NEVER or policy.is_forgiving:
        return last.crash.ended_at >= crash.ended_at or not _has_served_since(group, last)
    return True


def _has_served_since(group: Instance, last: Failure) -> bool:
    """Whether the member of the recorded failure has been ready since that failure."""
    failed = next((m for m in group.members if m.name == last.crash.member), None)
    if failed is None or failed.unready_since is None or not last.crash.ended_at:
        return True
    return failed.unready_since > last.crash.ended_at + _SAME_SECONDS


def _find_damage(group: Instance, policy: RecoveryPolicy) -> str:
    """A member that was created wrong, deleted or lost: its unit is restarted at once."""
    if group.is_quiet:
        return ""
    if group.unfit:
        return group.unfit[0]
    if policy.spares_deleted or _is_left_alone(group, policy.trigger):
        return ""
    if isinstance(group, Group) and group.roles:
        return _find_role_damage(group)
    leaving = (m.name for m in group.members if m.is_current and m.phase is Phase.LEAVING)
    spared = {m.name for m in group.members if m.is_spared}
    return next((name for name in [*leaving, *group.lost] if name not in spared), "")


def _find_role_damage(group: Group) -> str:
    """A member deleted or lost from a role that now has too few instances, if there is one."""
    for role in group.roles:
        live = sum(instance.phase is not Phase.LEAVING for instance in role.instances)
        if role.lost and live < role.wanted:
            return role.lost[0]
        for instance in role.instances:
            if instance.phase is Phase.LEAVING and live >= role.wanted:
                continue
            present = (m for m in instance.members if m.is_current and not m.is_spared)
            gone = [m.name for m in present if m.phase is Phase.LEAVING]
            if gone or instance.lost:
                return [*gone, *instance.lost][0]
    return ""
