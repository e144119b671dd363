"""
A replayed journal for people: what the planner saw at each moment, and what it decided.

A step is described by its decisions. Where this version of Kohort decides otherwise than
the version that wrote the journal, the step names both. Neighbouring groups that are alike are
seen as one line. A moment is what a list of steps shows of an entry that is not planned again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kohort.cluster.timestamps import write_moment
from kohort.journal.entries import WAIT, Decision, EntryHead
from kohort.journal.replay import Replayed
from kohort.model.observed import Group, RoleInstances
from kohort.model.units import Phase
from kohort.model.workload import Workload
from kohort.views.picture import find_revision


@dataclass(frozen=True, slots=True)
class SeenRole:
    """The instances of one role in a group, as the planner saw them."""

    role: str
    ready: int
    exist: int
    wanted: int
    updated: int


@dataclass(frozen=True, slots=True)
class SeenGroups:
    """One group as the planner saw it, or several neighbours that were alike."""

    first: int
    last: int
    phase: Phase
    revision: str  # empty where its members differ
    is_target: bool  # it has the revision that all groups should reach
    members: int  # of each of them
    members_ready: int
    roles: tuple[SeenRole, ...] = ()  # where the API names roles


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One entry of a journal, as the command line and ``-o json`` show it."""

    number: int
    at: str
    kind: str
    name: str
    ready: int
    groups: int
    wanted: int
    updated: int
    seen: tuple[SeenGroups, ...]  # the snapshot that the planner got
    decisions: tuple[str, ...]
    actions: tuple[str, ...]  # the actions of the operator at that time
    added: tuple[str, ...]  # what this version would decide beside that
    dropped: tuple[str, ...]  # what this version would not decide
    is_one_group: bool = False  # the workload is the only group, so its group has no number


def list_steps(replayed: Iterable[Replayed]) -> list[ReplayStep]:
    """The steps of a replay, numbered from 1."""
    return [make_step(number, each) for number, each in enumerate(replayed, 1)]


@dataclass(frozen=True, slots=True)
class JournalMoment:
    """An entry in a list of all: whose it is, and whether it did or awaited anything."""

    id: str
    at: str
    kind: str
    namespace: str
    name: str
    decisions: int
    actions: int
    waits: str  # the reason that the workload waited for then; empty if it did not


def make_moment(identity: str, head: EntryHead) -> JournalMoment:
    """An entry as one of a list."""
    waits = [decision.about for decision in head.decisions if decision.verb == WAIT]
    stamp = datetime.fromtimestamp(head.at, UTC).isoformat(timespec="milliseconds")
    return JournalMoment(
        identity,
        stamp.replace("+00:00", "Z"),
        head.kind,
        head.workload.namespace,
        head.workload.name,
        len(head.decisions) - len(waits),
        len(head.actions),
        waits[0] if waits else "",
    )


def make_step(number: int, each: Replayed) -> ReplayStep:
    """One entry with what this version decides about it."""
    entry, report = each.entry, each.plan.report
    at = write_moment(entry.at)
    return ReplayStep(
        number,
        at,
        entry.kind,
        entry.name,
        report.groups_ready,
        report.groups,
        report.wanted,
        report.groups_updated,
        _list_seen(entry.observed.groups, entry.workload.revision),
        tuple(_describe(decision, entry.workload) for decision in each.decisions),
        entry.actions,
        tuple(_describe(decision, entry.workload) for decision in each.added),
        tuple(_describe(decision, entry.workload) for decision in each.dropped),
        entry.workload.is_one_group,
    )


def _list_seen(groups: Iterable[Group], target: str) -> tuple[SeenGroups, ...]:
    """The groups in lines, neighbours that are alike in one."""
    lines: list[SeenGroups] = []
    for group in groups:
        line = _see(group, target)
        last = lines[-1] if lines else None
        if last and replace(line, first=last.first) == replace(last, last=line.last):
            is_next = last.last + 1 == group.ordinal
            lines[-1:] = [replace(last, last=group.ordinal)] if is_next else [last, line]
        else:
            lines.append(line)
    return tuple(lines)


def _see(group: Group, target: str) -> SeenGroups:
    ready = sum(m.is_current and m.phase is Phase.READY for m in group.members)
    revision = find_revision(group)
    return SeenGroups(
        first=group.ordinal,
        last=group.ordinal,
        phase=group.phase,
        revision=revision,
        is_target=revision == target,
        members=group.size,
        members_ready=ready,
        roles=tuple(_see_role(role) for role in group.roles),
    )


def _see_role(role: RoleInstances) -> SeenRole:
    if (tally := role.tally) is not None:
        return SeenRole(role.role, tally.ready, tally.exist, role.wanted, tally.updated)
    ready = sum(instance.phase is Phase.READY for instance in role.instances)
    updated = sum(instance.revision == role.revision for instance in role.instances)
    return SeenRole(role.role, ready, len(role.instances), role.wanted, updated)


def _describe(decision: Decision, workload: Workload) -> str:
    if decision.verb == WAIT:
        return f"wait, {decision.about}: {decision.why}"
    if decision.verb == "allow" and workload.is_one_group:
        return "allow the new revision"
    if decision.verb == "allow":
        return f"allow {decision.about}"
    which = ", ".join(map(str, decision.ordinals))
    is_one = len(decision.ordinals) == 1
    if decision.line.group is None:
        noun = f"group{'' if is_one else 's'} {which}"
    else:
        name = workload.name_line(decision.line)
        noun = f"instance{'' if is_one else 's'} {which}{f' of {name}' if name else ''}"
    about = f" ({decision.about})" if decision.about else ""
    why = f": {decision.why}" if decision.why else ""
    return f"{decision.verb} {noun if which else ''}{about}{why}"
