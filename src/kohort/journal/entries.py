"""
Entries of the journal: the planner's input for a workload, its time, and the decisions.

An entry holds the planner's own input and nothing else of the cluster: names, revisions, phases
and policies. Templates, environment variables and Secrets never reach the planner, so no entry
contains them. A file of entries has one JSON object in each line, the first of which says which
version of Kohort wrote the file. Fields with their default value are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from typing import Any

import msgspec
import orjson

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object
from kohort.model.observed import Failure, Observed
from kohort.model.plans import Plan, Step
from kohort.model.units import GROUPS, Line
from kohort.model.workload import Workload

FORMAT = "kohort-journal/1"
JOURNAL_PATH = "/kohort/journal"  # of an embedded cluster; needs its token


WAIT = "wait"  # the verb of a decision to do nothing until something else has happened


class UnreadableJournal(KohortError):
    """A file that is no journal, or a journal with a line that cannot be read."""


class Decision(msgspec.Struct, frozen=True):
    """One decision of a plan about one line of units."""

    verb: str  # make, take down, update in place, release, allow, wait and the like
    line: Line = GROUPS
    ordinals: tuple[int, ...] = ()
    about: str = ""  # a revision, a cause, a reason
    why: str = ""  # the same as a sentence; another version of Kohort may word it differently

    @property
    def identity(self) -> tuple[object, ...]:
        """The fields that are equal if two decisions are the same."""
        return (self.verb, self.line, self.ordinals, self.about)


class Entry(msgspec.Struct, frozen=True):
    """One reconcile of one workload."""

    kind: str
    at: float  # the time of the plan, in seconds since 1970
    workload: Workload
    observed: Observed
    # A JSON object cannot have lines as keys, so these stand beside ``observed``.
    role_failures: tuple[tuple[Line, tuple[Failure, ...]], ...] = ()
    decisions: tuple[Decision, ...] = ()
    actions: tuple[str, ...] = ()  # the actions that the API server accepted

    @property
    def name(self) -> str:
        """The workload, as ``kubectl`` names it."""
        return f"{self.workload.namespace}/{self.workload.name}"


class Owner(msgspec.Struct, frozen=True):
    """The workload that an entry is about."""

    namespace: str
    name: str


class EntryHead(msgspec.Struct, frozen=True):
    """An entry without the planner's input, which is most of its size."""

    kind: str
    at: float
    workload: Owner
    decisions: tuple[Decision, ...] = ()
    actions: tuple[str, ...] = ()


class _Header(msgspec.Struct, frozen=True):
    format: str
    version: str = ""


def list_decisions(plan: Plan) -> tuple[Decision, ...]:
    """The decisions of a plan, for one line of units after another."""
    found: list[Decision] = []
    for step in plan.steps.values():
        found.extend(_list_step(step))
    rollout, report = plan.step.rollout, plan.report
    if report.is_updating or rollout.count != report.wanted:
        # To a carrier that makes and deletes groups itself, the plan sets only these two numbers.
        about = f"up to {rollout.count} groups, and the new revision from group {rollout.boundary}"
        found.append(Decision("allow", about=about))
    for blocker in plan.report.blockers:
        words = (blocker.reason, blocker.message)
        found.append(Decision(WAIT, blocker.line, blocker.ordinals, *words))
    for rollback in plan.rollbacks:
        about = ", ".join(rollback.roles)
        found.append(Decision("roll back", about=about, why=rollback.cause.message))
    return tuple(found)


def _list_step(step: Step) -> Iterable[Decision]:
    made: dict[str, list[int]] = {}
    for make in step.make:
        made.setdefault(make.revision, []).append(make.ordinal)
    for revision, ordinals in made.items():
        yield Decision("make", step.line, tuple(ordinals), f"revision {revision}")
    for gone in step.retire:
        yield Decision("take down", step.line, (gone.ordinal,), gone.cause.value, gone.why)
    if step.amend:
        yield Decision("update in place", step.line, step.amend)
    for ordinal, member in step.renew:
        yield Decision("make members anew", step.line, (ordinal,), member)
    if step.rollout.replace:
        yield Decision("release", step.line, step.rollout.replace)


def write_entry(entry: Entry) -> Object:
    """The entry as a JSON object, without fields that have their default value."""
    written: Object = {name: _write(getattr(entry, name)) for name in entry.__struct_fields__}
    return written


def _write(value: Any) -> Any:
    if isinstance(value, Observed):
        return {k: _write(v) for k, v in _list_set(value) if k != "role_failures"}
    if is_dataclass(value):
        return {name: _write(held) for name, held in _list_set(value)}
    if isinstance(value, msgspec.Struct):
        return {name: _write(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(name): _write(held) for name, held in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_write(held) for held in value]
    return value.value if isinstance(value, Enum) else value


def _list_set(value: Any) -> Iterable[tuple[str, Any]]:
    """The fields of a dataclass that have another value than their default."""
    for field in fields(value):
        held = getattr(value, field.name)
        # The decoder requires computed fields as well, although it computes them again.
        if not field.init or held != _find_default(field):
            yield field.name, held


def _find_default(field: "Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def read_entry(told: Any) -> Entry:
    """The entry that a JSON object describes; raises UnreadableJournal for any other object."""
    try:
        entry = msgspec.convert(told, Entry)
    except (msgspec.ValidationError, AssertionError) as error:
        raise UnreadableJournal(f"it is no entry of a journal: {error}") from error
    observed = replace(entry.observed, role_failures=dict(entry.role_failures))
    return msgspec.structs.replace(entry, observed=observed)


def read_head(told: Any) -> EntryHead:
    """The head of the entry that a JSON object describes; raises UnreadableJournal otherwise."""
    try:
        return msgspec.convert(told, EntryHead)
    except msgspec.ValidationError as error:
        raise UnreadableJournal(f"it is no entry of a journal: {error}") from error


def write_page(entries: Sequence[Object], version: str) -> bytes:
    """The response of an operator's journal page: one JSON object."""
    return orjson.dumps({"format": FORMAT, "version": version, "entries": entries})


def write_file(entries: Sequence[Object], version: str) -> bytes:
    """A journal file with these entries, each as ``write_entry`` returned it."""
    header = {"format": FORMAT, "version": version}
    return b"".join(orjson.dumps(line) + b"\n" for line in (header, *entries))


def read_file(raw: bytes) -> tuple[Entry, ...]:
    """The entries of a file, oldest first; raises UnreadableJournal with the number of the line."""
    lines = raw.splitlines()
    try:
        header = msgspec.json.decode(lines[0] if lines else b"", type=_Header)
    except msgspec.MsgspecError as error:
        raise UnreadableJournal("this file is no journal; make one with 'kohort record'") from error
    if header.format != FORMAT:
        raise UnreadableJournal(
            f"this journal has the format {header.format!r}; this version reads {FORMAT!r}"
        )
    found = []
    for number, line in enumerate(lines[1:], 2):
        try:
            found.append(read_entry(orjson.loads(line)))
        except (orjson.JSONDecodeError, UnreadableJournal) as error:
            raise UnreadableJournal(f"line {number} cannot be read: {error}") from error
    return tuple(found)
