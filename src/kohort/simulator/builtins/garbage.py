"""
The garbage collector: it deletes or orphans objects whose owners are deleted.

An owner whose deletion the collector has seen is gone. An owner that it never saw may
only be late: the caches of different kinds do not agree, and a dependent may arrive
before its owner does. So such an owner counts as missing only after it has been
absent for a while and a read from the API server does not find it either. An
owner of a kind that is not watched never counts as missing.

The caches of the kinds given to ``watch_kinds`` must be filled before the next
step; what is not watched is neither an owner nor a dependent.

Dependents are found by an index over the uid of their owner. It keeps only places, never
objects. It also remembers the uids of
objects that were seen to go, because a uid never comes back: that is the one
sure sign that an owner is gone, however late some cache may be.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from kohort.apiserver.store.entries import OwnerFacts, StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import EVENT
from kohort.cluster.objects import Kind
from kohort.simulator.builtins.ownership import set_owners, write_owner
from kohort.simulator.component import (
    ComponentAction,
    DeleteRequest,
    MergeRequest,
    Moment,
    Named,
    Step,
    View,
)

_GONE_MAX = 20_000  # Dropping an uid too early only delays a decision a little.


@dataclass(frozen=True, slots=True)
class Place:
    """The kind, namespace and name of an object."""

    kind: Kind
    namespace: str
    name: str

    @property
    def key(self) -> str:
        """The place as the key of a step."""
        return f"{self.kind.group_resource}/{self.namespace}/{self.name}"


def place_of(kind: Kind, entry: StoredObject) -> Place:
    """Where a stored object lies."""
    return Place(kind, entry.namespace, entry.name)


class Index:
    """The graph of owners, kept up with each change."""

    def __init__(self) -> None:
        self._dependents: dict[str, set[Place]] = defaultdict(set)
        self._gone: OrderedDict[str, None] = OrderedDict()

    def note(self, kind: Kind, old: StoredObject | None, new: StoredObject | None) -> None:
        """Remember a change."""
        before = old.owners if old else ()
        after = new.owners if new else ()
        if before != after or (old and new and old.uid != new.uid):
            entry = new or old
            assert entry is not None
            place = place_of(kind, entry)
            for uid in set(before) - set(after):
                self._forget(uid, place)
            for uid in after:
                self._dependents[uid].add(place)
        if old is not None and (new is None or new.uid != old.uid):
            self._gone[old.uid] = None
            if len(self._gone) > _GONE_MAX:
                self._gone.popitem(last=False)

    def dependents(self, uid: str) -> list[Place]:
        """The places of objects that name the owner, in a fixed order."""
        return sorted(self._dependents.get(uid, ()), key=lambda place: place.key)

    def has_dependents(self, uid: str) -> bool:
        """Whether any object names the owner."""
        return bool(self._dependents.get(uid))

    def is_gone(self, uid: str) -> bool:
        """Whether the collector has seen the deletion of the object with that uid."""
        return uid in self._gone

    def _forget(self, uid: str, place: Place) -> None:
        places = self._dependents.get(uid)
        if places is not None:
            places.discard(place)
            if not places:
                del self._dependents[uid]


FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
ABSENT_SECONDS = 5.0


class _Owner(Enum):
    """The state of an owner, for one of its dependents."""

    SOLID = "there"
    WAITING = "being deleted, after its dependents"
    GONE = "gone"
    ABSENT = "not seen yet, or gone"
    UNKNOWN = "of a kind that is not known"


class GarbageCollector:
    """The garbage collector as a component."""

    name = "garbage"
    manager = "kube-controller-manager"

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self.kinds: tuple[Kind, ...] = ()
        self._by_name: dict[tuple[str, str], Kind] = {}
        self._by_resource: dict[str, Kind] = {}
        self._index = Index()
        self._absent_since: dict[str, float] = {}
        self.watch_kinds(kinds)

    def watch_kinds(self, kinds: Iterable[Kind]) -> None:
        """Watch these kinds, whose objects may be owners or dependents.

        Events are left out, as in the real collector: they are many, and end by themselves.
        """
        self.kinds = tuple(kind for kind in kinds if kind.group_resource != EVENT.group_resource)
        self._by_name = {(kind.group, kind.name): kind for kind in self.kinds}
        self._by_resource = {kind.group_resource: kind for kind in self.kinds}

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of an object with changed owners or deletion, or of a deleted one's children."""
        self._index.note(kind, old, new)
        keys: set[str] = set()
        if new is not None:
            self._absent_since.pop(new.uid, None)
            if _matters(old, new):
                keys.add(place_of(kind, new).key)
            if old is not None and old.owners != new.owners:
                keys.update(self._owner_keys(old))
        if old is not None and (new is None or new.uid != old.uid):
            for owner in old.owners:
                if not self._index.has_dependents(owner):
                    self._absent_since.pop(owner, None)
            keys.update(place.key for place in self._index.dependents(old.uid))
            keys.update(self._owner_keys(old))
        return keys

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Handle one object: as an owner in deletion, and as a dependent."""
        resource, namespace, name = key.split("/", 2)
        kind = self._by_resource.get(resource)
        entry = view.find(kind, namespace, name) if kind else None
        if kind is None or entry is None:
            return Step()
        facts = entry.facts
        if facts.is_leaving:
            if FOREGROUND in facts.metadata.finalizers:
                return self._delete_dependents(kind, entry, view)
            if ORPHAN in facts.metadata.finalizers:
                return self._orphan_dependents(kind, entry, view)
            return Step()
        return self._judge(kind, entry, view, moment)

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""

    def _owner_keys(self, entry: StoredObject) -> Iterable[str]:
        for owner in entry.facts.metadata.owner_references:
            place = self._find_place(owner, entry)
            if place is not None:
                yield place.key

    def _find_place(self, owner: OwnerFacts, dependent: StoredObject) -> Place | None:
        group = owner.api_version.rpartition("/")[0]
        kind = self._by_name.get((group, owner.kind))
        if kind is None or (kind.namespaced and not dependent.namespace):
            # A cluster-wide object cannot say in which namespace its owner lies.
            return None
        return Place(kind, dependent.namespace if kind.namespaced else "", owner.name)

    def _delete_dependents(self, kind: Kind, entry: StoredObject, view: View) -> Step:
        actions: list[ComponentAction] = []
        is_blocked = False
        for place, dependent in self._living_dependents(entry, view):
            if not _blocks(dependent, entry.uid):
                continue
            is_blocked = True
            if dependent.is_leaving:
                continue
            if self._has_other_owner(dependent, view):
                actions.append(_drop_owners(place.kind, dependent, {entry.uid}))
            else:
                propagation = self._propagation(dependent, is_waited_for=True)
                actions.append(_delete(place, dependent, propagation))
        if not is_blocked:
            actions.append(_drop_finalizer(kind, entry, FOREGROUND))
        return Step(tuple(actions))

    def _has_other_owner(self, dependent: StoredObject, view: View) -> bool:
        if len(dependent.owners) == 1:
            return False
        # An owner that is not in the cache may only be late, so it counts as existing.
        return any(
            self._classify(owner, dependent, view) not in {_Owner.WAITING, _Owner.GONE}
            for owner in dependent.facts.metadata.owner_references
        )

    def _orphan_dependents(self, kind: Kind, entry: StoredObject, view: View) -> Step:
        actions: list[ComponentAction] = [
            _drop_owners(place.kind, dependent, {entry.uid})
            for place, dependent in self._living_dependents(entry, view)
        ]
        if not actions:
            actions.append(_drop_finalizer(kind, entry, ORPHAN))
        return Step(tuple(actions))

    def _living_dependents(
        self, owner: StoredObject, view: View
    ) -> Iterable[tuple[Place, StoredObject]]:
        for place in self._index.dependents(owner.uid):
            dependent = view.find(place.kind, place.namespace, place.name)
            if dependent is not None and owner.uid in dependent.owners:
                yield place, dependent

    def _judge(self, kind: Kind, entry: StoredObject, view: View, moment: Moment) -> Step:
        owners = entry.facts.metadata.owner_references
        if not owners:
            return Step()
        stands = [(owner, self._classify(owner, entry, view)) for owner in owners]
        lost = {owner.uid for owner, stand in stands if stand is _Owner.GONE}
        wait: float | None = None
        absent = [owner for owner, stand in stands if stand is _Owner.ABSENT]
        for owner in absent:
            since = self._absent_since.setdefault(owner.uid, moment.elapsed)
            left = since + ABSENT_SECONDS - moment.elapsed
            if left <= 0:
                lost.add(owner.uid)
            else:
                wait = left if wait is None else min(wait, left)
        waiting = {owner.uid for owner, stand in stands if stand is _Owner.WAITING}
        if len(lost) + len(waiting) == len(owners):
            propagation = self._propagation(entry, is_waited_for=bool(waiting))
            delete = _delete(place_of(kind, entry), entry, propagation)
            return Step((replace(delete, unless=tuple(self._name_all(absent, entry))),))
        has_solid = any(stand is _Owner.SOLID for _, stand in stands)
        if has_solid and (lost or waiting):
            return Step((_drop_owners(kind, entry, lost | waiting),), wait)
        return Step((), wait)

    def _name_all(self, owners: Iterable[OwnerFacts], dependent: StoredObject) -> Iterable[Named]:
        for owner in owners:
            place = self._find_place(owner, dependent)
            if place is not None:
                yield Named(place.kind, place.namespace, place.name, owner.uid)

    def _classify(self, owner: OwnerFacts, dependent: StoredObject, view: View) -> _Owner:
        if self._index.is_gone(owner.uid):
            return _Owner.GONE
        place = self._find_place(owner, dependent)
        if place is None:
            return _Owner.UNKNOWN
        found = view.find(place.kind, place.namespace, place.name)
        if found is None or found.uid != owner.uid:
            return _Owner.ABSENT
        is_waiting = found.is_leaving and FOREGROUND in found.facts.metadata.finalizers
        return _Owner.WAITING if is_waiting and owner.block_owner_deletion else _Owner.SOLID

    def _propagation(self, entry: StoredObject, *, is_waited_for: bool) -> str:
        finalizers = entry.facts.metadata.finalizers
        if is_waited_for and self._index.has_dependents(entry.uid):
            return "Foreground"
        if ORPHAN in finalizers:
            return "Orphan"
        return "Foreground" if FOREGROUND in finalizers else "Background"


def _matters(old: StoredObject | None, new: StoredObject) -> bool:
    """Whether the collector needs to act on a change."""
    if new.is_leaving:
        finalizers = new.facts.metadata.finalizers
        return FOREGROUND in finalizers or ORPHAN in finalizers
    return bool(new.owners) and (old is None or old.owners != new.owners or old.uid != new.uid)


def _blocks(dependent: StoredObject, owner_uid: str) -> bool:
    owners = dependent.facts.metadata.owner_references
    return any(owner.uid == owner_uid and owner.block_owner_deletion for owner in owners)


def _delete(place: Place, entry: StoredObject, propagation: str) -> DeleteRequest:
    return DeleteRequest(
        place.kind, place.namespace, place.name, uid=entry.uid, propagation=propagation
    )


def _drop_owners(kind: Kind, dependent: StoredObject, uids: set[str]) -> MergeRequest:
    owners = dependent.facts.metadata.owner_references
    return set_owners(kind, dependent, [write_owner(o) for o in owners if o.uid not in uids])


def _drop_finalizer(kind: Kind, entry: StoredObject, finalizer: str) -> MergeRequest:
    rest = [name for name in entry.facts.metadata.finalizers if name != finalizer]
    metadata = {"finalizers": rest or None, "resourceVersion": str(entry.rv)}
    return MergeRequest(kind, entry.namespace, entry.name, {"metadata": metadata}, uid=entry.uid)
