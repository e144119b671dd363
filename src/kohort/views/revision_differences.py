"""
The differences between two revisions: field by field with what each restarts, and as YAML.

A forecast of the rollout from one revision to the other says which groups or roles are made anew
or updated in place; nothing is guessed from the name of a field. A field of a role is
blamed for its role alone, where roles roll by themselves.

As YAML they are compared line by line. Lines that did not change stand around the changed ones,
so that a reader sees where they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import yaml

from kohort.cluster.objects import Object
from kohort.views.forecasts import ForecastView, Restart
from kohort.views.picture import Picture
from kohort.views.rollouts import FieldDifference, find_former, find_target

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ChangedField:
    """One field, and what is restarted because of it."""

    path: str
    old: str
    new: str
    restarts: str


@dataclass(frozen=True, slots=True)
class RevisionDifference:
    """All fields that differ between two revisions of a workload."""

    reference: str
    kind: str
    namespace: str
    name: str
    old: int
    new: int  # 0: it is wanted, and not stored yet
    fields: tuple[ChangedField, ...]


def blame_restarts(
    changes: tuple[FieldDifference, ...], view: ForecastView | None
) -> tuple[ChangedField, ...]:
    """Each change with what it restarts, as a forecast of all of them says."""
    restarts = view.restarts if view else ()
    return tuple(
        ChangedField(change.path, change.old, change.new, _find_blame(change, restarts))
        for change in changes
    )


def _find_blame(change: FieldDifference, restarts: tuple[Restart, ...]) -> str:
    words = change.path.split(".")
    if words[-1] == "replicas":
        return NOTHING
    own = [restart for restart in restarts if restart.role in ("", *words)]
    return ", ".join(map(describe_restart, own)) or NOTHING


def describe_restart(restart: Restart) -> str:
    """What is restarted, and how, if it is in place."""
    return f"{restart.what} in place" if restart.is_in_place else restart.what


_AROUND = 3


@dataclass(frozen=True, slots=True)
class ManifestLine:
    """One line: ``+`` new, ``-`` gone, a space for the same, ``@`` for lines that are left out."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class ManifestChange:
    """What changed from one revision to another; a number of 0 is the spec of now."""

    old: int
    new: int
    lines: tuple[ManifestLine, ...]


def compare_revisions(picture: Picture) -> ManifestChange | None:
    """The target against the newest other revision that served; None if there is none."""
    target, former = find_target(picture), find_former(picture)
    if target is None or former is None:
        return None
    lines = tuple(compare(former.content, target.content))
    return ManifestChange(former.number, target.number, lines)


def compare(old: Object, new: Object) -> Iterator[ManifestLine]:
    """The lines of two manifests, those that differ with three of their neighbours."""
    before, after = _write(old), _write(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for place, group in enumerate(matcher.get_grouped_opcodes(_AROUND)):
        if place:
            yield ManifestLine("@", "")
        for verb, first, last, new_first, new_last in group:
            if verb == "equal":
                yield from (ManifestLine(" ", text) for text in before[first:last])
                continue
            yield from (ManifestLine("-", text) for text in before[first:last])
            yield from (ManifestLine("+", text) for text in after[new_first:new_last])


def _write(content: Object) -> list[str]:
    text: str = yaml.safe_dump(content, sort_keys=True, allow_unicode=True, width=1_000)
    return text.splitlines()
