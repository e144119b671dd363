"""
Placement: what a workload asks of the scheduler that chooses nodes for its members.

A gang is placed whole or not at all. A pack says how wide the smallest domain that
holds all its members may be; tiers count from near to far, and the cluster, not this
module, says what a tier is (a node, a rack, a spine). A wish that the scheduler in use has
no field for is a loss: the operator reports it to the user and never drops it silently.
"""

from dataclasses import dataclass
from enum import StrEnum


class Strength(StrEnum):
    """Whether the scheduler may give a constraint up when there is no room."""

    HARD = "hard"
    SOFT = "soft"


@dataclass(frozen=True, slots=True)
class Pack:
    """How near to each other the nodes of members are; without a tier, as near as possible."""

    strength: Strength
    tier: int | None = None  # the widest allowed domain, by number
    tier_name: str = ""  # the same by name; never both

    def __post_init__(self) -> None:
        assert self.tier is None or not self.tier_name
        assert self.tier is None or self.tier >= 0


@dataclass(frozen=True, slots=True)
class PlacementPolicy:
    """How the scheduler should place the members of each unit."""

    pack: Pack | None = None
    exclusive: str = ""  # no two units share nodes with the same value of this node label
    losses: tuple[str, ...] = ()  # clauses that the scheduler in use has no field for
    ignored: tuple[str, ...] = ()  # clauses that the scheduler was given and did not keep


NO_PLACEMENT = PlacementPolicy()


@dataclass(frozen=True, slots=True)
class Gang:
    """The members of one group that the scheduler must place together."""

    ordinal: int
    incarnation: str  # of the group; a new incarnation is a new gang
    revision: str  # the group's own revision, from which its members are counted
    size: int  # members of the complete group
    minimum: int  # the scheduler places at least so many members together, or none
    is_placed: bool = False  # a member has a node, so the constraint stays (not ModelServing's)
    pack: Pack | None = None
