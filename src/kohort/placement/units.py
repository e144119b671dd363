"""
Units: the sets of pods that are placed together or not at all.

A unit is a gang, or a subgroup of one: its members in batches with equal requests, how
many of them must find room, and the window of tiers in which the search looks for a
domain. Members are values of the caller; placement does not read them.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kohort.placement.layout import Ask

EVERYWHERE = -1  # a mask of all nodes


@dataclass(frozen=True, slots=True)
class Batch:
    """Members with equal requests and node rules."""

    ask: Ask
    members: tuple[Hashable, ...]
    role: str = ""
    mask: int = EVERYWHERE  # the allowed nodes, besides the rule
    terms: Any = None  # what they say about other pods; the scheduler reads it, placement does not


@dataclass(frozen=True, slots=True)
class Window:
    """The first and the last tier in which a domain is searched."""

    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Unit:
    """Members that are placed together or not at all, with nested parts."""

    batches: tuple[Batch, ...] = ()
    needed: int = 0  # members of it that must find room, those of its parts included
    window: Window | None = None  # None: anywhere in the domain of the unit around it
    pinned: int | None = None  # the domain of the members that have nodes already
    minima: Mapping[str, int] = field(default_factory=dict)  # members needed of each role
    parts: tuple["Unit", ...] = ()
    policy: str = ""  # parts of one policy are counted together
    parts_needed: Mapping[str, int] = field(default_factory=dict)  # parts needed of each policy

    @property
    def size(self) -> int:
        """All members, those of its parts included."""
        own = sum(len(batch.members) for batch in self.batches)
        return own + sum(part.size for part in self.parts)

    def all_batches(self) -> tuple[Batch, ...]:
        """The batches of the unit and of all its parts."""
        inner = (batch for part in self.parts for batch in part.all_batches())
        return (*self.batches, *inner)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One member, and the slot of the node that it is given."""

    batch: Batch
    member: Hashable
    slot: int


def is_met(unit: Unit, assignments: list[Assignment], parts: Counter[str]) -> bool:
    """Whether enough members are placed for the unit to start."""
    if len(assignments) < unit.needed:
        return False
    if any(parts[policy] < count for policy, count in unit.parts_needed.items()):
        return False
    if not unit.minima:
        return True
    roles = Counter(assignment.batch.role for assignment in assignments)
    return all(roles[role] >= count for role, count in unit.minima.items())
