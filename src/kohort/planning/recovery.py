"""
What a failure takes down with it.

A group lives and dies as one engine: when a member has failed, was deleted or has
gone, the whole group is restarted, once for each incarnation of it. Members that
belong to an earlier incarnation are leftovers and start nothing (lws#805). With
``after-start`` a group that is still coming up is left to come up.

What has gone is judged by uids, not by catching a deletion, so a member that was
replaced behind our back counts (spec §16.3).
"""

from collections.abc import Iterator

from kohort.model.observed import Group, Member, Observed
from kohort.model.plans import Restart
from kohort.model.policies import Trigger
from kohort.model.units import Phase
from kohort.model.workload import Workload


def plan_recovery(workload: Workload, observed: Observed) -> tuple[Restart, ...]:
    """The groups to restart now, lowest first."""
    if workload.recovery.trigger is Trigger.NEVER:
        return ()
    return tuple(_restarts(workload, observed))


def _restarts(workload: Workload, observed: Observed) -> Iterator[Restart]:
    patient = workload.recovery.trigger is Trigger.AFTER_START
    for group in observed.groups:
        cause = _find_cause(group)
        if not cause or not group.incarnation or group.phase is Phase.LEAVING:
            continue
        if patient and group.is_forming:
            continue
        yield Restart(group.ordinal, group.incarnation, cause)


def _find_cause(group: Group) -> str:
    failed = [member.name for member in group.members if _has_failed(member)]
    return next(iter([*failed, *group.lost]), "")


def _has_failed(member: Member) -> bool:
    return member.is_current and (member.phase is Phase.LEAVING or member.has_restarted)
