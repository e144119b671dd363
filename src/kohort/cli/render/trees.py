"""The tree of one workload, and the lineage of one pod in it, as lines."""

from collections.abc import Iterator
from datetime import datetime

from kohort.cli.render.lines import Paint, align, count, mark_phase, mark_word, plain
from kohort.cli.render.tables import write_counts
from kohort.cli.terminal import BOLD
from kohort.views.ages import write_age
from kohort.views.lineage import Lineage
from kohort.views.table import Row
from kohort.views.tree import GroupLine, MemberLine, Tree

_TO = "\N{EN DASH}"


def write_title(row: Row, now: datetime, paint: Paint = plain) -> str:
    """The first line of all that is said of one workload."""
    age = write_age(row.health.since, now)
    word = mark_word(row.health.word, paint)
    return f"{paint(row.name, BOLD)}  {row.kind}  {word}{' ' if age else ''}{age}"


def write_tree(tree: Tree, now: datetime, paint: Paint = plain) -> list[str]:
    """All lines of a tree."""
    return [
        f"{write_title(tree.row, now, paint)}   {write_counts(tree.row)}".rstrip(),
        *_blockers(tree),
        *_roles(tree),
        *([""] if tree.groups else []),
        *_groups(tree, now, paint),
    ]


def _blockers(tree: Tree) -> Iterator[str]:
    for blocker in tree.blockers:
        yield f"  {blocker}"
    for trouble in {(t.reason, t.message): t for t in reversed(tree.stuck)}.values():
        yield f"    {trouble.member}  {trouble.reason}: {trouble.details}"
    if tree.commands:
        yield f"    next: {'    or    '.join(tree.commands)}"


def _roles(tree: Tree) -> list[str]:
    """A line for each role, where there are several."""
    cells = [
        (f"role {line.role}", f"{line.ready}/{line.wanted} ready", f"{line.updated} updated")
        for line in tree.roles
    ]
    return [f"  {line}" for line in align(cells)] if cells else []


def _groups(tree: Tree, now: datetime, paint: Paint) -> Iterator[str]:
    if not tree.groups:
        return
    is_one = tree.row.is_one_group
    cells = [_group_cells(group, is_one) for group in tree.groups]
    for group, line in zip(tree.groups, align(cells), strict=True):
        symbol = mark_phase(group.phase, group.is_stuck, paint)[0]
        yield f"  {line.replace('?', symbol, 1)}"
        yield from _members(group, is_one, now, paint)


def _group_cells(group: GroupLine, is_one_group: bool) -> tuple[str, ...]:
    several = group.first != group.last
    place = f"groups {group.first}{_TO}{group.last}" if several else f"group  {group.first}"
    members = count(group.members, "member")
    if group.lines and group.members_ready < group.members:
        members = f"{members}, {group.members_ready} ready"
    name = () if is_one_group else (place,)
    return *name, f"? {group.phase}", f"revision {group.revision}", members


def _members(group: GroupLine, is_one_group: bool, now: datetime, paint: Paint) -> Iterator[str]:
    if not group.lines:
        return
    cells = [_member_cells(line, is_one_group, now) for line in group.lines]
    for member, line in zip(group.lines, align(cells), strict=True):
        is_stuck = member.trouble is not None and member.trouble.is_stuck
        yield f"    {mark_phase(member.phase, is_stuck, paint)[0]} {line}"


def _member_cells(line: MemberLine, is_one_group: bool, now: datetime) -> tuple[str, ...]:
    reason = line.trouble.reason if line.trouble else ""
    if not line.is_current:
        reason = f"leftover of an earlier {'instance' if is_one_group else 'group'}"
    return line.name, line.role, line.node or "-", write_age(line.created, now), reason


_WIDTH = 10


def write_lineage(lineage: Lineage, paint: Paint = plain) -> list[str]:
    """From the member up, one line for each level."""
    place = lineage.place
    word = " ".join(mark_phase(place.phase, False, paint)) if place.phase else "not known"
    node = f" on {lineage.node}" if lineage.node else ""
    lines = [f"{paint(lineage.pod, BOLD)}  Pod  {word}{node}"]

    def add(title: str, text: str) -> None:
        lines.append(f"  {title:<{_WIDTH}}{text}")

    add("member", f"{place.role or 'member'}, number {place.index} of its instance")
    if place.instance is not None:
        add("instance", f"{place.instance} of role {place.role}")
    if place.group is not None:
        revision = f", revision {place.revision}" if place.revision else ""
        leftover = "" if place.is_current else "; a leftover of an earlier one"
        if lineage.is_one_group:
            add("revision", f"{place.revision}{leftover}")
        else:
            add("group", f"{place.group}{revision}{leftover}")
    for number, workload in enumerate(lineage.workloads):
        health = mark_word(workload.health.word, paint)
        title = "workload" if number == 0 else "owned by"
        add(title, f"{workload.reference}  {workload.kind}  {health}")
    if lineage.owners:
        add("owners", " → ".join(lineage.owners))
    return lines
