"""
Gangs: which members of each group the scheduler places together, or not at all.

This is for groups without roles. Where there are roles, the plan has no gangs and the API counts
the members: one API those that its plan makes, another those that its spec demands (see "a gang's
minimum computed" in ARCHITECTURE.md).

No member may be in one gang with members that the operator makes only when it runs: such a gang
would wait for ever. So where other members wait for the entry, the entry is a gang of its own
(P2). A gang counts the members of its group's own revision (P3), and is placed as soon as one
member has a node: from then on its constraint stays (P5). These are promises of `docs/promises.md`.
"""

from kohort.model.observed import Group, Observed
from kohort.model.placement import Gang
from kohort.model.policies import Startup
from kohort.model.units import Phase
from kohort.model.workload import Workload


def plan_gangs(workload: Workload, observed: Observed) -> tuple[Gang, ...]:
    """One gang for each group without roles that has an entry and stays, lowest ordinal first."""
    return tuple(_make_gang(workload, group) for group in observed.groups if _lives(group))


def _lives(group: Group) -> bool:
    return bool(group.incarnation) and group.phase is not Phase.LEAVING and not group.roles


def _make_gang(workload: Workload, group: Group) -> Gang:
    is_together = workload.startup is Startup.TOGETHER
    return Gang(
        ordinal=group.ordinal,
        incarnation=group.incarnation,
        revision=group.revision,
        size=group.size,
        minimum=group.size if is_together else 1,
        is_placed=any(member.is_placed for member in group.members if member.is_current),
        pack=workload.placement.pack,
    )
