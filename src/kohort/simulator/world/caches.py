"""
The caches of one component, which may lag behind the store.

The store pushes events into an inbox; they reach the cache when they are
delivered, one kind at a time. The runner of the component decides when. That is how
a simulation makes one cache lag behind another, and how a component never sees half
of a change.
"""

from collections import deque
from collections.abc import Iterable

from kohort.apiserver.store.entries import ChangeType, Event, StoredObject
from kohort.cluster.objects import Kind

Key = tuple[str, str]
_Index = dict[str, dict[Key, StoredObject]]


class Cache:
    """One component's copy of one kind. Entries are shared with the store, so it is small.

    Indexes are made when they are first asked for: most components never ask.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.entries: dict[Key, StoredObject] = {}
        self.inbox: deque[Event] = deque()
        self._spaces: _Index | None = None
        self._owned: _Index | None = None

    def take(self, event: Event) -> tuple[StoredObject | None, StoredObject | None]:
        """Apply one event; returns the entries before and after it."""
        key = event.entry.key
        if event.change is ChangeType.DELETED:
            old, new = self.entries.pop(key, None), None
        else:
            old, new = self.entries.get(key), event.entry
            self.entries[key] = new
        if self._spaces is not None:
            _move(self._spaces, old, key[0], new, key[0])
        if self._owned is not None:
            before = old.controller if old is not None else ""
            _move(self._owned, old, before, new, new.controller if new is not None else "")
        return old, new

    def within(self, namespace: str) -> Iterable[StoredObject]:
        """The objects of one namespace."""
        if self._spaces is None:
            self._spaces = {}
            for key, entry in self.entries.items():
                self._spaces.setdefault(key[0], {})[key] = entry
        return self._spaces.get(namespace, {}).values()

    def owned(self, uid: str) -> Iterable[StoredObject]:
        """The objects whose controller has that uid."""
        if self._owned is None:
            self._owned = {}
            for key, entry in self.entries.items():
                self._owned.setdefault(entry.controller, {})[key] = entry
        return self._owned.get(uid, {}).values()


def _move(
    index: _Index, old: StoredObject | None, source: str, new: StoredObject | None, goal: str
) -> None:
    """Move an object from its old index group to the new one."""
    if old is not None and source in index:
        group = index[source]
        group.pop(old.key, None)
        if not group:
            del index[source]
    if new is not None:
        index.setdefault(goal, {})[new.key] = new


class Caches:
    """All caches of one component: its view of the cluster."""

    def __init__(self) -> None:
        self.by_kind: dict[Kind, Cache] = {}

    def find(self, kind: Kind, namespace: str, name: str) -> StoredObject | None:
        """The object as in this component's cache."""
        return self.by_kind[kind].entries.get((namespace, name))

    def all(self, kind: Kind, namespace: str | None = None) -> Iterable[StoredObject]:
        """All objects of a kind, or those of one namespace."""
        cache = self.by_kind[kind]
        if namespace is None:
            return cache.entries.values()
        return cache.within(namespace)

    def owned(self, kind: Kind, uid: str) -> Iterable[StoredObject]:
        """The objects of a kind whose controller has that uid."""
        return self.by_kind[kind].owned(uid)
