"""What a takeover would change, as lines."""

from collections.abc import Iterator, Sequence

from kohort.cli.render.lines import BLOCKED, DONE, Paint, count, plain
from kohort.cli.terminal import GREEN, RED
from kohort.takeover.field_changes import FieldChange
from kohort.takeover.report import Note, ObjectCount, PlannedWrite, Report
from kohort.takeover.shadow import ShadowReport

_FIELDS_MAX = 8


def write_report(report: Report, paint: Paint = plain) -> list[str]:
    """Counts first, then each difference with its fields, then notes."""
    lines = list(_write_counts(report))
    for write in report.writes:
        lines += [f"  {line}" for line in write_planned(write, paint)]
    lines += _write_notes("cannot be planned", report.unreadable)
    lines += _write_notes("note", report.notes)
    if report.is_empty:
        lines.append(paint(f"{DONE} a takeover changes nothing", GREEN))
    else:
        total = len(report.writes) + len(report.unreadable)
        found = "difference" if total == 1 else "differences"
        lines.append(paint(f"{BLOCKED} a takeover changes objects: {total} {found}", RED))
    return lines


def _write_counts(report: Report) -> Iterator[str]:
    for held in report.counts:
        yield f"{_count_objects(held)}   {held.readable} readable"
    actions, pods = count(len(report.writes), "action"), count(len(report.pods), "pod")
    yield f"{actions} would be taken   {pods} would restart"
    if report.outdated:
        yield f"  {count(len(report.outdated), 'pod')} in a rollout: {_list(report.outdated)}"


def _list(names: Sequence[str]) -> str:
    left = len(names) - _FIELDS_MAX
    return ", ".join(names[:_FIELDS_MAX]) + (f" and {left} more" if left > 0 else "")


def write_shadow(report: ShadowReport, paint: Paint = plain) -> list[str]:
    """How a shadow ended: what stayed, and a line that sums it up."""
    lines = [line for write in report.stayed for line in write_planned(write, paint)]
    lines += [f"{BLOCKED} {fault}" for fault in report.faults]
    seen = "difference was" if report.seen == 1 else "differences were"
    told = f"{count(report.workloads, 'workload')}   {report.seen} {seen} seen"
    stayed = f"{len(report.stayed)} stayed"
    return [*lines, f"{told}   {stayed}"]


def _count_objects(held: ObjectCount) -> str:
    plural = f"{held.kind}es" if held.kind.endswith("s") else f"{held.kind}s"
    return f"{held.objects} {held.kind if held.objects == 1 else plural}"


def write_planned(write: PlannedWrite, paint: Paint = plain) -> list[str]:
    """One difference: the object, what we would do and why, and each field."""
    why = f": {write.why}" if write.why else ""
    lines = [f"{paint(BLOCKED, RED)} {write.workload}   {write.verb} {write.object}{why}"]
    lines += [f"    {_write_change(change)}" for change in write.changes[:_FIELDS_MAX]]
    left = len(write.changes) - _FIELDS_MAX
    if left > 0:
        lines.append(f"    and {count(left, 'more field')}")
    if write.pods:
        lines.append(f"    {count(len(write.pods), 'pod')} would restart: {_list(write.pods)}")
    return lines


def _write_change(change: FieldChange) -> str:
    if not change.old and not change.new:
        return change.path
    return f"{change.path}: {change.old or '(other)'} → {change.new or '(other)'}"


def _write_notes(word: str, notes: Sequence[Note]) -> list[str]:
    if not notes:
        return []
    title = count(len(notes), "note") if word == "note" else f"{len(notes)} {word}"
    return [f"  {title}", *(f"    {note.object}: {note.text}" for note in notes)]
