"""
Rollouts as people talk about them: revisions by number, and what changed between two.

A difference is told in the order in which people ask: images first, then
arguments, resources and sizes, then the environment, then the rest. Items of a
list that have names are compared by name, so a new container does not make all
others differ.

Lists of arguments are compared flag by flag, whatever stands around a change. A flag and its
value belong together, whether they are written with a blank or with ``=``.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kohort.apis.api import StoredRevision
from kohort.cluster.objects import Object
from kohort.model.units import Phase
from kohort.views.ages import find_time
from kohort.views.picture import Picture, find_revision

_ORDER = ("image", "command", "args", "resources", "size", "replicas", "env")
_HIDDEN = "creationTimestamp"
_OUTER = re.compile(r"^.*?Template\.(?=\w+Template\.)")


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that differs; a value that is absent is empty."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        if not self.old:
            return f"{self.path}: {self.new} (new)"
        return f"{self.path}: {self.old} → {self.new or '(none)'}"


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One revision."""

    number: int
    key: str
    name: str
    created: datetime | None
    groups: int  # that have it now
    is_target: bool
    has_served: bool  # all groups were ready on it
    changes: tuple[FieldDifference, ...]  # against the one before it


def make_history(picture: Picture, role: str = "") -> tuple[HistoryLine, ...]:
    """All stored revisions, lowest number first; what changed of one role, or of all."""
    reading = picture.reading
    target = reading.workload.revision if reading else ""
    groups = reading.observed.groups if reading else ()
    newest = max((e.number for e in picture.revisions if e.key == target), default=0)
    lines: list[HistoryLine] = []
    former: Object | None = None
    for revision in picture.revisions:
        is_newest = revision.number == newest or revision.key != target
        held = sum(find_revision(group) == revision.key for group in groups) if is_newest else 0
        content = choose_content(revision.content, role)
        changes = find_changes(former, content) if former is not None else ()
        created = find_time(revision.created)
        is_target = revision.number == newest
        is_serving = is_target and picture.plan is not None and picture.plan.report.is_available
        lines.append(
            HistoryLine(
                number=revision.number,
                key=revision.key,
                name=revision.name,
                created=created,
                groups=held,
                is_target=is_target,
                has_served=revision.has_served or is_serving,
                changes=changes,
            )
        )
        former = content
    return tuple(lines)


def choose_content(content: Object, role: str) -> Object:
    """The content of a revision, or only that of one role."""
    if not role:
        return content
    return {"roles": [held for held in content["roles"] if held.get("name") == role]}


def find_target(picture: Picture) -> StoredRevision | None:
    """The stored revision that the workload asks for, if it is stored already."""
    if picture.reading is None:
        return None
    target = picture.reading.workload.revision
    matching = [revision for revision in picture.revisions if revision.key == target]
    return matching[-1] if matching else None


def find_former(picture: Picture, number: int | None = None) -> StoredRevision | None:
    """
    The revision that an undo goes back to: by number, or the newest other one that served.

    Without a number, a revision that never served is not chosen, however new it is.
    """
    if number is not None:
        return next((e for e in picture.revisions if e.number == number), None)
    target = find_target(picture)
    serving = _find_serving(picture)
    others = [
        e
        for e in picture.revisions
        if (e.has_served or e.key in serving) and (target is None or e.content != target.content)
    ]
    return others[-1] if others else None


def _find_serving(picture: Picture) -> set[str]:
    """
    Revisions that are about to be replaced, and of which the operator has made no note. It makes
    one when a new revision is wanted. Where there is no note at all, since an earlier version of
    the operator made none, the revisions of ready groups are taken.
    """
    if picture.reading is None or picture.plan is None:
        return set()
    if any(revision.has_served for revision in picture.revisions):
        return {picture.plan.served}
    groups = picture.reading.observed.groups
    return {find_revision(group) for group in groups if group.phase is Phase.READY}


def find_changes(old: Object, new: Object) -> tuple[FieldDifference, ...]:
    """The field differences between two specs, the most important first."""
    found = [change for change in _compare("", old, new) if not change.path.endswith(_HIDDEN)]
    return tuple(sorted(found, key=_rank))


def _rank(change: FieldDifference) -> int:
    words = change.path.replace(".", " ").split()
    return next((rank for rank, word in enumerate(_ORDER) if word in words), len(_ORDER))


def _compare(path: str, old: Any, new: Any) -> Iterator[FieldDifference]:
    if old == new or (_is_empty(old) and _is_empty(new)):
        return
    if isinstance(old, dict | None) and isinstance(new, dict | None):
        yield from _compare_keys(path, old or {}, new or {})
    elif path.rpartition(".")[2] in ARGUMENTS and _are_lists(old, new):
        yield FieldDifference(_shorten(path), *compare_arguments(old, new))
    elif _is_named(old) and _is_named(new):
        yield from _compare_keys(path, _by_name(old), _by_name(new))
    else:
        change = FieldDifference(_shorten(path), _write(old), _write(new))
        # A quantity may be written as a number or as text; the server takes both for one.
        if change.old != change.new:
            yield change


def _compare_keys(path: str, old: Object, new: Object) -> Iterator[FieldDifference]:
    for key in dict.fromkeys((*old, *new)):
        yield from _compare(f"{path}.{key}" if path else key, old.get(key), new.get(key))


def _shorten(path: str) -> str:
    """A short path: the common prefix is left out, and containers are named by their names."""
    return _OUTER.sub("", path).replace(".spec.containers.", ".")


def _is_empty(value: Any) -> bool:
    return value is None or value in ({}, [])


def _is_named(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(i, dict) and "name" in i for i in value)


def _are_lists(*values: Any) -> bool:
    return all(isinstance(value, list | None) for value in values)


def _by_name(items: list[Object] | None) -> Object:
    return {item["name"]: {k: v for k, v in item.items() if k != "name"} for item in items or ()}


def _write(value: Any) -> str:
    if _is_empty(value):
        return ""
    if isinstance(value, list):
        return " ".join(_write(item) for item in value)
    return str(value)


ARGUMENTS = ("args", "command")


def compare_arguments(old: Any, new: Any) -> tuple[str, str]:
    """What one list has that the other has not; all of both if only their order differs."""
    before, after = split_arguments(old or []), split_arguments(new or [])
    gone, come = _subtract(before, after), _subtract(after, before)
    if not gone and not come:
        gone, come = before, after
    return " ".join(gone), " ".join(come)


def split_arguments(words: list[Any]) -> list[str]:
    """The words of a list, with the value of a flag in one text with it."""
    found: list[str] = []
    for word in map(str, words):
        last = found[-1] if found else ""
        takes_value = last.startswith("-") and "=" not in last and " " not in last
        if takes_value and not word.startswith("-"):
            found[-1] = f"{last} {word}"
        else:
            found.append(word)
    return found


def _subtract(words: list[str], others: list[str]) -> list[str]:
    left, found = Counter(others), []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            found.append(word)
    return found
