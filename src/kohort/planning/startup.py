"""Who may start now: all members of a group at once, or its entry first."""

from kohort.model.observed import Group, Observed
from kohort.model.policies import Startup
from kohort.model.units import Phase
from kohort.model.workload import Workload


def plan_startup(workload: Workload, observed: Observed) -> frozenset[int]:
    """The groups that may have all of their members."""
    return frozenset(g.ordinal for g in observed.groups if _may_complete(workload, g))


def _may_complete(workload: Workload, group: Group) -> bool:
    if not group.incarnation or group.phase is Phase.LEAVING:
        return False
    if workload.startup is Startup.TOGETHER:
        return True
    entry = next((member for member in group.members if member.index == 0), None)
    return entry is not None and entry.phase is Phase.READY
