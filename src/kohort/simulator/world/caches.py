"""
Caches: what one part has seen of the cluster so far.

The store pushes events into an inbox; they reach the cache when they are
delivered, one kind at a time. Whoever drives the part decides when. That is how
a simulation makes one cache lag behind another, and how a part never sees half
of a change.
"""

from collections import deque
from collections.abc import Iterable

from kohort.cluster.objects import Kind
from kohort.simulator.store.entries import Change, Entry, Event

Key = tuple[str, str]


class Cache:
    """One part's copy of one kind. Entries are shared with the store, so it is small."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.entries: dict[Key, Entry] = {}
        self.inbox: deque[Event] = deque()
        self.spaces: dict[str, dict[Key, Entry]] = {}
        self.by_controller: dict[str, dict[Key, Entry]] = {}

    def take(self, event: Event) -> tuple[Entry | None, Entry | None]:
        """Let one event take effect; returns what was known before, and what is now."""
        key = event.entry.key
        old = self.entries.pop(key, None)
        if old is not None:
            _discard(self.spaces, key[0], key)
            _discard(self.by_controller, old.controller, key)
        if event.change is Change.DELETED:
            return old, None
        self.put(event.entry)
        return old, event.entry

    def put(self, entry: Entry) -> None:
        """Add an entry that was not there."""
        self.entries[entry.key] = entry
        self.spaces.setdefault(entry.key[0], {})[entry.key] = entry
        if entry.controller:
            self.by_controller.setdefault(entry.controller, {})[entry.key] = entry


def _discard(index: dict[str, dict[Key, Entry]], value: str, key: Key) -> None:
    group = index.get(value)
    if group is not None:
        group.pop(key, None)
        if not group:
            del index[value]


class Caches:
    """All caches of one part: its view of the cluster."""

    def __init__(self) -> None:
        self.by_kind: dict[Kind, Cache] = {}

    def find(self, kind: Kind, namespace: str, name: str) -> Entry | None:
        """The object as this part last saw it."""
        return self.by_kind[kind].entries.get((namespace, name))

    def all(self, kind: Kind, namespace: str | None = None) -> Iterable[Entry]:
        """All objects of a kind, or those of one namespace."""
        cache = self.by_kind[kind]
        if namespace is None:
            return cache.entries.values()
        return cache.spaces.get(namespace, {}).values()

    def owned(self, kind: Kind, uid: str) -> Iterable[Entry]:
        """The objects of a kind whose controller has that uid."""
        return self.by_kind[kind].by_controller.get(uid, {}).values()
