"""
Plans: what is to be done now about one workload, and what is to be said.

A plan speaks of units. A carrier turns it into actions on objects.
"""

from dataclasses import dataclass, field

from kohort.model.observed import Failure
from kohort.model.placement import Gang
from kohort.model.reasons import Blocker, Notice


@dataclass(frozen=True, slots=True)
class Rollout:
    """
    One step of a rollout.

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
    """A group that is taken down whole because a member failed."""

    ordinal: int
    incarnation: str
    cause: str  # the member that failed


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


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, what to report, and when to look again without an event."""

    rollout: Rollout
    report: Report
    restarts: tuple[Restart, ...] = ()
    may_complete: frozenset[int] = field(default_factory=frozenset)  # groups that get all members
    gangs: tuple[Gang, ...] = ()  # one for each live group, lowest ordinal first
    notices: tuple[Notice, ...] = ()
    served: str = ""  # the revision that serves now and is about to be replaced
    backing_off: frozenset[int] = frozenset()  # failed groups whose members are not replaced yet
    failures: tuple[Failure, ...] = ()  # what the cluster is to remember of failures
    recheck_seconds: float | None = None
