"""
Units: the things that a policy counts, replaces and waits for.

A workload is a tree of four levels: workload, group, instance, member. Every
policy acts on one level, which it names. A unit is one node of that level,
reduced to the facts that planning needs. All units of a plan are taken from
one snapshot of the cache, so no two rules can disagree about what exists.

A line is an ordered list of units of one kind that scales and rolls as one: the groups
of a workload, or the instances of one role within a group. Planning decides about scale,
rollout and recovery for one line at a time.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """The level of the tree on which a policy acts; its value is the noun for one unit."""

    GROUP = "group"
    INSTANCE = "instance"
    MEMBER = "member"


class Line(NamedTuple):
    """The name of a line: the groups of a workload, or the instances of a role in a group."""

    group: int | None = None  # None: the groups themselves
    role: str = ""

    def __str__(self) -> str:
        if self.group is None:
            return "groups"
        return f"role {self.role} of group {self.group}"


GROUPS = Line()


class Reach(StrEnum):
    """Who makes and deletes the units of a line, and where its progress is recorded."""

    COUNT = "count"  # another controller does, by a count and a partition that the operator sets
    SUFFIX = "suffix"  # a StatefulSet does, by replicas and partition; the operator may delete pods
    NOTED = "noted"  # the operator does, one by one, by a record that it wrote before
    ANY = "any"  # the operator does, one by one; it keeps no record but the units themselves


class Phase(StrEnum):
    """The state of a unit, as far as planning needs to know."""

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
    is_settling: bool = False  # ready, but not for long enough to be available
    is_edited: bool = False  # another client edited or restarted it: the operator recreates it

    @property
    def is_ready(self) -> bool:
        """Whether the unit is ready."""
        return self.phase is Phase.READY

    @property
    def is_available(self) -> bool:
        """Whether the unit is ready for long enough that a rollout may take others down."""
        return self.is_ready and not self.is_settling
