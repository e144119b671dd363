"""
Versions of formats and frameworks, and whether a runtime's version accepts a model's.

A version is ``[v]major[.minor[.patch]]``; behind the patch may stand ``.dev`` parts, a
``-prerelease`` and a ``+build``. A runtime that says GreaterThan accepts models of versions below
its own: the runtime's version is the one that must be greater.
"""

import re
from dataclasses import dataclass

from kohort.apis.inferenceservice.models import EQUAL, GREATER, GREATER_OR_EQUAL

_NUMBER = re.compile(r"0|[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Version:
    """A parsed version."""

    numbers: tuple[int, int, int]  # missing parts are 0
    precision: int  # how many parts the text has
    prerelease: str = ""
    build: str = ""
    dev: str = ""
    has_prefix: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the version consists of numbers only."""
        return not (self.prerelease or self.build or self.dev)

    def equals(self, other: "Version") -> bool:
        """Whether both versions are equal, apart from a leading v and missing zeros."""
        mine = (self.numbers, self.prerelease, self.build, self.dev)
        return mine == (other.numbers, other.prerelease, other.build, other.dev)


def find_version(text: str) -> Version | None:
    """Parse a version; None if the text is invalid."""
    has_prefix = text.startswith("v")
    parts = text.removeprefix("v").split(".", 2)
    prerelease = build = dev = ""
    if len(parts) == 3:
        rest, _, build = parts[2].partition("+")
        rest, _, prerelease = rest.partition("-")
        parts[2], _, dev = rest.partition(".")
    if not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    major, minor, patch = (*map(int, parts), 0, 0)[:3]
    return Version((major, minor, patch), len(parts), prerelease, build, dev, has_prefix)


def accepts_version(runtime: str, model: str, operator: str) -> bool:
    """Whether a runtime with one version serves a model with another, by the operator."""
    ours, theirs = find_version(runtime), find_version(model)
    if ours is None or theirs is None:
        return False
    if operator == EQUAL or not (ours.is_plain and theirs.is_plain):
        return ours.equals(theirs)
    if (ours.precision, ours.has_prefix) != (theirs.precision, theirs.has_prefix):
        return False
    if operator == GREATER:
        return ours.numbers > theirs.numbers
    return operator == GREATER_OR_EQUAL and ours.numbers >= theirs.numbers
