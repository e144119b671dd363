"""
Startup order: all members of a unit at once or its entry first, and which roles may begin.

Roles form a graph: a role begins when all roles that it comes after are ready in its group, and
is updated when all of them are updated and ready, unless a rule orders their updates. The
operator scales and repairs a role that exists whatever happens to the others, so that a short
outage of one role does not freeze the rest. The same holds for a role that lacks something which
the user has to provide: it alone waits.
"""

from dataclasses import replace

from kohort.model.observed import Group, Instance, RoleInstances
from kohort.model.policies import Amendment, Rule, Startup
from kohort.model.reasons import ROLE, Blocker
from kohort.model.units import GROUPS, Line, Phase
from kohort.model.workload import Role, Workload
from kohort.planning.lines import LineState


def plan_startup(state: LineState) -> frozenset[int]:
    """The units of a line whose members may all start now."""
    return frozenset(unit.ordinal for unit in state.units if _may_complete(state, unit))


def _may_complete(state: LineState, unit: Instance) -> bool:
    # An instance of a role may be an object of its own, which exists without any member.
    is_there = unit.incarnation or state.line != GROUPS
    if not is_there or unit.phase is Phase.LEAVING:
        return False
    if state.startup is Startup.TOGETHER:
        return True
    entry = next((member for member in unit.members if member.index == 0), None)
    return entry is not None and entry.phase is Phase.READY


def find_waiting_roles(workload: Workload, group: Group) -> dict[str, Blocker]:
    """The roles of a group that may not begin yet, each with the blocker that names why."""
    held = {role.role: role for role in group.roles}
    found: dict[str, Blocker] = {}
    for role in workload.roles:
        own = held.get(role.name)
        if own is None or own.has_begun:
            continue
        if role.obstacle is not None:
            found[role.name] = replace(role.obstacle, line=Line(group.ordinal, role.name))
            continue
        # No role waits for a role that this group does not have in its own revision.
        missing = [name for name in role.after if name in held and not held[name].is_whole]
        if missing:
            ready, wanted = _count_ready(held[missing[0]]), held[missing[0]].wanted
            found[role.name] = Blocker(
                ROLE,
                f"role {role.name} waits for role {missing[0]}, of which {ready} of {wanted} "
                "instances are ready",
                line=Line(group.ordinal, role.name),
            )
    return found


def find_unsteady(workload: Workload, group: Group) -> dict[str, Blocker]:
    """The roles that must not be updated now, since a role before them is unready or old."""
    held = {role.role: role for role in group.roles}
    old = {role.name for role in workload.roles if _is_behind(role, held.get(role.name))}
    found: dict[str, Blocker] = {}
    for role in workload.roles:
        # A rule that orders updates the other way round decides; both would wait for ever.
        later = {name for rule in workload.rules for name in _list_later(rule, role.name)}
        before = [name for name in role.after if name in held and name not in later]
        unready = [name for name in before if not held[name].is_whole]
        waits = unready or [name for name in before if name in old]
        if role.obstacle is not None:
            found[role.name] = replace(role.obstacle, line=Line(group.ordinal, role.name))
        elif waits and role.name in held:
            awaited = workload.find_role(waits[0])
            end = _say_unready(held[waits[0]]) if unready else _say_old(held[waits[0]], awaited)
            message = f"role {role.name} depends on role {waits[0]}, and is updated when {end}"
            line = Line(group.ordinal, role.name)
            found[role.name] = Blocker(ROLE, message, line=line)
    return found


def _count_ready(held: RoleInstances) -> int:
    if held.tally is not None:
        return held.tally.ready
    return sum(instance.phase is Phase.READY for instance in held.instances)


def _say_unready(held: RoleInstances) -> str:
    return f"that is ready again: {_count_ready(held)} of {held.wanted} of its instances are"


def _say_old(held: RoleInstances, role: Role | None) -> str:
    partition = role.rollout.partition if role and role.rollout else 0
    goal = max(0, held.wanted - partition)
    units = held.list_unprotected(partition)
    updated = sum(unit.revision == held.revision for unit in units)
    if held.tally is not None:
        updated = held.tally.updated if held.tally.is_seen else 0
    return f"that is: {min(updated, goal)} of {goal} of its instances are"


def _list_later(rule: Rule, role: str) -> tuple[str, ...]:
    """The roles that a rule updates after this one."""
    if not rule.is_ordered or role not in rule.roles:
        return ()
    return rule.roles[rule.roles.index(role) + 1 :]


def _is_behind(role: Role, held: RoleInstances | None) -> bool:
    """Whether a role has old instances that its rollout may update."""
    policy = role.rollout
    if held is None or policy is None or policy.is_paused:
        return False
    if held.tally is not None:
        return not held.tally.is_current or held.tally.updated < held.wanted - policy.partition
    return any(
        instance.revision != held.revision
        and (role.amendment is not Amendment.ONLY or instance.may_amend)
        for instance in held.list_unprotected(policy.partition)
    )
