"""
Policies: the limits and orders that the user sets, with percentages already resolved.

Each policy names the level that it acts on where an API leaves a choice; none
of them knows which API it came from.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from kohort.model.units import Level

STRATEGIES = ("budgeted", "compatible")  # the built-in rollout strategies, the default first
# Packages add strategies by entry points of this group; see kohort.planning.rollout.registry.
STRATEGY_ENTRY_POINTS = "kohort.rollout_strategies"


@cache
def list_strategies() -> tuple[str, ...]:
    """The names of all strategies, built-in ones first."""
    # Imported here, since this import would double the time of 'kohort --help'.
    from importlib.metadata import entry_points

    found = sorted(point.name for point in entry_points(group=STRATEGY_ENTRY_POINTS))
    return (*STRATEGIES, *(name for name in dict.fromkeys(found) if name not in STRATEGIES))


@dataclass(frozen=True, slots=True)
class RolloutPolicy:
    """How many units a rollout may replace at once, and which."""

    wanted: int  # units that the user asks for
    partition: int = 0  # units below it keep their revision
    max_unavailable: int = 1
    max_surge: int = 0
    strategy: str = STRATEGIES[0]  # built in, or found by entry point
    min_ready_seconds: int = 0  # a unit is available after it has been ready for so long
    level: Level = Level.GROUP
    is_paused: bool = False  # while true, no unit gets another revision
    growth_max: int | None = None  # units that may be unavailable while more are made

    def __post_init__(self) -> None:
        assert self.wanted >= 0
        assert self.partition >= 0
        assert self.max_unavailable >= 0
        assert self.max_surge >= 0
        assert self.min_ready_seconds >= 0
        assert self.strategy

    @property
    def surge(self) -> int:
        """Extra units that a rollout may create; never more than the wanted count."""
        return min(self.max_surge, self.wanted)

    @property
    def ready_min(self) -> int:
        """Units that the rollout must keep available at every moment."""
        return max(0, self.wanted - self.max_unavailable)


class Trigger(StrEnum):
    """When a failed member takes its unit down with it."""

    NEVER = "never"
    ALWAYS = "always"
    AFTER_START = "after-start"  # not while the unit is still coming up
    AFTER_READY = "after-ready"  # not before the unit was ready once


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long the operator waits before it recreates a unit that fails again and again."""

    base_seconds: float = 10.0  # after the second failure in a row; then twice as long each time
    max_seconds: float = 300.0
    quiet_seconds: float = 600.0  # a unit that lived so long starts from the first failure again

    def __post_init__(self) -> None:
        assert self.base_seconds >= 0
        assert self.max_seconds >= 0
        assert self.quiet_seconds >= 0

    def wait_seconds(self, count: int) -> float:
        """Seconds to wait after so many failures in a row; zero after the first."""
        doubled = self.base_seconds * 2.0 ** min(count - 2, 20)
        return 0.0 if count <= 1 else min(doubled, self.max_seconds)


@dataclass(frozen=True, slots=True)
class RecoveryPolicy:
    """When a failed member takes its unit down, and how long the operator waits."""

    trigger: Trigger = Trigger.NEVER
    level: Level = Level.GROUP
    grace_seconds: float = 0.0  # a failed member may become ready again within this time
    is_forgiving: bool = False  # a member that is ready again after a crash has not failed
    spares_deleted: bool = False  # the operator recreates a deleted member without its unit
    backoff: Backoff = Backoff()

    def __post_init__(self) -> None:
        assert self.grace_seconds >= 0


NO_RECOVERY = RecoveryPolicy()


class Startup(StrEnum):
    """The order in which the members of a unit start."""

    TOGETHER = "together"
    ENTRY_FIRST = "entry-first"  # the other members wait until the entry member is ready


class Victims(StrEnum):
    """Which units the operator takes down first when a line has more than wanted."""

    HIGHEST = "highest"  # the highest ordinals
    CHEAPEST = "cheapest"  # unready units, then by deletion cost, then the highest ordinals
    BEYOND = "beyond"  # exactly the units whose ordinal is not below the wanted count
    # Units are alike and have no addresses: unready units, then old ones, then by deletion cost,
    # then the newest. A new unit has an ordinal of its own, so it waits for no leaving one.
    ALIKE = "alike"


class Amendment(StrEnum):
    """Whether the operator updates a unit in place or recreates it."""

    NEVER = "never"  # always recreate
    IF_POSSIBLE = "if-possible"  # update in place, or recreate where that is not possible
    ONLY = "only"  # update in place, or leave the unit as it is


@dataclass(frozen=True, slots=True)
class Skew:
    """How far roles may be ahead of each other: a number of units, or a share of each role."""

    units: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        assert (self.units is None) != (self.share is None)
        assert (self.units or 0) >= 0 and (self.share or 0.0) >= 0

    def of(self, wanted: int) -> float:
        """The skew as a share of a line with so many units."""
        if self.share is not None:
            return self.share
        assert self.units is not None
        return self.units / wanted if wanted else 1.0

    def __str__(self) -> str:
        return str(self.units) if self.share is None else f"{self.share * 100:g}%"


class Gate(StrEnum):
    """The state that existing units must reach before the line grows further."""

    NONE = "none"
    SCHEDULED = "scheduled"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Rule:
    """
    A limit that ties the updates or the growth of some roles of a group together.

    A rule only narrows what a line may do; it never widens a budget.
    """

    name: str  # as the user named it
    roles: tuple[str, ...]
    update_skew: Skew | None = None  # how far updates of these roles may be apart
    scale_skew: Skew | None = None  # how far their growth may be apart
    gate: Gate = Gate.SCHEDULED  # of growth
    is_ordered: bool = False  # a role is updated only after all roles named before it
    # The skew counts all units of each role, also of paused and partitioned roles: no role
    # finishes an update while another role is kept from it.
    is_together: bool = False
    # After so many unready seconds of one updated unit all roles go back together; None: never.
    rollback_seconds: float | None = None
