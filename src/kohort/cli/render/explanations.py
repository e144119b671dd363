"""The answer to ``why``, the history of revisions and the difference between two, as lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from kohort.cli.render.lines import Paint, align, mark_word, plain
from kohort.cli.render.trees import write_title
from kohort.cli.terminal import BOLD, GREEN, RED, YELLOW
from kohort.cluster.timestamps import write_time
from kohort.views.ages import write_age
from kohort.views.explain import (
    EventLine,
    Explanation,
    Finding,
    Rules,
    find_holder,
)
from kohort.views.health import WRITE_FAILS, Health, Word
from kohort.views.members import PodExplanation
from kohort.views.revision_differences import RevisionDifference
from kohort.views.roles import RoleLine
from kohort.views.rollouts import HistoryLine
from kohort.views.table import Row

_WIDTH = 10
_NAMED_MAX = 3
_RETRY_SECONDS = 30  # of the operator
_UNTOLD = "members that do not exist yet, or have just changed"
_FILLERS = {
    Word.READY: "nothing",
    Word.STALLED: "a change of the object, or of what it names: it is not tried again as it stands",
    Word.PAUSED: "a user who resumes it",
}


def write_explanation(told: Explanation, now: datetime, paint: Paint = plain) -> list[str]:
    """The four parts, always in the same order, and the rules behind them."""
    since = "unknown"
    if told.since is not None:
        since = f"{write_age(told.since, now)} ({write_time(told.since)})"
    on = [
        *(line for finding in told.on for line in write_finding(finding, now)),
        *([_fill(told.row.health)] if not told.on else ()),
        *(write_event(event, now) for event in told.events),
    ]
    parts: dict[str, Sequence[str]] = {
        "waits": (told.waits,),
        "on": on,
        "roles": tuple(_write_roles(told.row)),
        "gang": told.gangs,
        "since": (since,),
        "next": told.commands or ("nothing needs to be done",),
        "rules": tuple(filter(None, (_write_rules(told.rules),))),
        "decided": told.decisions,
        "notes": told.notes,
        "docs": tuple(filter(None, (told.docs,))),
    }
    lines = [write_title(told.row, now, paint)]
    for title, texts in parts.items():
        for place, text in enumerate(texts):
            lines.append(f"  {title if place == 0 else '':<{_WIDTH}}{text}")
    return lines


def _fill(health: Health) -> str:
    """What the workload waits for, in words, where it waits for no member."""
    if holder := find_holder(health):
        return f"{holder}: it is tried again by itself when that is gone"
    if health.is_tried_again:
        after = "soon" if health.reason == WRITE_FAILS else f"after {_RETRY_SECONDS} s"
        return f"what refuses it: it is tried again by itself {after}"
    return _FILLERS.get(health.word, _UNTOLD)


def write_finding(finding: Finding, now: datetime) -> Iterator[str]:
    """The lines of one trouble that the workload waits for, with the events about it."""
    place = [] if finding.group is None else [f"group {finding.group}"]
    if finding.container:
        place.append(f"container {finding.container}")
    if finding.node:
        place.append(f"on {finding.node}")
    where = f" ({', '.join(place)})" if place else ""
    yield f"{finding.about}  {finding.reason}: {finding.message}{where}"
    if finding.same:
        more = len(finding.same) - _NAMED_MAX
        rest = f" and {more} more" if more > 0 else ""
        yield f"and the same of {', '.join(finding.same[:_NAMED_MAX])}{rest}"
    yield from (write_event(event, now) for event in finding.events)


def write_event(event: EventLine, now: datetime) -> str:
    """One event."""
    return f"event {write_age(event.seen, now)} ago: {event.reason}: {event.message}"


def _write_roles(row: Row) -> Iterator[str]:
    """How far each role is, by which rules of its own, and what holds it back."""
    if row.health.word is Word.READY:
        return
    for role in row.roles:
        counts = f"{role.updated} of {role.wanted} updated, {role.ready} ready"
        yield f"{role.name}: {counts}{_write_role_rules(role)}"
        yield from (f"  {found.reason}: {found.message}" for found in role.reasons)


def _write_role_rules(role: RoleLine) -> str:
    if role.max_unavailable is None:
        return ""
    rules = f"maxUnavailable {role.max_unavailable}, maxSurge {role.max_surge}"
    stop = ", paused" if role.is_paused else ""
    return f" ({rules}, partition {role.partition}{stop})"


def _write_rules(rules: Rules) -> str:
    named = {"strategy": rules.strategy, "carrier": rules.carrier}
    parts = [f"{name} {text}" for name, text in named.items() if text]
    if rules.max_unavailable is not None:
        parts.append(f"maxUnavailable {rules.max_unavailable}")
        parts.append(f"maxSurge {rules.max_surge}, partition {rules.partition}")
    return ", ".join(parts)


def write_history(
    history: Sequence[HistoryLine], now: datetime, *, is_one_group: bool = False
) -> list[str]:
    """One line for each revision, with what changed first."""
    rows = [("REVISION", *(() if is_one_group else ("GROUPS",)), "SERVED", "AGE", "CHANGE")]
    rows += [
        (
            f"{line.number}{' (wanted)' if line.is_target else ''}",
            *(() if is_one_group else (str(line.groups),)),
            "yes" if line.has_served else "no",
            write_age(line.created, now),
            _summarise(line),
        )
        for line in history
    ]
    return align(rows)


def _summarise(line: HistoryLine) -> str:
    if not line.changes:
        return "-"
    more = len(line.changes) - 1
    return f"{line.changes[0]}{f', and {more} more' if more else ''}"


def write_difference(told: RevisionDifference) -> list[str]:
    """A title, and a line for each field."""
    new = str(told.new) if told.new else "the wanted one, which is not stored yet"
    title = f"{told.name}  {told.kind}  revision {told.old} → {new}"
    if not told.fields:
        return [title, "  they do not differ"]
    rows = [
        (each.path, f"{each.old or '(none)'} → {each.new or '(none)'}", f"restarts {each.restarts}")
        for each in told.fields
    ]
    return [title, *(f"  {line}" for line in align(rows))]


def write_pod_explanation(told: PodExplanation, now: datetime, paint: Paint = plain) -> list[str]:
    """What keeps a pod from serving, what to do, and the workload that it is part of."""
    trouble = told.trouble
    word, style = ("● waiting", YELLOW) if trouble else ("✓ ready", GREEN)
    if trouble is not None and trouble.is_stuck:
        word, style = "! stuck", RED
    age = write_age(told.since, now)
    row = told.workload
    unit, group = ("instance", "") if told.group is None else ("group", f" of group {told.group}")
    place = f"{told.role}{group} of {row.kind} {row.name}, revision {told.revision}"
    since = f"{age} ({write_time(told.since)})" if told.since else ""
    waits = "nothing: it serves"
    if trouble is not None:
        container = f" (container {trouble.container})" if trouble.container else ""
        waits = f"{trouble.reason}: {trouble.details}{container}"
    parts: dict[str, Sequence[str]] = {
        "is": (place if told.is_current else f"{place}; a leftover of an earlier {unit}",),
        "node": (told.node or "none yet",),
        "waits": (waits,),
        "events": tuple(write_event(event, now) for event in told.events),
        "since": (since,) if since else (),
        "next": told.commands or ("nothing needs to be done",),
        "workload": (f"{mark_word(row.health.word, paint)}: {row.health.message}",),
    }
    lines = [f"{paint(told.pod, BOLD)}  Pod  {paint(word, style)}{' ' if age else ''}{age}"]
    for title, texts in parts.items():
        for number, text in enumerate(texts):
            lines.append(f"  {title if number == 0 else '':<{_WIDTH}}{text}")
    return lines
