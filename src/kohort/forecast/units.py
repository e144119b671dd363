"""
Modelled units for forecasts: new, ready and terminating, with made-up members.

A unit that is made here has all its members at once, and is ready when its start has lasted as
long as a start is assumed to last. A unit that exists and is broken stays broken, and one that the
caller knows to be stuck stays as it is: only a new unit in its place becomes ready.
"""

from dataclasses import replace
from typing import TypeVar

from kohort.model.observed import Group, Instance, Member, RoleInstances, join_phases
from kohort.model.units import Phase
from kohort.model.workload import Part, Workload

U = TypeVar("U", bound=Instance)


def make_members(unit: Instance, now: float, parts: tuple[Part, ...] = ()) -> tuple[Member, ...]:
    """The members of a unit, all in the phase of the unit."""
    names = [part.name for part in parts for _ in range(part.size)]
    since = now if unit.phase is Phase.READY else None
    return tuple(
        Member(
            name=f"{unit.incarnation}-{index}",
            uid=f"{unit.incarnation}-{index}" if index else unit.incarnation,
            index=index,
            revision=unit.revision,
            phase=unit.phase,
            is_placed=True,
            ready_since=since,
            part=names[index] if index < len(names) else "",
        )
        for index in range(unit.size)
    )


def make_ready(unit: U, now: float, parts: tuple[Part, ...] = ()) -> U:
    """The unit with all its members ready from now on."""
    ready = replace(
        unit,
        phase=Phase.READY,
        lost=(),
        unfit=(),
        is_whole=True,
        is_uncounted=False,
        is_abandoned=False,
        has_served=True,
        wakes_at=None,
    )
    return replace(ready, members=make_members(ready, now, parts))


def make_leaving(unit: U) -> U:
    """The unit as terminating."""
    members = tuple(replace(member, phase=Phase.LEAVING) for member in unit.members)
    return replace(unit, phase=Phase.LEAVING, members=members)


def join_roles(group: Group, roles: tuple[RoleInstances, ...], workload: Workload) -> Group:
    """The group with other instances: its phase, members and revision follow from them."""
    instances = [instance for role in roles for instance in role.instances]
    return replace(
        group,
        roles=roles,
        members=tuple(member for instance in instances for member in instance.members),
        lost=tuple(name for instance in instances for name in instance.lost),
        unfit=tuple(name for instance in instances for name in instance.unfit),
        phase=Phase.LEAVING if group.phase is Phase.LEAVING else join_phases(roles),
        revision=_find_revision(group, roles, workload),
        is_settled=False,
    )


def _find_revision(group: Group, roles: tuple[RoleInstances, ...], workload: Workload) -> str:
    """The revision of a group whose roles roll alone: the target if all instances have theirs."""
    if workload.has_rollout:
        return group.revision
    if all(role.is_updated for role in roles):
        return workload.revision
    return "" if group.revision == workload.revision else group.revision
