"""
The index of dependents by the uid of their owner.

Only places are kept, never objects. The index also remembers the uids of
objects that were seen to go, because a uid never comes back: that is the one
sure sign that an owner is gone, however late some cache may be.
"""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.objects import Kind

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
