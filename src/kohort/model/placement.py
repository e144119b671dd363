"""
Placement: what a workload asks of the scheduler that chooses nodes for its members.

A gang is placed whole or not at all. A pack says how wide the smallest domain that
holds all its members may be; tiers count from near to far, and what a tier is (a
node, a rack, a spine) is said by the cluster, not here. What cannot be said to the
scheduler in use is a loss: it is told to the user and never dropped silently.
"""

from dataclasses import dataclass
from enum import StrEnum

from kohort.model.units import Level


class Strength(StrEnum):
    """Whether a wish may be given up when there is no room."""

    HARD = "hard"
    SOFT = "soft"


@dataclass(frozen=True, slots=True)
class Pack:
    """How near to each other members stand; without a tier, as near as there is room."""

    strength: Strength
    tier: int | None = None  # the widest domain that is allowed, by number
    tier_name: str = ""  # or by name; never both

    def __post_init__(self) -> None:
        assert self.tier is None or not self.tier_name
        assert self.tier is None or self.tier >= 0


@dataclass(frozen=True, slots=True)
class PlacementPolicy:
    """How the members of each unit are placed."""

    pack: Pack | None = None
    exclusive: str = ""  # the node label whose value a unit has to itself
    losses: tuple[str, ...] = ()  # clauses that the scheduler in use cannot be told
    ignored: tuple[str, ...] = ()  # clauses that it was told and has not kept
    level: Level = Level.GROUP


NO_PLACEMENT = PlacementPolicy()


@dataclass(frozen=True, slots=True)
class Gang:
    """The members of one group that must be placed together."""

    ordinal: int
    incarnation: str  # of the group; a new one is a new gang
    revision: str  # what it is counted from: the group's own, never a newer one
    size: int  # members of the complete group
    minimum: int  # members that are placed together, or none is
    is_placed: bool = False  # a member has a node; its constraint stays as it is
    pack: Pack | None = None
