"""
Roles that roll by themselves: a line for each, and a picture of one role alone.

A line says how far the role is, by which rules, and what holds it. The reasons are those of the
plan, word for word, as in the status and the events of the workload: which role holds which back,
by which rule, and how many instances may go on.

The picture of one role is that of its workload, with the members, troubles and counts of the role
only. Every view is made from a picture, so all of them speak of the role alone: the verdict, the
line of ``rollout status``, and the explanation of what it waits for. A role that rolls with its
groups is updated when they are.
"""

from dataclasses import dataclass, replace

from kohort.cluster.objects import is_leaving
from kohort.model.observed import Group, Observed, RoleInstances
from kohort.model.plans import LineReport, Plan, Report
from kohort.model.reasons import Blocker
from kohort.model.units import GROUPS, Phase
from kohort.model.workload import Role
from kohort.views.picture import Picture


def choose_role(picture: Picture, name: str) -> Picture:
    """The picture, limited to the role of that name."""
    reading, decided = picture.reading, picture.plan
    if reading is None or decided is None or name not in decided.report.roles:
        return replace(picture, role=name)
    role, target = reading.workload.find_role(name), reading.workload.revision
    own_target = target if role is not None and role.rollout is not None else ""
    groups = tuple(_limit(group, name, own_target) for group in reading.observed.groups)
    observed: Observed = replace(reading.observed, groups=groups)
    members = frozenset(member.name for group in groups for member in group.members)
    limited: Plan = replace(decided, report=_limit_report(decided.report, name, members))
    return replace(
        picture,
        reading=replace(reading, observed=observed),
        plan=limited,
        troubles=tuple(trouble for trouble in picture.troubles if trouble.member in members),
        role=name,
    )


def _limit(group: Group, name: str, target: str) -> Group:
    """A group as if it had that role only; ``target``: the revision of a role with own rollout."""
    held = next((role for role in group.roles if role.role == name), RoleInstances(name, 0, ""))
    return replace(
        group,
        revision=(target if _is_updated(held) else "") if target else group.revision,
        phase=Phase.READY if held.is_whole else group.phase,
        size=sum(instance.size for instance in held.instances),
        members=tuple(member for instance in held.instances for member in instance.members),
        roles=(held,),
    )


def _is_updated(role: RoleInstances) -> bool:
    if role.tally is not None:
        return role.is_updated
    return all(instance.revision == role.revision for instance in role.instances)


def _limit_report(report: Report, name: str, members: frozenset[str]) -> Report:
    count: LineReport = report.roles[name]
    return replace(
        report,
        groups=count.exist,
        groups_ready=count.ready,
        groups_updated=count.updated,
        wanted=count.wanted,
        wanted_ready=min(count.ready, count.wanted),
        rolled=count.wanted if count.is_updating else min(count.updated, count.wanted),
        rolled_ready=count.updated_ready,
        is_updating=count.is_updating,
        is_available=count.is_available,
        is_done=count.is_available and count.updated_ready == count.exist == count.wanted,
        blockers=tuple(b for b in report.blockers if _concerns(b, name, members)),
        roles={name: count},
    )


def _concerns(blocker: Blocker, name: str, members: frozenset[str]) -> bool:
    """Whether a blocker is about the role, or about groups whose members are not named."""
    if blocker.line != GROUPS:
        return blocker.line.role == name
    return not blocker.members or not members.isdisjoint(blocker.members)


_REASONS_MAX = 3  # of one role; a role of many groups may have one in each


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a role waits."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One role of a workload, over all its groups."""

    name: str
    wanted: int
    ready: int
    updated: int
    # None: another controller rolls its instances, by rules of its own.
    max_unavailable: int | None
    max_surge: int | None
    partition: int | None
    is_paused: bool
    reasons: tuple[Reason, ...] = ()


def list_role_lines(picture: Picture) -> tuple[RoleLine, ...]:
    """The roles in their order; none where roles roll with their groups."""
    if picture.reading is None or picture.plan is None or picture.role:
        return ()
    blockers = picture.plan.report.blockers
    return tuple(
        _make_line(picture, role, blockers)
        for role in picture.reading.workload.roles
        if role.name and role.rollout is not None and role.name in picture.plan.report.roles
    )


def _make_line(picture: Picture, role: Role, blockers: tuple[Blocker, ...]) -> RoleLine:
    assert picture.plan is not None
    assert role.rollout is not None
    counts = picture.plan.report.roles[role.name]
    own = [b for b in blockers if b.line != GROUPS and b.line.role == role.name]
    found = dict.fromkeys(Reason(b.reason, b.message) for b in own)
    is_ours = picture.api.delegation is None
    return RoleLine(
        name=role.name,
        wanted=counts.wanted,
        ready=counts.ready,
        updated=counts.updated,
        max_unavailable=role.rollout.max_unavailable if is_ours else None,
        max_surge=role.rollout.max_surge if is_ours else None,
        partition=role.rollout.partition if is_ours else None,
        is_paused=role.rollout.is_paused,
        reasons=tuple(found)[:_REASONS_MAX],
    )


def list_paused(picture: Picture) -> tuple[str, ...]:
    """The paused roles with something to update; an empty name stands for the only role."""
    if picture.plan is None or is_leaving(picture.root):
        return ()
    counts = picture.plan.report.roles
    found = (name for name in picture.held if name in counts and counts[name].is_updating)
    return tuple("" if len(counts) == 1 and not picture.role else name for name in found)
