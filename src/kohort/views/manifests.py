"""
The changed lines of a manifest: two revisions as YAML, compared line by line.

Lines that did not change stand around the changed ones, so that a reader sees where they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import yaml

from kohort.cluster.objects import Object
from kohort.views.picture import Picture
from kohort.views.rollouts import find_former, find_target

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
