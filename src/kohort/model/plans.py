"""
Plans: what the operator does now about one workload, and what it reports.

A plan names units, line by line. A carrier turns it into actions on objects.
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

    ``count`` units should exist, units at or above ``boundary`` may have the target
    revision, and the operator takes the stale units in ``replace`` down now.
    """

    boundary: int
    count: int
    replace: tuple[int, ...] = ()
    blocker: Blocker | None = None
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Restart:
    """A unit that the operator takes down whole because a member failed."""

    ordinal: int
    incarnation: str
    cause: str  # the member that failed


@dataclass(frozen=True, slots=True)
class Make:
    """A missing unit to make, and the revision to make it from."""

    ordinal: int
    revision: str


class Cause(StrEnum):
    """Why the operator takes a unit down."""

    SURPLUS = "surplus"  # the line has more units than wanted
    STALE = "stale"  # the unit has an old revision
    FAILED = "failed"  # a member failed


@dataclass(frozen=True, slots=True)
class Retirement:
    """A unit that the operator takes down now."""

    ordinal: int
    incarnation: str
    cause: Cause
    why: str  # in a sentence without its subject: "it has an old revision"


class Hold(StrEnum):
    """The action that a hook of another client holds up: deleting a unit or updating it."""

    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class LineReport:
    """The counts of one line in one snapshot."""

    wanted: int
    exist: int
    ready: int
    updated: int
    updated_ready: int
    is_updating: bool = False  # units above the partition have another revision
    is_available: bool = False  # every wanted group has all its wanted instances ready


@dataclass(frozen=True, slots=True)
class Step:
    """What to make, take down and change in one line now."""

    line: Line
    rollout: Rollout  # count and boundary, for carriers that take numbers
    wanted: int = (
        0  # units that the line should have now, without surge: rules may lower the user's count
    )
    make: tuple[Make, ...] = ()  # lowest first; bounded: the next step makes the rest
    retire: tuple[Retirement, ...] = ()
    surplus: frozenset[int] = frozenset()  # units beyond the count, terminating ones included
    amend: tuple[int, ...] = ()  # units to update in place
    # Units that the operator would retire or amend now if no hook of another client held them.
    held: Mapping[int, Hold] = field(default_factory=dict)
    restarts: tuple[Restart, ...] = ()  # the retired units that failed
    may_complete: frozenset[int] = field(default_factory=frozenset)  # units that get all members
    # Members that have ended and that the operator recreates without their unit: (ordinal, name).
    renew: tuple[tuple[int, str], ...] = ()
    # Parts whose missing members the operator may not make yet, by ordinal of their unit.
    waiting_parts: Mapping[int, frozenset[str]] = field(default_factory=dict)
    backing_off: frozenset[int] = frozenset()  # failed units whose members are not replaced yet
    failures: tuple[Failure, ...] = ()  # the failure records to store in the cluster
    blockers: tuple[Blocker, ...] = ()
    recheck_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of a workload in one snapshot, from which every API's status is written."""

    groups: int  # exist, surge included
    groups_ready: int
    groups_updated: int
    wanted: int
    wanted_ready: int  # ready, with an ordinal below the wanted count
    rolled: int  # exist, above the partition
    is_updating: bool
    is_available: bool
    is_done: bool  # the whole workload is on its target revision and ready
    blockers: tuple[Blocker, ...] = ()
    losses: tuple[str, ...] = ()  # placement clauses that the scheduler has no field for
    ignored: tuple[str, ...] = ()  # placement clauses that the scheduler did not keep
    drift: tuple[str, ...] = ()  # edits of other clients, a sentence for each
    roles: Mapping[str, LineReport] = field(default_factory=dict)  # over all groups, by role
    rolled_ready: int = 0  # updated and ready, above the partition


@dataclass(frozen=True, slots=True)
class Rollback:
    """Roles that go back together to the revision that served before."""

    rule: str  # the name of the rule that ties them together
    roles: tuple[str, ...]
    cause: Blocker


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, what to report, and when to reconcile again without an event."""

    steps: Mapping[Line, Step]  # of the groups, and of each role that may need an action
    report: Report
    gangs: tuple[Gang, ...] = ()  # one for each live group, lowest ordinal first
    notices: tuple[Notice, ...] = ()
    served: str = ""  # the revision that serves now and is about to be replaced
    rollbacks: tuple[Rollback, ...] = ()  # to be written into the workload's spec
    recheck_seconds: float | None = None
    now: float = 0.0  # the time that the plan was made for

    @property
    def step(self) -> Step:
        """What to do about the groups themselves."""
        return self.steps[GROUPS]
