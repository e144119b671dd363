"""
Units: the things that a policy counts, replaces and waits for.

A workload is a tree of four levels: workload, group, instance, member. Every
policy acts on one level, which it names. A unit is one node of that level,
reduced to the facts that planning needs. All units of a plan are taken from
one snapshot of the cache, so no two rules can disagree about what exists.
"""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The level of the tree on which a policy acts."""

    GROUP = "group"
    INSTANCE = "instance"
    MEMBER = "member"


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
