"""
A picture of one role: the same workload, with the members, troubles and counts of that role only.

Every view is made from a picture, so all of them speak of the role alone: the verdict, the line of
``rollout status``, and the explanation of what it waits for. A role that rolls with its groups
is updated when they are.
"""

from dataclasses import replace

from kohort.model.observed import Group, Observed, RoleInstances
from kohort.model.plans import LineReport, Plan, Report
from kohort.model.reasons import Blocker
from kohort.model.units import GROUPS, Phase
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
