"""
What a failure takes down with it, and when.

A group lives and dies as one engine: when a member has failed, was deleted or has
gone, the whole group is restarted, once for each incarnation of it. Members that
belong to an earlier incarnation are leftovers and start nothing (lws#805). With
``after-start`` a group that is still coming up is left to come up.

A group that failed by itself is recorded before it is taken down, and taken down by a
plan that has read the record, after the wait that the record asks for: so a restart of
the controller forgets no wait, and a crash between both writes costs nothing. A member
that was deleted is no failure of the engine: its group is restarted at once.

A member that was made so that it cannot work takes its group along under any
policy: it has not failed, it was never right.

What has gone is judged by uids, not by catching a deletion, so a member that was
replaced behind our back counts (spec §16.3).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kohort.model.observed import Crash, Failure, Group, Member, Observed
from kohort.model.plans import Restart
from kohort.model.policies import Trigger
from kohort.model.reasons import Blocker
from kohort.model.units import Phase
from kohort.model.workload import Workload
from kohort.planning.failures import (
    find_failure,
    keep_failures,
    record_failure,
    seconds_since,
    wait_seconds,
)


@dataclass(frozen=True, slots=True)
class Recovery:
    """The groups to restart now, those that wait, and what is remembered of failures."""

    restarts: tuple[Restart, ...] = ()
    waits: dict[int, float] = field(default_factory=dict)  # seconds, by ordinal
    failures: tuple[Failure, ...] = ()
    recorded: frozenset[int] = frozenset()  # groups whose failure is new


def plan_recovery(workload: Workload, observed: Observed, now: float) -> Recovery:
    """What to do about failed groups, lowest first."""
    trigger = workload.recovery.trigger
    known = {failure.ordinal: failure for failure in observed.failures}
    restarts, waits, new = [], {}, []
    for group in observed.groups:
        if not group.incarnation or group.phase is Phase.LEAVING:
            continue
        last, crash = find_failure(known, group), find_crash(group, trigger)
        cause = _find_damage(group, trigger)
        if crash is not None and not _is_recorded(last, group, crash, trigger):
            new.append(record_failure(last, group, crash, now))
        elif crash is not None and last is not None:
            wait = wait_seconds(last.count) - seconds_since(last.at, now)
            if wait > 0 and _is_to_replace(group, trigger):
                waits[group.ordinal] = wait
            elif wait <= 0 and must_restart(group, trigger):
                cause = cause or crash.member
        if cause:
            waits.pop(group.ordinal, None)
            restarts.append(Restart(group.ordinal, group.incarnation, cause))
    failures = keep_failures(observed.failures, tuple(new), now)
    return Recovery(tuple(restarts), waits, failures, frozenset(f.ordinal for f in new))


def explain_waits(recovery: Recovery) -> tuple[Blocker, ...]:
    """Which failed groups wait to be made anew, and until when."""
    if not recovery.waits:
        return ()
    ordinal = min(recovery.waits, key=lambda ordinal: (recovery.waits[ordinal], ordinal))
    failure = next(f for f in recovery.failures if f.ordinal == ordinal)
    until = datetime.fromtimestamp(failure.at + wait_seconds(failure.count), UTC)
    others = f", and {len(recovery.waits) - 1} more wait" if len(recovery.waits) > 1 else ""
    message = (
        f"group {ordinal} failed {failure.count} times in a row ({failure.crash}): it is made "
        f"anew at {until:%H:%M:%S} UTC{others}"
    )
    members = (failure.crash.member,)
    return (Blocker("BackingOff", message, tuple(sorted(recovery.waits)), members),)


def find_crash(group: Group, trigger: Trigger) -> Crash | None:
    """
    The failure of a group as it lives now, if it has failed.

    Where groups are not restarted, their containers are, and only a member that
    failed after it was ready counts: engines may restart until others are up.
    """
    failed = next(_failed_members(group, trigger), None)
    return None if failed is None else failed.crash or Crash(failed.name)


def must_restart(group: Group, trigger: Trigger) -> bool:
    """Whether the group as it lives now has failed, and has to be made anew."""
    if trigger is Trigger.NEVER:
        entry = next((m for m in group.members if m.index == 0 and m.is_current), None)
        return entry is not None and entry.has_ended
    return any(True for _ in _failed_members(group, trigger))


def _is_to_replace(group: Group, trigger: Trigger) -> bool:
    """Whether the group or a member of it is to be made anew; a container starts again itself."""
    return must_restart(group, trigger) or any(m.has_ended for m in group.members if m.is_current)


def _failed_members(group: Group, trigger: Trigger) -> Iterator[Member]:
    if trigger is Trigger.AFTER_START and group.is_forming:
        return iter(())
    present = (m for m in group.members if m.is_current and m.phase is not Phase.LEAVING)
    if trigger is Trigger.NEVER:
        return (m for m in present if m.has_ended or (m.was_ready and m.crash is not None))
    return (m for m in present if m.has_restarted or m.has_ended)


def _is_recorded(last: Failure | None, group: Group, crash: Crash, trigger: Trigger) -> bool:
    if last is None or last.incarnation != group.incarnation:
        return False
    return trigger is not Trigger.NEVER or last.crash.ended_at >= crash.ended_at


def _find_damage(group: Group, trigger: Trigger) -> str:
    """A member for which the group is restarted at once: made wrong, deleted or gone."""
    if group.unfit:
        return group.unfit[0]
    if trigger is Trigger.NEVER or (trigger is Trigger.AFTER_START and group.is_forming):
        return ""
    leaving = (m.name for m in group.members if m.is_current and m.phase is Phase.LEAVING)
    return next(iter([*leaving, *group.lost]), "")
