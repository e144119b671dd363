"""
Failures of groups, stored in an annotation of the revision in force.

It is not on the groups, since they are deleted; and not on the workload, which users' tools
compare. When another revision comes into force, the records stay where they are until a group
fails again, so all revisions are read. For each group the record on the revision in force counts,
since each write there holds all that is known; otherwise the newest. Times alone do not show which
record was written last: the controller's clock may have been put back. So the operator removes
the records of another revision once that in force has records which are as new: when the user
goes back, a revision brings no records of long ago into force again. An unreadable record is
ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from kohort.apis.carriers.members import read_moment
from kohort.model.observed import Crash, Failure
from kohort.model.plans import Plan
from kohort.model.units import GROUPS, Line


@dataclass(frozen=True, slots=True)
class Record:
    """The text to store about failures, and why."""

    text: str
    why: str


def plan_record(held: Mapping[Line, tuple[Failure, ...]], plan: Plan) -> Record | None:
    """The record after a plan; None if the stored record says the same."""
    known = {line: own for line, own in held.items() if own}
    new = dict(known)
    for line, step in plan.steps.items():
        if step.failures or line in known:
            new[line] = step.failures
    new = {line: own for line, own in new.items() if own}
    if new == known:
        return None
    failures = [failure for own in new.values() for failure in own]
    fresh = [f for f in failures if f not in known.get(f.line, ())]
    said = ", ".join(f"{f.crash} (failure {f.count} of {f.incarnation})" for f in fresh[:3])
    return Record(write_failures(failures), said or "failures are forgotten")


def write_failures(failures: Iterable[Failure]) -> str:
    """The text of the annotation: keyed by ordinal, or by group, role and ordinal."""
    return orjson.dumps({_name(f): _write(f) for f in failures}).decode()


def _name(failure: Failure) -> str:
    group, role = failure.line
    return str(failure.ordinal) if group is None else f"{group}/{role}/{failure.ordinal}"


def _find_place(name: str) -> tuple[Line, int]:
    *line, ordinal = name.split("/")
    if not line:
        return GROUPS, int(ordinal)
    group, role = line
    return Line(int(group), role), int(ordinal)


def read_failures(texts: Iterable[str], in_force: str = "") -> tuple[Failure, ...]:
    """For each unit the record on the revision in force, or else the newest; by ordinal."""
    newest: dict[str, Failure] = {}
    for text in texts:
        for failure in _read_text(text):
            known = newest.get(_name(failure))
            if known is None or (known.at, known.count) <= (failure.at, failure.count):
                newest[_name(failure)] = failure
    newest |= {_name(failure): failure for failure in _read_text(in_force)}
    return tuple(sorted(newest.values(), key=lambda failure: failure.ordinal))


def find_replaced(texts: Mapping[str, str], in_force: str) -> tuple[str, ...]:
    """The revisions whose records those of the revision in force have replaced, by name."""
    held = {_name(failure): failure.at for failure in _read_text(texts.get(in_force, ""))}
    if not held:
        return ()
    # A text holds all that was known when its newest record was written. The user may have gone
    # back to this revision before a later record of another unit was written here.
    newest = max(held.values())
    return tuple(
        name
        for name, text in texts.items()
        if text
        and name != in_force
        and all(_name(f) in held or f.at <= newest for f in _read_text(text))
    )


def _write(failure: Failure) -> dict[str, Any]:
    crash = failure.crash
    facts = {
        "revision": failure.revision,
        "incarnation": failure.incarnation,
        "count": failure.count,
        "at": _stamp(failure.at),
        "pod": crash.member,
        "container": crash.container,
        "exitCode": crash.code,
        "reason": crash.reason,
        "finishedAt": _stamp(crash.ended_at) if crash.ended_at else "",
    }
    return {key: value for key, value in facts.items() if value not in ("", None)}


def _read_text(text: str) -> list[Failure]:
    if not text:
        return []
    try:
        records = orjson.loads(text)
        return [_read(*_find_place(name), facts) for name, facts in records.items()]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []


def _read(line: Line, ordinal: int, facts: dict[str, Any]) -> Failure:
    code = facts.get("exitCode")
    crash = Crash(
        str(facts.get("pod", "")),
        str(facts.get("container", "")),
        None if code is None else int(code),
        str(facts.get("reason", "")),
        read_moment(str(facts.get("finishedAt", ""))),
    )
    revision, incarnation = str(facts.get("revision", "")), str(facts["incarnation"])
    at, count = read_moment(str(facts["at"])), max(1, int(facts["count"]))
    return Failure(ordinal, revision, incarnation, count, at, crash, line)


def _stamp(moment: float) -> str:
    when = datetime.fromtimestamp(moment, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
