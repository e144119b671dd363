"""
The truth: every object of the workload as it is stored, and the groups that they form.

It listens to the store itself, so it is never behind and has no cache of a controller. The value of
an API says how its objects are labelled; nothing here knows how the operator plans.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import orjson

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.store.entries import ChangeType, Event
from kohort.cluster import kinds
from kohort.cluster.kinds import LEASE
from kohort.cluster.objects import Kind, Object, is_leaving, labels_of
from kohort.simulation.faulty_cluster import WRITER
from kohort.simulation.scenario import NAME, NAMESPACE
from kohort.simulation.simulated_api import LineView, SimulatedApi, WorkloadLabels

CHILDREN = (kinds.POD, kinds.STATEFUL_SET, kinds.SERVICE, kinds.CONTROLLER_REVISION)
KINDS = (*CHILDREN, kinds.CLAIM, LEASE)
IS_USER: ContextVar[bool] = ContextVar("is_user", default=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """One committed write: the object before and after, its writer, and the time."""

    kind: Kind
    name: str
    old: Object | None
    new: Object | None  # None: gone
    writer: str  # empty: another client than the operator
    at: float
    is_user: bool = False  # a user outside of the cluster did it


class Group:
    """One group: its leader, and all that belongs to this very leader. It never changes."""

    __slots__ = (
        "is_edited",
        "is_ready",
        "leader",
        "ordinal",
        "revision",
        "revisions",
        "size",
        "staying",
        "uid",
        "workers",
    )

    def __init__(
        self, ordinal: int, leader: Object, workers: list[Object], size: int, marks: "Marks"
    ) -> None:
        self.ordinal = ordinal
        self.leader = leader
        self.workers = workers
        self.size = size
        self.uid: str = leader["metadata"]["uid"]  # the incarnation
        self.staying = [pod for pod in workers if not is_leaving(pod)]
        # Of what its members were made, whatever their labels say now.
        self.revisions = {marks.origin_of(pod) for pod in self.members} - {""}
        self.is_edited = marks.is_edited(leader, self.staying)
        self.revision = "" if self.is_edited else marks.origin_of(leader)
        self.is_ready = self._serves()

    @property
    def members(self) -> list[Object]:
        """All pods that stay."""
        return [self.leader, *self.staying]

    @property
    def parts(self) -> list[list[Object]]:
        """Its pods, apart where users may edit their templates one without the other."""
        return [self.members]

    def _serves(self) -> bool:
        """Whether it is whole, of one revision, and every member is ready."""
        members = self.members
        if len(members) != self.size or not all(map(is_ready, members)):
            return False
        return len(self.revisions) <= 1


@dataclass(slots=True)
class Marks:
    """
    The revision that each pod was made from, and the pods that a user edited by hand since.

    A pod with a foreign image is of no revision, and neither is a leader that lost its revision
    label. With the carrier ``pods``, a leader whose label was changed is of none either; a
    StatefulSet knows the revision of its pods without the label.
    """

    labels: WorkloadLabels
    trusts_labels: bool = False
    origins: dict[str, str] = field(default_factory=dict)  # revisions, by uid
    relabelled: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)  # they have another image
    moved: set[str] = field(default_factory=set)  # their labels name another place
    images: dict[str, str] = field(default_factory=dict)  # that pods were made with, by uid

    def note(self, old: Object | None, new: Object | None, *, is_user: bool) -> None:
        """A pod was written."""
        if new is None:
            return
        uid = new["metadata"]["uid"]
        if old is None or old["metadata"]["uid"] != uid:
            self.origins[uid] = self.labels.revision_of(new)
            self.images[uid] = image_of(new)
            return
        has_moved = self.labels.place_of(old) != self.labels.place_of(new)
        if is_user:
            is_relabelled = self.labels.revision_of(old) != self.labels.revision_of(new)
            self.relabelled |= {uid} if is_relabelled else set()
            self.replaced |= {uid} if image_of(old) != image_of(new) else set()
            self.moved |= {uid} if has_moved else set()
        elif has_moved:
            self.moved.discard(uid)

    def origin_of(self, pod: Object) -> str:
        """The revision that a pod was made from."""
        return self.origins.get(pod["metadata"]["uid"], "")

    def is_edited(self, leader: Object, workers: list[Object]) -> bool:
        """Whether a group is of no revision any more."""
        tellers = (leader, *workers) if self.labels.all_tell else (leader,)
        relabelled = [pod for pod in tellers if pod["metadata"]["uid"] in self.relabelled]
        if any(self.trusts_labels or not self.labels.revision_of(pod) for pod in relabelled):
            return True
        return any(pod["metadata"]["uid"] in self.replaced for pod in (leader, *workers))


@dataclass(slots=True)
class Truth:
    """All objects of the workload, at every version."""

    api: ApiServer
    simulated: SimulatedApi
    now: Callable[[], float]
    marks: Marks
    objects: dict[Kind, dict[str, Object]] = field(default_factory=dict)
    listeners: list[Callable[[Commit], None]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    hurt: set[str] = field(default_factory=set)  # incarnations of which a member failed
    more: tuple[Kind, ...] = ()  # kinds that only some clusters serve
    moments: dict[Kind, list[tuple[int, float]]] = field(default_factory=dict)  # of each write
    views: dict[str, dict[Kind, int]] = field(default_factory=dict)  # what each writer last saw
    lag: float = 0.0  # what a writer may not have seen whose view is not known, in seconds
    # Pods by name, and the image of the first, or of the last that no partition kept.
    first: dict[str, str] = field(default_factory=dict)
    specs: dict[int, Object] = field(default_factory=dict)  # of this workload, by generation
    former: set[str] = field(default_factory=set)  # pods that went with the workload before
    _groups: list[Group] | None = None
    _lines: list[LineView] | None = None

    def __post_init__(self) -> None:
        for kind in (self.simulated.kind, *KINDS, *self._more_kinds()):
            self.objects[kind] = {}
            bucket = self.api.registry.of(kind).bucket
            for entry in (
                self.api.store.bucket(bucket).entries.values() if kind in self.more else ()
            ):
                self.objects[kind][entry.name] = orjson.loads(entry.raw)
            self.api.store.subscribe(bucket, self._listener(kind))

    def _more_kinds(self) -> tuple[Kind, ...]:
        return (*self.simulated.children, *self.simulated.others, *self.more)

    def _listener(self, kind: Kind) -> Callable[[Event], None]:
        held = self.objects[kind]
        home = None if kind == LEASE else NAMESPACE if kind.namespaced else ""
        is_pod, is_root = kind == kinds.POD, kind == self.simulated.kind
        makers = (kinds.STATEFUL_SET, *self.simulated.unit_kinds)
        makes_groups = is_pod or is_root or kind in makers

        def listen(event: Event) -> None:
            namespace, name = event.entry.key
            if home is not None and namespace != home:
                return
            old = held.get(name)
            new = None if event.change is ChangeType.DELETED else orjson.loads(event.entry.raw)
            if is_pod and old is not None:
                self._note_wounds(old, new)
            if is_pod:
                self.marks.note(old, new, is_user=IS_USER.get())
                self._note_image(name, new)
            if is_root:
                self._note_free(old, new)
                self._note_spec(old, new)
            if new is None:
                held.pop(name, None)
            else:
                held[name] = new
            if makes_groups:
                self._groups = self._lines = None
            if is_root or self.is_named(old) or self.is_named(new):
                self.moments.setdefault(kind, []).append((event.rv, self.now()))
            commit = Commit(kind, name, old, new, WRITER.get(), self.now(), IS_USER.get())
            self.log.append(
                f"{event.rv} {commit.at:.4f} {event.change} {kind.name} {name} {commit.writer}"
            )
            for listener in self.listeners:
                listener(commit)

        return listen

    def _note_image(self, name: str, pod: Object | None) -> None:
        if pod is not None and pod["metadata"]["uid"] not in self.former:
            self.first.setdefault(name, image_of(pod))

    def _note_free(self, old: Object | None, new: Object | None) -> None:
        """Until now the spec let these pods follow it: the next one may keep what they run."""
        if old is None or new is None or old["spec"] == new["spec"]:
            return
        kept = {pod["metadata"]["uid"] for unit in list_kept(self) for pod in unit.members}
        for pod in self.pods():
            if pod["metadata"]["uid"] not in kept | self.former:
                self.first[pod["metadata"]["name"]] = image_of(pod)

    def _note_spec(self, old: Object | None, new: Object | None) -> None:
        if new is not None:
            self.specs[new["metadata"]["generation"]] = new["spec"]
            return
        self.specs.clear()
        assert old is not None
        if "orphan" not in (old["metadata"].get("finalizers") or ()):
            # Its pods go with it: what they ran is nothing that the next object was given.
            self.first.clear()
            self.former = {pod["metadata"]["uid"] for pod in self.objects[kinds.POD].values()}

    def _note_wounds(self, old: Object, new: Object | None) -> None:
        """A member that was there and is leaving, gone or restarted has failed its group."""
        for group in self.groups():
            is_leader = group.leader is old
            is_member = is_leader or any(pod is old for pod in group.workers)
            if is_member and _has_failed(old, new, is_leader):
                self.hurt.add(group.uid)

    def find_seen(self, writer: str) -> float:
        """The time up to which a process had seen all changes at its last reconcile."""
        view = self.views.get(writer)
        if view is None:
            return self.now() - self.lag
        unseen = (self._find_unseen(kind, version) for kind, version in view.items())
        return min((at for at in unseen if at is not None), default=self.now())

    def _find_unseen(self, kind: Kind, version: int) -> float | None:
        """When the first write happened that a view of this version does not have."""
        moments = self.moments.get(kind, [])
        place = bisect_right(moments, version, key=lambda moment: moment[0])
        return moments[place][1] if place < len(moments) else None

    @property
    def workload(self) -> Object | None:
        """The workload, if it exists."""
        return self.objects[self.simulated.kind].get(NAME)

    @property
    def children(self) -> tuple[Kind, ...]:
        """The kinds of objects that belong to the workload."""
        return (*CHILDREN, *self.simulated.children)

    @property
    def leader_set(self) -> Object | None:
        """The set of all leaders, on that carrier."""
        found = self.objects[kinds.STATEFUL_SET].get(NAME)
        return found if self.is_named(found) else None

    def pods(self) -> list[Object]:
        """All pods of the workload."""
        return [pod for pod in self.objects[kinds.POD].values() if self.is_named(pod)]

    def list_all(self, kind: Kind) -> list[Object]:
        """All objects of a kind, none where it is not followed."""
        return list(self.objects.get(kind, {}).values())

    def is_named(self, obj: Object | None) -> bool:
        """Whether an object carries the name of the workload."""
        return obj is not None and labels_of(obj).get(self.simulated.labels.owner) == NAME

    def groups(self) -> list[Group]:
        """The groups that are not leaving, lowest ordinal first."""
        if self._groups is None:
            self._groups = self.simulated.list_groups(self)
        return self._groups

    def lines(self) -> list[LineView]:
        """The groups and the instances of roles as lines."""
        if self._lines is None:
            self._lines = self.simulated.list_lines(self)
        return self._lines

    def ready(self) -> set[int]:
        """The ordinals of the groups that serve."""
        return {group.ordinal for group in self.groups() if group.is_ready}


def list_kept(truth: Truth) -> Iterator[Group]:
    """The groups, or the instances of roles that roll by themselves, below their partition."""
    workload, is_old = truth.workload, truth.simulated.is_old
    if workload is not None and not truth.lines():
        # Groups that a leader set makes have a partition, and are no line.
        partition = truth.simulated.read_policy(workload).partition
        yield from (group for group in truth.groups() if group.ordinal < partition)
    for view in truth.lines() if workload is not None else ():
        units = list(view.units) if view.rolls else []
        if view.is_stateless and workload is not None:
            # Such a partition keeps so many old units, whichever they are.
            units.sort(key=lambda unit: not is_old(unit, workload["spec"]))
        yield from units[: view.policy.partition]


def image_of(pod: Object) -> str:
    """The image of a pod's first container."""
    image: str = pod["spec"]["containers"][0]["image"]
    return image


def owners_of(obj: Object) -> set[str]:
    """The uids of all owners of an object."""
    return {owner["uid"] for owner in obj["metadata"].get("ownerReferences") or ()}


def controller_of(obj: Object) -> str:
    """The uid of the controlling owner of an object; empty if there is none."""
    owners: list[Any] = obj["metadata"].get("ownerReferences") or []
    return next((o["uid"] for o in owners if o.get("controller")), "")


def is_ready(pod: Object) -> bool:
    """Whether a pod serves."""
    if is_leaving(pod):
        return False
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def restarts_of(pod: Object) -> int:
    """How often the containers of a pod were restarted."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return sum(status.get("restartCount", 0) for status in statuses)


def has_crashed(pod: Object) -> bool:
    """Whether the last run of a container of a pod failed; one with another image did not."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    ends = ((status.get("lastState") or {}).get("terminated") or {} for status in statuses)
    return any(end.get("exitCode", 0) for end in ends)


def has_ended(pod: Object) -> bool:
    """Whether no container of a pod will run again."""
    return (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")


def _has_failed(before: Object, now: Object | None, is_leader: bool) -> bool:
    if now is None or now["metadata"]["uid"] != before["metadata"]["uid"]:
        return True
    return bool(restarts_of(now)) or has_ended(now) or (is_leaving(now) and not is_leader)
