"""
Units: the things that a policy counts, replaces and waits for.

A workload is a tree of four levels: workload, group, instance, member. Every
policy acts on one level, which it names. A unit is one node of that level,
reduced to the facts that planning needs. All units of a plan are taken from
one snapshot of the cache, so no two rules can disagree about what exists.

A line is an ordered list of units of one kind that scales and rolls as one: the groups
of a workload, or the instances of one role within a group. Whatever is decided about
scale, rollout and recovery is decided for one line at a time.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """The level of the tree on which a policy acts; the value is the word for one unit of it."""

    GROUP = "group"
    INSTANCE = "instance"
    MEMBER = "member"


class Line(NamedTuple):
    """Which list of units: the groups of a workload, or the instances of a role in a group."""

    group: int | None = None  # None: the groups themselves
    role: str = ""

    def __str__(self) -> str:
        if self.group is None:
            return "groups"
        return f"role {self.role} of group {self.group}"


GROUPS = Line()


class Reach(StrEnum):
    """What the carrier of a line can be asked for."""

    COUNT = "count"  # another controller makes and replaces units, and is told numbers
    SUFFIX = "suffix"  # a set makes units by count and boundary; single ones can be taken down
    NOTED = "noted"  # units are made and taken down one by one, as a note says that is read back
    ANY = "any"  # units are made and taken down one by one; what exists is all that is remembered


class Phase(StrEnum):
    """What a unit is doing, as far as planning cares."""

    STARTING = "starting"
    READY = "ready"
    BROKEN = "broken"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """One group, instance or member that exists in the cluster."""

    ordinal: int
    revision: str
    phase: Phase
    is_settling: bool = False  # serves, but not for long enough to be counted on
    is_edited: bool = False  # another client edited it, or had it restarted: it is made anew

    @property
    def is_ready(self) -> bool:
        """Whether it serves."""
        return self.phase is Phase.READY

    @property
    def is_available(self) -> bool:
        """Whether it serves and is counted on: others may be taken down because it serves."""
        return self.is_ready and not self.is_settling
