"""
The order of the phases of a plan, and nothing else.

The groups are planned first. Roles of a group that goes, or that waits because it failed, are
not planned; in every other group each role is planned as a line of its own, within the bounds
that rules over its roles set. The same holds for a group that this plan makes: the same rules
decide from its first pod on which instances come first. A settled group costs one comparison.
"""

from collections.abc import Iterator
from dataclasses import replace

from kohort.model.observed import Group, Observed
from kohort.model.plans import Plan, Step
from kohort.model.reasons import OF_CLIENTS, Blocker, count
from kohort.model.units import GROUPS, Line, Phase, Reach
from kohort.model.workload import Workload
from kohort.planning.bounds import NO_BOUNDS, Bounds, plan_bounds
from kohort.planning.lines import LineState, group_line, role_lines
from kohort.planning.placement import plan_gangs
from kohort.planning.scale import count_lost, find_stale, rank_units
from kohort.planning.served import find_served
from kohort.planning.startup import find_unsteady, find_waiting_roles
from kohort.planning.status import plan_report
from kohort.planning.step import plan_step
from kohort.planning.versions import find_deadlines, plan_rollbacks


def plan(workload: Workload, observed: Observed, now: float) -> Plan:
    """What to do about a workload now, what to report, and when to plan again."""
    state = group_line(workload, observed)
    groups = plan_step(state, now)
    steps: dict[Line, Step] = {GROUPS: groups}
    for step in _plan_roles(workload, observed, groups, now):
        steps[step.line] = step
    for step in _plan_new_groups(workload, observed, groups, now):
        steps[step.line] = step
    others = [
        blocker for line, step in steps.items() if line != GROUPS for blocker in step.blockers
    ]
    ranked = _rank_groups(state, observed)
    rollbacks = plan_rollbacks(workload, observed, now)
    causes = tuple(rollback.cause for rollback in rollbacks)
    blockers = (*causes, *groups.blockers, *others, *_find_missing(workload, ranked))
    waits = [s.recheck_seconds for s in steps.values() if s.recheck_seconds is not None]
    moments = (*observed.moments, *find_deadlines(workload, observed))
    waits += [moment - now for moment in moments if moment > now]
    return Plan(
        steps=steps,
        report=plan_report(workload, ranked, blockers),
        gangs=plan_gangs(workload, observed),
        served=find_served(workload, ranked),
        rollbacks=rollbacks,
        recheck_seconds=min(waits, default=None),
        now=now,
    )


def _rank_groups(state: LineState, observed: Observed) -> Observed:
    """The observed groups; if ordinals have gaps, numbered by rank with surplus groups last."""
    if state.reach is not Reach.ANY:
        return observed
    ranks = rank_units(state)
    if ranks.is_dense:
        return observed
    groups = tuple(unit for unit in ranks.state.units if isinstance(unit, Group))
    return replace(observed, groups=groups)


def _plan_roles(workload: Workload, observed: Observed, groups: Step, now: float) -> Iterator[Step]:
    retired = {retirement.ordinal for retirement in groups.retire}
    for group in observed.groups:
        if group.is_settled or not group.roles:
            continue
        if group.phase is Phase.LEAVING or group.ordinal in retired | groups.backing_off:
            continue
        yield from _plan_group(workload, group, now)


def _plan_new_groups(
    workload: Workload, observed: Observed, groups: Step, now: float
) -> Iterator[Step]:
    """Steps for the roles of groups made now, planned once per revision if nothing blocks."""
    known: dict[str, tuple[Step, ...]] = {}
    for make in groups.make:
        steps = known.get(make.revision)
        if steps is None or any(step.blockers for step in steps):
            roles = observed.new_roles.get(make.revision, ())
            group = Group(make.ordinal, make.revision, Phase.STARTING, "", 0, roles=roles)
            known[make.revision] = steps = tuple(_plan_group(workload, group, now))
        for step in steps:
            line = Line(make.ordinal, step.line.role)
            # Failures of an earlier group with this ordinal still count.
            yield replace(step, line=line, failures=observed.role_failures.get(line, ()))


def _plan_group(workload: Workload, group: Group, now: float) -> Iterator[Step]:
    waiting = find_waiting_roles(workload, group)
    unsteady = find_unsteady(workload, group)
    bounds = plan_bounds(workload, group, waiting, unsteady) if workload.rules else {}
    for state in role_lines(workload, group):
        role = state.line.role
        own = bounds.get(role, NO_BOUNDS)
        if role in waiting:
            own = own.join(Bounds(count_max=0, blockers=(waiting[role],)))
        elif role in unsteady and (unsteady[role].reason in OF_CLIENTS or _has_stale(state)):
            own = own.join(Bounds(updated_max=0, blockers=(unsteady[role],)))
        step = plan_step(state, now, own)
        name = workload.name_line(step.line)
        yield replace(step, blockers=tuple(_place(b, step.line, name) for b in step.blockers))


def _has_stale(state: LineState) -> bool:
    """Whether a line has units to update, counted by rank where ordinals may have gaps."""
    if state.tally is not None:
        return not state.tally.is_told
    if state.reach is not Reach.ANY:
        return bool(find_stale(state))
    ranked = rank_units(state).state
    lost = count_lost(ranked.units, ranked.rollout, ranked.target, ranked.base)
    return bool(lost or find_stale(ranked))


def _place(blocker: Blocker, line: Line, name: str) -> Blocker:
    """The blocker with its role line, and with the line's name before the message."""
    if blocker.line == line:
        return blocker
    message = f"{name}: {blocker.message}" if name else blocker.message
    return replace(blocker, line=line, message=message)


def _find_missing(workload: Workload, observed: Observed) -> tuple[Blocker, ...]:
    """A blocker for members that have not started, or else for groups that do not exist yet."""
    waiting = tuple(
        member.name for group in observed.groups for member in group.members if member.is_pending
    )
    missing = workload.groups - sum(g.ordinal < workload.groups for g in observed.groups)
    if waiting:
        message = (
            f"{count(len(waiting), 'member has', 'members have')} not started: "
            + ", ".join(waiting[:3])
            + (" and more" if len(waiting) > 3 else "")
        )
        return (Blocker("WaitingForMembers", message, members=waiting),)
    if missing > 0 and observed.progress is not None:
        message = f"{missing} of {workload.groups} groups do not exist yet"
        return (Blocker("WaitingForGroups", message),)
    return ()
