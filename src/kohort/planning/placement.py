"""
Gangs: which members of each group the scheduler places together, or not at all.

No member may be in one gang with members that the operator makes only when it runs: such a gang
would wait for ever. So where other members wait for the entry, the entry is a gang of its own,
and parts of an instance that start after others are in no gang (P2). A gang counts the members
of its group's own revision (P3), and is placed as soon as one member has a node: from then on
its constraint stays (P5). These are promises of `docs/promises.md`.
"""

from kohort.model.observed import Group, Observed
from kohort.model.placement import Gang
from kohort.model.policies import Startup
from kohort.model.units import Phase
from kohort.model.workload import Workload
from kohort.planning.parts import count_first_members
from kohort.planning.startup import find_waiting_roles


def plan_gangs(workload: Workload, observed: Observed) -> tuple[Gang, ...]:
    """One gang for each group that has an entry and is not leaving, lowest ordinal first."""
    return tuple(_make_gang(workload, group) for group in observed.groups if _lives(group))


def _lives(group: Group) -> bool:
    return bool(group.incarnation) and group.phase is not Phase.LEAVING


def _find_minimum(workload: Workload, group: Group) -> int:
    """How many members the scheduler must place together, or none of them."""
    if not group.roles:
        return group.size
    mins = {role.name: role.gang_min for role in workload.roles}
    sizes = {role.name: count_first_members(role) for role in workload.roles}
    found, waiting = 0, find_waiting_roles(workload, group)
    for held in group.roles:
        if held.role in waiting:
            continue
        least = mins.get(held.role)
        found += sizes.get(held.role, 1) * (held.wanted if least is None else least)
    return found


def _make_gang(workload: Workload, group: Group) -> Gang:
    is_together = workload.startup is Startup.TOGETHER
    return Gang(
        ordinal=group.ordinal,
        incarnation=group.incarnation,
        revision=group.revision,
        size=group.size,
        minimum=_find_minimum(workload, group) if is_together else 1,
        is_placed=any(member.is_placed for member in group.members if member.is_current),
        pack=workload.placement.pack,
    )
