"""
The tree of one workload: its groups and their members.

Healthy neighbours of one revision are folded into one line, because people look for
the group that is not like the others. The blocker stands beside the
workload, and the trouble of a member on that member's line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kohort.cluster.objects import find_condition, metadata_of
from kohort.model.observed import Group, Member
from kohort.model.units import Phase
from kohort.views.ages import find_time
from kohort.views.explain import describe_wait
from kohort.views.health import DEGRADED, Word
from kohort.views.picture import Picture, find_revision
from kohort.views.table import Row, make_row
from kohort.views.troubles import Trouble


@dataclass(frozen=True, slots=True)
class MemberLine:
    """One member."""

    name: str
    role: str
    phase: Phase
    node: str
    created: datetime | None
    trouble: Trouble | None
    is_current: bool
    line: str = ""  # the role that its instance belongs to, where the API names roles
    instance: int | None = None  # the ordinal of its instance in that role


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group, or several neighbours that are alike."""

    first: int
    last: int
    phase: Phase
    revision: str
    members: int
    members_ready: int
    is_stuck: bool
    lines: tuple[MemberLine, ...]  # empty where the group is folded


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One role over all groups."""

    role: str
    wanted: int
    ready: int
    updated: int


@dataclass(frozen=True, slots=True)
class Tree:
    """One workload with its groups."""

    row: Row
    blockers: tuple[str, ...]  # each "Reason: sentence"
    stuck: tuple[Trouble, ...]
    commands: tuple[str, ...]  # commands that help the user, the safest first
    groups: tuple[GroupLine, ...]
    roles: tuple[RoleLine, ...] = ()  # empty where there is but one


def make_tree(picture: Picture, commands: Sequence[str] = (), *, unfold: bool = False) -> Tree:
    """The tree of a workload; ``unfold`` shows every member."""
    blockers = picture.plan.report.blockers if picture.plan else ()
    row = make_row(picture)
    # The verdict comes first, in the words of ``why``, and then what else the plan waits for.
    is_told = row.health.reason and row.health.word is not Word.READY
    lead = describe_wait(picture, row.health) if is_told else ""
    others = [b for b in blockers if not lead.endswith(b.message)]
    lines = [*filter(None, [lead]), *(f"{b.reason}: {b.message}" for b in others)]
    degraded = find_condition(picture.root, DEGRADED) or {}
    if degraded.get("status") == "True":
        lines.append(f"{DEGRADED}: {degraded.get('message', '')}")
    return Tree(
        row=row,
        blockers=tuple(lines),
        stuck=picture.stuck,
        commands=tuple(commands) if row.health.word.needs_help else (),
        groups=tuple(_lines(picture, unfold)),
        roles=_roles(picture),
    )


def _roles(picture: Picture) -> tuple[RoleLine, ...]:
    """The roles of a workload that has several, in the order of its spec."""
    found = picture.plan.report.roles if picture.plan else {}
    if len(found) < 2:
        return ()
    return tuple(
        RoleLine(role, counts.wanted, counts.ready, counts.updated)
        for role, counts in found.items()
    )


def _lines(picture: Picture, unfold: bool) -> Iterable[GroupLine]:
    groups = picture.reading.observed.groups if picture.reading else ()

    for run in _runs(groups, unfold):
        yield _line(picture, run, unfold or run[0].phase is not Phase.READY)


def _runs(groups: Iterable[Group], unfold: bool) -> list[list[Group]]:
    runs: list[list[Group]] = []
    for group in groups:
        if runs and not unfold and _are_alike(runs[-1][-1], group):
            runs[-1].append(group)
        else:
            runs.append([group])
    return runs


def _are_alike(one: Group, next_: Group) -> bool:
    """Whether two groups can stand in one line: healthy neighbours of one revision and size."""
    return (
        one.phase is next_.phase is Phase.READY
        and (find_revision(one), one.size) == (find_revision(next_), next_.size)
        and one.ordinal + 1 == next_.ordinal
    )


def _line(picture: Picture, run: list[Group], shown: bool) -> GroupLine:
    members = [member for group in run for member in group.members if member.is_current]
    ordinals = {group.ordinal for group in run}
    return GroupLine(
        first=run[0].ordinal,
        last=run[-1].ordinal,
        phase=run[0].phase,
        revision=picture.name_revision(find_revision(run[0])) or "mixed",
        members=sum(group.size for group in run),
        members_ready=sum(member.phase is Phase.READY for member in members),
        is_stuck=any(trouble.ordinal in ordinals for trouble in picture.stuck),
        lines=tuple(_list_members(picture, run)) if shown else (),
    )


def _list_members(picture: Picture, run: list[Group]) -> Iterable[MemberLine]:
    for group in run:
        places = {
            member.uid: (held.role, instance.ordinal)
            for held in group.roles
            for instance in held.instances
            for member in instance.members
        }
        for member in group.members:
            yield _member(picture, member, places.get(member.uid, ("", None)))


def _member(picture: Picture, member: Member, place: tuple[str, int | None]) -> MemberLine:
    pod = picture.sample.find_member(member.name) or {}
    verbs = picture.api.verbs
    return MemberLine(
        name=member.name,
        role=verbs.role_of(member.index) if verbs else "",
        phase=member.phase,
        node=(pod.get("spec") or {}).get("nodeName", ""),
        created=find_time(metadata_of(pod).get("creationTimestamp")),
        trouble=next((t for t in picture.troubles if t.member == member.name), None),
        is_current=member.is_current,
        line=place[0],
        instance=place[1],
    )
