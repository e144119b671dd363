"""
What a failure takes down with it.

A group lives and dies as one engine: when a member has failed, was deleted or has
gone, the whole group is restarted, once for each incarnation of it. Members that
belong to an earlier incarnation are leftovers and start nothing (lws#805). With
``after-start`` a group that is still coming up is left to come up.

A member that was made so that it cannot work takes its group along under any
policy: it has not failed, it was never right.

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
    return tuple(_restarts(workload, observed))


def _restarts(workload: Workload, observed: Observed) -> Iterator[Restart]:
    trigger = workload.recovery.trigger
    for group in observed.groups:
        cause = _find_cause(group, trigger)
        if cause and group.incarnation and group.phase is not Phase.LEAVING:
            yield Restart(group.ordinal, group.incarnation, cause)


def _find_cause(group: Group, trigger: Trigger) -> str:
    if group.unfit:
        return group.unfit[0]
    if trigger is Trigger.NEVER or (trigger is Trigger.AFTER_START and group.is_forming):
        return ""
    failed = [member.name for member in group.members if _has_failed(member)]
    return next(iter([*failed, *group.lost]), "")


def _has_failed(member: Member) -> bool:
    return member.is_current and (member.phase is Phase.LEAVING or member.has_restarted)
