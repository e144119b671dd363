"""
A forecast as values: steps, counts at each step, and why it ends.

A step is everything that the operator does between two moments at which units become ready: what
it takes down, makes and updates in place. Counts are kept for each line that people count: the
groups, whose name is empty, or the instances of each role where only roles roll.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kohort.model.reasons import Blocker
from kohort.model.units import Line


class Move(StrEnum):
    """The kinds of change of a unit."""

    DELETE = "delete"
    CREATE = "create"
    UPDATE = "update"  # in place


@dataclass(frozen=True, slots=True)
class UnitMove:
    """One unit that is deleted, made or updated in place."""

    move: Move
    line: Line
    ordinal: int
    revision: str  # the unit's revision after the move; before it, if the unit is deleted
    why: str = ""  # why the unit is deleted


@dataclass(frozen=True, slots=True)
class Counts:
    """How many units of a line are ready, against how many are wanted."""

    ready: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Amount:
    """How many members exist, and how many GPUs they ask for together."""

    members: int = 0
    gpus: int = 0

    def peak(self, other: "Amount") -> "Amount":
        """The larger members and the larger GPUs of two amounts."""
        return Amount(max(self.members, other.members), max(self.gpus, other.gpus))


@dataclass(frozen=True, slots=True)
class ForecastStep:
    """One step of a rollout."""

    number: int
    begins: float  # seconds after the start of the forecast
    seconds: float  # until its units are ready
    moves: tuple[UnitMove, ...]  # in the order in which they happen
    least: Mapping[str, int]  # ready units while it goes on, by line; "" for the groups
    after: Mapping[str, int]  # ready units when it is over
    amount: Amount  # at its peak


class Ending(StrEnum):
    """How a forecast ends."""

    DONE = "done"  # the workload is as its spec demands, and nothing is left to do
    BLOCKED = "blocked"  # the plan waits for something that does not come by itself
    CUT = "cut"  # more steps follow than a forecast has
    DELETED = "deleted"  # the object is being deleted, so there are no steps


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast for a workload, if nothing fails."""

    target: str  # the revision that the rollout leads to
    former: str  # the revision that most units have now; empty: there are none
    ending: Ending
    steps: tuple[ForecastStep, ...] = ()
    before: Mapping[str, Counts] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)  # ready units at the worst moment
    after: Mapping[str, Counts] = field(default_factory=dict)
    amount_before: Amount = Amount()
    amount_peak: Amount = Amount()
    amount_after: Amount = Amount()
    seconds: float = 0.0  # duration of all steps, if a start takes as long as assumed
    start_seconds: float = 0.0  # assumed duration of each start
    blockers: tuple[Blocker, ...] = ()  # why the rollout cannot go on, from the last plan
    kept: Mapping[str, int] = field(default_factory=dict)  # units that keep an old revision

    @property
    def extra(self) -> Amount:
        """The members and GPUs at the peak beyond those before and after."""
        most = self.amount_before.peak(self.amount_after)
        peak = self.amount_peak
        return Amount(max(0, peak.members - most.members), max(0, peak.gpus - most.gpus))
