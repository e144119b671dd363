"""
Plans: what is to be done now about one workload, and what is to be said.

A plan speaks of units, line by line. A carrier turns it into actions on objects.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kohort.model.observed import Failure
from kohort.model.placement import Gang
from kohort.model.reasons import Blocker, Notice
from kohort.model.units import GROUPS, Line


@dataclass(frozen=True, slots=True)
class Rollout:
    """
    One step of a rollout, as a strategy decides it.

    ``count`` units exist, those at or above ``boundary`` may have the target
    revision, and the stale ones in ``replace`` are taken down now.
    """

    boundary: int
    count: int
    replace: tuple[int, ...] = ()
    blocker: Blocker | None = None
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Restart:
    """A unit that is taken down whole because a member failed."""

    ordinal: int
    incarnation: str
    cause: str  # the member that failed


@dataclass(frozen=True, slots=True)
class Make:
    """A unit that is missing, and the revision that it is made from."""

    ordinal: int
    revision: str


class Cause(StrEnum):
    """Why a unit is taken down."""

    SURPLUS = "surplus"  # there are more than wanted
    STALE = "stale"  # it has an old revision
    FAILED = "failed"  # a member failed


@dataclass(frozen=True, slots=True)
class Retirement:
    """A unit that is taken down now."""

    ordinal: int
    incarnation: str
    cause: Cause
    why: str  # in a sentence without its subject: "it has an old revision"


@dataclass(frozen=True, slots=True)
class LineReport:
    """The truth about one line, in numbers."""

    wanted: int
    exist: int
    ready: int
    updated: int
    updated_ready: int
    is_updating: bool = False  # units that no partition protects are of another revision
    is_available: bool = False  # every wanted group has as many ready ones as it should


@dataclass(frozen=True, slots=True)
class Step:
    """The decision about one line, now."""

    line: Line
    rollout: Rollout  # in numbers, for carriers that are told numbers
    wanted: int = (
        0  # units that it should have now, extra ones not counted: rules may ask for fewer
    )
    make: tuple[Make, ...] = ()  # lowest first; bounded, the next step makes more
    retire: tuple[Retirement, ...] = ()
    surplus: frozenset[int] = frozenset()  # units that are too many, those that leave included
    amend: tuple[int, ...] = ()  # units that are changed as they run
    restarts: tuple[Restart, ...] = ()  # those of the retired units that failed
    may_complete: frozenset[int] = field(default_factory=frozenset)  # units that get all members
    # Members that have ended, and that are made anew without their unit: (ordinal, name).
    renew: tuple[tuple[int, str], ...] = ()
    # Parts whose missing members may not be made yet, by ordinal of their unit.
    waiting_parts: Mapping[int, frozenset[str]] = field(default_factory=dict)
    backing_off: frozenset[int] = frozenset()  # failed units whose members are not replaced yet
    failures: tuple[Failure, ...] = ()  # what the cluster is to remember of failures
    blockers: tuple[Blocker, ...] = ()
    recheck_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The truth of one snapshot, in numbers: what every status is made from."""

    groups: int  # exist, surge included
    groups_ready: int
    groups_updated: int
    wanted: int
    wanted_ready: int  # ready, below the wanted count
    rolled: int  # of those above the partition: exist
    rolled_updated: int
    rolled_ready: int  # updated and ready
    is_updating: bool
    is_available: bool
    is_done: bool  # the whole workload is on its target revision and ready
    blockers: tuple[Blocker, ...] = ()
    losses: tuple[str, ...] = ()  # clauses of the placement that the scheduler is not told
    ignored: tuple[str, ...] = ()  # and those that it was told and has not kept
    drift: tuple[str, ...] = ()  # what other clients edited, each in a sentence
    roles: Mapping[str, LineReport] = field(default_factory=dict)  # over all groups, by role


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, what to report, and when to look again without an event."""

    steps: Mapping[Line, Step]  # of the groups, and of each role in which something is to be done
    report: Report
    gangs: tuple[Gang, ...] = ()  # one for each live group, lowest ordinal first
    notices: tuple[Notice, ...] = ()
    served: str = ""  # the revision that serves now and is about to be replaced
    recheck_seconds: float | None = None
    now: float = 0.0  # the moment that it was made for

    @property
    def step(self) -> Step:
        """What to do about the groups themselves."""
        return self.steps[GROUPS]
