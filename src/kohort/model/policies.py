"""
Policies: what the user allows and asks for, with percentages already resolved.

Each policy names the level that it acts on where an API leaves a choice; none
of them knows which API it came from.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from kohort.model.units import Level

STRATEGIES = ("budgeted", "compatible")  # of rollouts that are built in, the usual one first
# Packages add strategies by entry points of this group; see kohort.planning.rollout.registry.
STRATEGY_ENTRY_POINTS = "kohort.rollout_strategies"


@cache
def list_strategies() -> tuple[str, ...]:
    """The names of all strategies, those that are built in first."""
    # It takes as long to import as all that 'kohort --help' needs.
    from importlib.metadata import entry_points

    found = sorted(point.name for point in entry_points(group=STRATEGY_ENTRY_POINTS))
    return (*STRATEGIES, *(name for name in dict.fromkeys(found) if name not in STRATEGIES))


@dataclass(frozen=True, slots=True)
class RolloutPolicy:
    """How far a rollout may go at once."""

    wanted: int  # units that the user asks for
    partition: int = 0  # units below it keep their revision
    max_unavailable: int = 1
    max_surge: int = 0
    strategy: str = STRATEGIES[0]  # built in, or found by entry point
    min_ready_seconds: int = 0  # a unit is counted on after it has been ready for so long
    level: Level = Level.GROUP
    is_paused: bool = False  # nothing is brought to another revision meanwhile

    def __post_init__(self) -> None:
        assert self.wanted >= 0
        assert self.partition >= 0
        assert self.max_unavailable >= 0
        assert self.max_surge >= 0
        assert self.min_ready_seconds >= 0
        assert self.strategy

    @property
    def surge(self) -> int:
        """Extra units that a rollout may have; never more than there are units."""
        return min(self.max_surge, self.wanted)

    @property
    def ready_min(self) -> int:
        """Units that must serve at every moment."""
        return max(0, self.wanted - self.max_unavailable)


class Trigger(StrEnum):
    """When a failed member takes its unit down with it."""

    NEVER = "never"
    ALWAYS = "always"
    AFTER_START = "after-start"  # not while the unit is still coming up
    AFTER_READY = "after-ready"  # not before the unit was ready once


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a unit waits that fails again and again, before it is made anew."""

    base_seconds: float = 10.0  # after the second failure in a row; then twice as long each time
    max_seconds: float = 300.0
    quiet_seconds: float = 600.0  # a unit that lived so long starts from the first failure again

    def __post_init__(self) -> None:
        assert self.base_seconds >= 0
        assert self.max_seconds >= 0
        assert self.quiet_seconds >= 0

    def wait_seconds(self, count: int) -> float:
        """How long the next try waits after so many failures in a row; none after the first."""
        doubled = self.base_seconds * 2.0 ** min(count - 2, 20)
        return 0.0 if count <= 1 else min(doubled, self.max_seconds)


@dataclass(frozen=True, slots=True)
class RecoveryPolicy:
    """What a failure takes down with it."""

    trigger: Trigger = Trigger.NEVER
    level: Level = Level.GROUP
    grace_seconds: float = 0.0  # a failed member may serve again within this time
    is_forgiving: bool = False  # a member that serves again after a crash has not failed
    spares_deleted: bool = False  # a member that was deleted is made anew without its unit
    backoff: Backoff = Backoff()

    def __post_init__(self) -> None:
        assert self.grace_seconds >= 0


NO_RECOVERY = RecoveryPolicy()


class Startup(StrEnum):
    """Who may start when."""

    TOGETHER = "together"
    ENTRY_FIRST = "entry-first"  # others wait until the entry member is ready


class Victims(StrEnum):
    """Which units go when there are more than wanted."""

    HIGHEST = "highest"  # the highest ordinals
    CHEAPEST = "cheapest"  # those that do not serve, then by deletion cost, then the highest
    BEYOND = "beyond"  # exactly those whose ordinal is not below the wanted count


class Amendment(StrEnum):
    """How a unit is brought to another revision."""

    NEVER = "never"  # it is made anew
    IF_POSSIBLE = "if-possible"  # it is changed as it runs, or made anew where that cannot be
    ONLY = "only"  # it is changed as it runs, or stays as it is


@dataclass(frozen=True, slots=True)
class Skew:
    """How far lines may be apart: a number of units, or a share of each line."""

    units: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        assert (self.units is None) != (self.share is None)
        assert (self.units or 0) >= 0 and (self.share or 0.0) >= 0

    def of(self, wanted: int) -> float:
        """The share that this is of a line with so many units."""
        if self.share is not None:
            return self.share
        assert self.units is not None
        return self.units / wanted if wanted else 1.0


class Gate(StrEnum):
    """What the units that exist must have reached before a line grows further."""

    NONE = "none"
    SCHEDULED = "scheduled"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Rule:
    """
    What ties the roles of a group together.

    A rule only narrows what a line may do; it never widens a budget.
    """

    name: str  # as the user named it
    roles: tuple[str, ...]
    update_skew: Skew | None = None  # how far updates of these roles may be apart
    scale_skew: Skew | None = None  # how far their growth may be apart
    gate: Gate = Gate.SCHEDULED  # of growth
    is_ordered: bool = False  # each is updated only when those before it are
