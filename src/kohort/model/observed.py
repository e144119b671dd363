"""
Observed: what exists of a workload, as one snapshot of the caches shows it.

An instance lives as long as its entry member: a new entry is a new incarnation, and
members of an older one are leftovers that no plan waits for. A group is one instance, or
the instances of its roles, seen as one unit. Progress is what the cluster remembers of a
rollout, so that a restart of the controller forgets nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.model.units import GROUPS, Line, Phase, Unit


@dataclass(frozen=True, slots=True)
class Crash:
    """How a container of a member last ended."""

    member: str
    container: str = ""
    code: int | None = None  # None where the cluster does not say
    reason: str = ""
    ended_at: float = 0.0  # in seconds of its node's clock; 0 where that is not said

    def __str__(self) -> str:
        where = f"container {self.container} of " if self.container else ""
        how = "has restarted" if self.code is None else f"exited with code {self.code}"
        more = f" ({self.reason})" if self.reason not in ("", "Error", "Completed") else ""
        return f"{where}pod {self.member} {how}{more}"


@dataclass(frozen=True, slots=True)
class Failure:
    """The last failure of a unit, as the cluster remembers it."""

    ordinal: int
    revision: str
    incarnation: str  # the one that failed
    count: int  # failures in a row
    at: float  # when it was recorded, in seconds of the controller's clock
    crash: Crash
    line: Line = GROUPS  # the line of the unit


@dataclass(frozen=True, slots=True)
class Member:
    """One pod."""

    name: str
    uid: str
    index: int  # 0 is the entry
    revision: str
    phase: Phase
    is_pending: bool = False  # not running yet
    has_restarted: bool = False  # a container of it has run before
    is_current: bool = True  # belongs to the group's present incarnation
    is_placed: bool = False  # has a node
    has_ended: bool = False  # none of its containers will start again
    ready_since: float | None = None  # None while it is not ready; 0 if that is not said
    was_ready: bool = False  # it is not ready now, but was since its containers started
    crash: Crash | None = None  # the last one
    has_recovered: bool = False  # it has been ready since that crash
    unready_since: float | None = None  # None while it is ready, or where that is not said
    is_spared: bool = False  # neither its failures nor its end take the unit down
    part: str = ""  # the part of its instance that it belongs to, where a role has parts

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has happened to it that a unit might be restarted for."""
        has_failed = self.has_restarted or self.has_ended or self.was_ready
        return not has_failed and self.phase is not Phase.LEAVING


@dataclass(frozen=True, slots=True)
class Instance:
    """One unit of a line, with the members that exist of it."""

    ordinal: int
    revision: str
    phase: Phase
    incarnation: str  # uid of the entry member; empty while there is none
    size: int  # members that it should have, in its own revision
    members: tuple[Member, ...] = ()
    is_whole: bool = True  # all objects that carry it exist; half a group is not counted
    lost: tuple[str, ...] = ()  # members of this incarnation that were here and are gone
    unfit: tuple[str, ...] = ()  # members that cannot work as they were made
    made_at: float = 0.0  # when its entry member was made, in seconds of the cluster's clock
    # It says to be of the target revision and is not: another client edited it or its template.
    is_edited: bool = False
    cost: int = 0  # what its deletion costs, as the user or an autoscaler says
    may_amend: bool = False  # its members can be brought to the target revision as they run
    has_served: bool = False  # it was ready once, as far as the cluster remembers that
    wakes_at: float | None = None  # the moment from which more can be done about it
    # Found once for each instance, since plans ask again and again about those that are well.
    is_quiet: bool = field(init=False, repr=False, compare=False)  # no member gives cause to act
    ready_since: float | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        is_quiet = not self.lost and not self.unfit and all(m.is_quiet for m in self.members)
        object.__setattr__(self, "is_quiet", is_quiet)
        object.__setattr__(self, "ready_since", self._find_ready_since())

    @property
    def unit(self) -> Unit:
        """The instance as policies see it."""
        return Unit(self.ordinal, self.revision, self.phase, is_edited=self.is_edited)

    def _find_ready_since(self) -> float | None:
        """Since when all its members are ready; None if one is not, or is not seen."""
        moments = [m.ready_since for m in self.members if m.is_current]
        if self.phase is not Phase.READY or not moments or None in moments:
            return None
        return max(moment for moment in moments if moment is not None)

    @property
    def has_failed(self) -> bool:
        """Whether a member has restarted and not recovered, or has ended, whatever follows."""
        return any(m.has_ended or (m.has_restarted and not m.has_recovered) for m in self.members)

    @property
    def is_forming(self) -> bool:
        """Whether members are missing or have not run yet."""
        present = [m for m in self.members if m.is_current]
        return len(present) != self.size or any(m.is_pending for m in present)


@dataclass(frozen=True, slots=True)
class Tally:
    """All that is known of a line that another controller carries."""

    wanted: int  # what it was told
    exist: int
    ready: int
    updated: int
    updated_ready: int
    is_seen: bool = True  # it has acted on what it was told last


@dataclass(frozen=True, slots=True)
class RoleInstances:
    """The instances of one role in one group, and what the group asks for in its own revision."""

    role: str
    wanted: int
    revision: str  # the revision that its instances should reach
    instances: tuple[Instance, ...] = ()
    base: str = ""  # what a protected instance is made from when it is missing; empty: the target
    failures: tuple[Failure, ...] = ()  # the last one of each instance, lowest ordinal first
    tally: Tally | None = None  # where another controller carries them
    partition: int = 0  # so many instances keep their revision, the lowest first
    # Instances that it was allowed to have, where that is written down: what it grows from.
    grown: int | None = None

    @property
    def has_begun(self) -> bool:
        """Whether instances of it were made, as far as that is known."""
        exist = self.tally.exist if self.tally else len(self.instances)
        return exist > 0 or bool(self.grown)

    @property
    def is_whole(self) -> bool:
        """Whether exactly the instances that are wanted exist, all ready."""
        if self.tally is not None:
            return self.tally.is_seen and self.tally.ready == self.tally.exist == self.wanted
        ready = sum(instance.phase is Phase.READY for instance in self.instances)
        return ready == len(self.instances) == self.wanted

    @property
    def is_updated(self) -> bool:
        """Whether all instances that no partition protects have the revision that they should."""
        if self.tally is not None:
            return self.tally.is_seen and self.tally.updated >= self.wanted - self.partition
        return all(i.revision == self.revision for i in self.list_unprotected(self.partition))

    def list_unprotected(self, partition: int) -> tuple[Instance, ...]:
        """
        The instances that a partition lets go: all but the first so many.

        A missing instance has a place among those: it is made with the lowest free ordinal, and
        those above it move up by one.
        """
        missing = max(0, self.wanted - len(self.instances))
        return tuple(
            instance
            for place, instance in enumerate(self.instances)
            if place + min(missing, instance.ordinal - place) >= partition
        )

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done about it, and time alone changes nothing."""
        if self.failures or self.tally is not None or not self.is_whole:
            return False
        return self.is_updated and all(
            not i.is_edited and not i.lost and not i.unfit and not i.has_failed
            for i in self.instances
        )


@dataclass(frozen=True, slots=True)
class Group(Instance):
    """
    One complete serving replica.

    Where an API names roles, the members are those of all its instances, and ``roles`` says
    which instance has which. Where it has a single nameless role, the group is the instance.
    """

    roles: tuple[RoleInstances, ...] = ()
    is_settled: bool = False  # all its roles are, as the reader found once


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rollout has come, as the carrier remembers it."""

    boundary: int  # units at or above it may have the target revision
    count: int  # units that exist or are being made, surge included
    noted: int  # units wanted when this was written
    target: str  # the revision it leads to
    is_seen: bool = True  # the carrier has acted on the last boundary
    is_base: bool = False  # units below the boundary are made from the target, too
    base: str = ""  # what they are made from otherwise; empty where the carrier knows


@dataclass(frozen=True, slots=True)
class Observed:
    """All groups of a workload that exist, and the progress of its rollout."""

    groups: tuple[Group, ...] = ()
    progress: Progress | None = None  # None before the first write
    exist: int = 0  # groups that the carrier says exist
    failures: tuple[Failure, ...] = ()  # the last one of each group, lowest ordinal first
    drift: tuple[str, ...] = ()  # what other clients edited, each in a sentence
    moments: tuple[float, ...] = ()  # from which on more can be done about the workload itself
    # The roles of a group that is made from a revision, before anything of the group exists.
    new_roles: Mapping[str, tuple[RoleInstances, ...]] = field(default_factory=dict)

    @property
    def units(self) -> tuple[Unit, ...]:
        """The groups as policies see them."""
        return tuple(group.unit for group in self.groups)
