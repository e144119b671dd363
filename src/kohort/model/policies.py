"""
Policies: what the user allows and asks for, with percentages already resolved.

Each policy names the level that it acts on where an API leaves a choice; none
of them knows which API it came from.
"""

from dataclasses import dataclass
from enum import StrEnum

from kohort.model.units import Level

STRATEGIES = ("budgeted", "compatible")  # of rollouts, the usual one first


@dataclass(frozen=True, slots=True)
class RolloutPolicy:
    """How far a rollout may go at once."""

    wanted: int  # units that the user asks for
    partition: int = 0  # units below it keep their revision
    max_unavailable: int = 1
    max_surge: int = 0
    strategy: str = STRATEGIES[0]
    min_ready_seconds: int = 0  # a unit is counted on after it has been ready for so long
    level: Level = Level.GROUP

    def __post_init__(self) -> None:
        assert self.wanted >= 0
        assert self.partition >= 0
        assert self.max_unavailable >= 0
        assert self.max_surge >= 0
        assert self.min_ready_seconds >= 0
        assert self.strategy in STRATEGIES

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


@dataclass(frozen=True, slots=True)
class RecoveryPolicy:
    """What a failure takes down with it."""

    trigger: Trigger = Trigger.NEVER
    level: Level = Level.GROUP


NO_RECOVERY = RecoveryPolicy()


class Startup(StrEnum):
    """Who may start when."""

    TOGETHER = "together"
    ENTRY_FIRST = "entry-first"  # others wait until the entry member is ready
