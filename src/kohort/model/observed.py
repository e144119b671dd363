"""
Observed: the pods and groups of a workload that exist in one snapshot of the caches.

An instance lives as long as its entry member: a new entry is a new incarnation, and
members of an older one are leftovers that no plan waits for. A group is one instance, or
the instances of its roles, seen as one unit. Progress is the state of a rollout that the
operator stores in the cluster, so that a restart of the operator forgets nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kohort.model.units import GROUPS, Line, Phase, Unit


@dataclass(frozen=True, slots=True)
class Crash:
    """How a container of a member last ended."""

    member: str
    container: str = ""
    code: int | None = None  # None where the pod's status has no exit code
    reason: str = ""
    ended_at: float = 0.0  # in seconds of the node's clock; 0 where the status does not say

    def __str__(self) -> str:
        where = f"container {self.container} of " if self.container else ""
        how = "has restarted" if self.code is None else f"exited with code {self.code}"
        more = f" ({self.reason})" if self.reason not in ("", "Error", "Completed") else ""
        return f"{where}pod {self.member} {how}{more}"


@dataclass(frozen=True, slots=True)
class Failure:
    """The last failure of a unit, as the operator recorded it in the cluster."""

    ordinal: int
    revision: str
    incarnation: str  # the incarnation that failed
    count: int  # failures in a row
    at: float  # when the operator recorded the failure, in seconds of its own clock
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
    is_pending: bool = False  # the pod is not running yet
    has_restarted: bool = False  # the kubelet has restarted one of its containers
    is_current: bool = True  # belongs to the group's present incarnation
    is_placed: bool = False  # the scheduler has given the pod a node
    has_ended: bool = False  # the kubelet will start none of its containers again
    ready_since: float | None = None  # None while unready; 0 if the status does not say
    was_ready: bool = False  # the pod is not ready now, but was since its containers started
    crash: Crash | None = None  # the last crash
    has_recovered: bool = False  # the pod has been ready since that crash
    unready_since: float | None = None  # None while ready, or if the status does not say
    is_spared: bool = False  # the unit stays when this pod fails or ends
    part: str = ""  # the part of the instance that the pod belongs to, where a role has parts

    @property
    def is_quiet(self) -> bool:
        """Whether the pod gives no cause to restart its unit."""
        has_failed = self.has_restarted or self.has_ended or self.was_ready
        return not has_failed and self.phase is not Phase.LEAVING


@dataclass(frozen=True, slots=True)
class Instance:
    """One unit of a line, with those of its members that exist."""

    ordinal: int
    revision: str
    phase: Phase
    incarnation: str  # uid of the entry member; empty while there is none
    size: int  # members that the instance should have, in its own revision
    members: tuple[Member, ...] = ()
    is_whole: bool = True  # false: only its entry was made, and reports do not count it
    lost: tuple[str, ...] = ()  # members of this incarnation that existed and are gone
    unfit: tuple[str, ...] = ()  # members that were created wrong and cannot work
    made_at: float = 0.0  # when its entry member was made, in seconds of the cluster's clock
    amended_at: float = 0.0  # when its last update in place began; 0 if it never had one
    # Its label names the target revision, but another client edited it or its template.
    is_edited: bool = False
    made_from: str = ""  # the revision that it had before that edit, where it has none since
    cost: int = 0  # the deletion cost that the user or an autoscaler set
    may_amend: bool = False  # the operator can update its pods in place to the target revision
    has_served: bool = False  # the instance was ready once, as far as the cluster has a record
    wakes_at: float | None = None  # the moment from which the operator can do more about it
    is_unwanted: bool = False  # the user asks for another one in its place, where units are alike
    # What keeps the operator from deleting or updating it until another client has acted, in words.
    delete_hold: str = ""
    update_hold: str = ""
    is_preparing: bool = False  # that client knows that the unit will go: no rule counts on it
    # All members are ready, but the status of their carrier does not count them yet.
    is_uncounted: bool = False
    # It does not serve, nor does another of its revision, and the carrier makes no more of it.
    is_abandoned: bool = False
    # Computed once for each instance, since plans read these many times for healthy instances.
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
        """Since when all members are ready; None if a member is unready or not in the cache."""
        moments = [m.ready_since for m in self.members if m.is_current]
        if self.phase is not Phase.READY or not moments or None in moments:
            return None
        return max(moment for moment in moments if moment is not None)

    @property
    def has_failed(self) -> bool:
        """Whether a member has restarted and not recovered, or has ended."""
        return any(m.has_ended or (m.has_restarted and not m.has_recovered) for m in self.members)

    @property
    def is_forming(self) -> bool:
        """Whether members are missing or still pending."""
        present = [m for m in self.members if m.is_current]
        return len(present) != self.size or any(m.is_pending for m in present)


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of a line whose units another controller makes, such as a Deployment's."""

    wanted: int  # the replicas that the operator last wrote
    exist: int
    ready: int
    updated: int
    updated_ready: int
    is_seen: bool = True  # that controller has observed the operator's last write
    is_told: bool = True  # the other controller has the target template
    boundary: int | None = None  # the partition that the operator last wrote; None: it has none

    @property
    def is_current(self) -> bool:
        """Whether the counts are about the target template."""
        return self.is_seen and self.is_told

    def leave_out_surge(self, wanted: int) -> "Tally":
        """
        The same counts, with only those units as updated that must be among the wanted ones.

        The other controller counts an updated surge unit too, while a wanted one is still old.
        """
        surge = max(0, self.exist - wanted)
        updated, ready = max(0, self.updated - surge), max(0, self.updated_ready - surge)
        return replace(self, updated=updated, updated_ready=ready)


@dataclass(frozen=True, slots=True)
class RoleInstances:
    """The instances of one role in one group, and the count that the group's revision sets."""

    role: str
    wanted: int
    revision: str  # the revision that its instances should reach
    instances: tuple[Instance, ...] = ()
    lost: tuple[str, ...] = ()  # members of instances that existed and are gone without a trace
    base: str = ""  # the revision of new instances below the partition; empty: the target
    failures: tuple[Failure, ...] = ()  # the last failure of each instance, lowest ordinal first
    tally: Tally | None = None  # set where another controller makes the instances
    partition: int = 0  # the lowest instances, so many of them, keep their revision
    # The count that earlier plans let the role grow to, where the operator has recorded one.
    grown: int | None = None
    are_alike: bool = False  # instances have no addresses: any may stand in for any other
    taken: frozenset[int] = frozenset()  # ordinals that no new instance may have, if all are alike

    @property
    def has_begun(self) -> bool:
        """Whether instances of the role exist, or a record says that they did."""
        exist = self.tally.exist if self.tally else len(self.instances)
        return exist > 0 or bool(self.grown)

    @property
    def is_whole(self) -> bool:
        """Whether exactly the wanted number of instances exists, all ready."""
        if self.tally is not None:
            return self.tally.is_seen and self.tally.ready == self.tally.exist == self.wanted
        ready = sum(instance.phase is Phase.READY for instance in self.instances)
        return ready == len(self.instances) == self.wanted

    @property
    def is_ready(self) -> bool:
        """Whether at least the wanted number of instances is ready."""
        if self.tally is not None:
            return self.tally.ready >= self.wanted
        return sum(i.phase is Phase.READY for i in self.instances) >= self.wanted

    @property
    def is_updated(self) -> bool:
        """Whether all instances above the partition have the role's revision."""
        if self.tally is not None:
            updated = self.tally.leave_out_surge(self.wanted).updated
            return self.tally.is_current and updated >= self.wanted - self.partition
        return all(i.revision == self.revision for i in self.list_unprotected(self.partition))

    def list_unprotected(self, partition: int) -> tuple[Instance, ...]:
        """
        The instances that a partition lets a rollout replace: all but the first so many.

        A missing instance counts too: it will get the lowest free ordinal, and the place of
        each instance above that ordinal rises by one. Of instances that are alike, no broken one is
        protected if its revision was taken back.
        """
        if self.are_alike:
            old = [i for i in self.instances if i.revision != self.revision]
            old = [i for i in old if self.base or i.phase is Phase.READY]
            spared = {instance.ordinal for instance in old[:partition]}
            return tuple(i for i in self.instances if i.ordinal not in spared)
        missing = max(0, self.wanted - len(self.instances))
        return tuple(
            instance
            for place, instance in enumerate(self.instances)
            if place + min(missing, instance.ordinal - place) >= partition
        )

    @property
    def is_settled(self) -> bool:
        """Whether the role needs no action, and time alone does not change that."""
        if self.failures or self.tally is not None or not self.is_whole:
            return False
        return self.is_updated and all(
            not i.is_unwanted
            and not i.is_preparing
            and not i.is_edited
            and not i.lost
            and not i.unfit
            and not i.has_failed
            for i in self.instances
        )


def join_phases(roles: tuple[RoleInstances, ...]) -> Phase:
    """The phase of a group that does not leave, as its roles have it."""
    if all(role.is_ready for role in roles):
        return Phase.READY
    instances = (instance for role in roles for instance in role.instances)
    if any(instance.phase is Phase.BROKEN for instance in instances):
        return Phase.BROKEN
    return Phase.STARTING


@dataclass(frozen=True, slots=True)
class Group(Instance):
    """
    One complete serving replica.

    Where an API names roles, the group has the members of all its instances, and ``roles`` says
    which instance has which. Where an API has one nameless role, the group is the instance.
    """

    roles: tuple[RoleInstances, ...] = ()
    is_settled: bool = False  # all its roles are settled, computed once when it was read
    # It is not ready, but has a ready instance of each role that it should have.
    serves_partly: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rollout has come, as recorded on the objects that carry the units."""

    boundary: int  # units at or above it may have the target revision
    count: int  # units that exist or are being made, surge included
    noted: int  # units wanted when the operator wrote this record
    target: str  # the revision that the rollout leads to
    is_seen: bool = True  # the carrier has acted on the last boundary
    is_base: bool = False  # units below the boundary are made from the target, too
    base: str = ""  # the revision for units below the boundary; empty where the carrier knows


@dataclass(frozen=True, slots=True)
class Observed:
    """All groups of a workload that exist, and the progress of its rollout."""

    groups: tuple[Group, ...] = ()
    progress: Progress | None = None  # None before the first write
    exist: int = 0  # groups that exist according to the carrier's status
    failures: tuple[Failure, ...] = ()  # the last failure of each group, lowest ordinal first
    # The last failure of each instance, also in groups that do not exist at the moment.
    role_failures: Mapping[Line, tuple[Failure, ...]] = field(default_factory=dict)
    drift: tuple[str, ...] = ()  # edits of other clients, a sentence for each
    moments: tuple[float, ...] = ()  # when the operator can do more about the workload itself
    # By revision: the roles that a group of that revision will have once it is made.
    new_roles: Mapping[str, tuple[RoleInstances, ...]] = field(default_factory=dict)

    @property
    def units(self) -> tuple[Unit, ...]:
        """The groups as policies see them."""
        return tuple(group.unit for group in self.groups)
