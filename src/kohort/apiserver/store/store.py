"""
The store: all objects of the cluster, one version counter, and the recent changes.

All writes go through ``put`` and ``remove``, each takes the next version, and an
entry is never changed afterwards. Recent events are kept for each bucket, so a
watch can start in the past and a list can be read as it was; what is older than
the history answers ``WatchExpired``, as a real server does after compaction. So many
events of a bucket are kept and so many bytes of all: the oldest go first, whatever
their kind, so that memory does not grow with the number of kinds in use.

The store knows nothing of schemas, admission or HTTP. With a journal, a write is
published to subscribers only after it has been committed: no watch shows a change
that a crash could take back.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heapreplace
from itertools import takewhile
from typing import Protocol

from kohort.apiserver.schemas.limits import OBJECT_BYTES_MAX, too_large_to_store
from kohort.apiserver.store.entries import ChangeType, Event, StoredObject
from kohort.apiserver.store.spans import Span
from kohort.cluster.errors import WatchExpired
from kohort.cluster.objects import Object, encode_json

Key = tuple[str, str]
Subscriber = Callable[[Event], None]
Write = Callable[[Object], bytes]

HISTORY_EVENTS_MAX = 4_096
HISTORY_BYTES_MAX = 32 * 1024 * 1024


class Journal(Protocol):
    """The interface of durable storage."""

    def commit(self, batch: list[tuple[str, Event]]) -> None:
        """Commit these writes; after it returns, a kill does not lose them."""

    def close(self) -> None:
        """Close the file."""


class Bucket:
    """All objects of one kind, in the order of their keys, with their recent history."""

    def __init__(self, name: str, history_max: int) -> None:
        self.name = name
        self.entries: dict[Key, StoredObject] = {}
        self.keys: list[Key] = []
        self.history: deque[Event] = deque()
        self.history_max = history_max
        self.floor = 0  # every event after this version is in the history
        self.subscribers: list[Subscriber] = []

    def record(self, event: Event) -> int:
        """Add an event, and drop the oldest if there are too many; returns the change in bytes."""
        self.history.append(event)
        gained = len(event.entry.raw)
        return gained if len(self.history) <= self.history_max else gained - self.forget()

    def forget(self) -> int:
        """Drop the oldest event; returns its bytes."""
        oldest = self.history.popleft()
        self.floor = oldest.rv
        return len(oldest.entry.raw)

    def has_changed_since(self, version: int) -> bool:
        """Whether an event came after a version, even if it has been dropped."""
        return (self.history[-1].rv if self.history else self.floor) > version


class Store:
    """The objects of one cluster, by bucket and key."""

    def __init__(
        self,
        journal: Journal | None = None,
        history_max: int = HISTORY_EVENTS_MAX,
        history_bytes_max: int = HISTORY_BYTES_MAX,
    ) -> None:
        self.revision = 1
        self.buckets: dict[str, Bucket] = {}
        self.on_dirty: Callable[[], None] = self.flush
        self._journal = journal
        self._history_max = history_max
        self._history_bytes_max = history_bytes_max
        self._history_bytes = 0
        self._pending: list[tuple[str, Event]] = []

    def bucket(self, name: str) -> Bucket:
        """The bucket of that name, made when it is first asked for."""
        found = self.buckets.get(name)
        if found is None:
            found = self.buckets[name] = Bucket(name, self._history_max)
        return found

    def find(self, bucket: str, key: Key) -> StoredObject | None:
        """The current version of an object."""
        found = self.buckets.get(bucket)
        return found.entries.get(key) if found else None

    def put(
        self,
        bucket: str,
        key: Key,
        obj: Object,
        fields: Mapping[str, str],
        write: Write = encode_json,
    ) -> StoredObject:
        """Store a new object or a new version of one. The object's version is set."""
        home = self.bucket(bucket)
        previous = home.entries.get(key)
        if previous is not None:
            key = previous.key
        entry = self._entry(key, obj, fields, write, OBJECT_BYTES_MAX)
        if previous is None:
            insort(home.keys, key)
        home.entries[key] = entry
        change = ChangeType.ADDED if previous is None else ChangeType.MODIFIED
        self._commit(home, Event(change, entry, previous))
        return entry

    def remove(
        self,
        bucket: str,
        key: Key,
        obj: Object,
        fields: Mapping[str, str],
        write: Write = encode_json,
    ) -> StoredObject:
        """Remove an object; ``obj`` is its last state, for watchers."""
        home = self.bucket(bucket)
        previous = home.entries.pop(key)
        del home.keys[bisect_left(home.keys, key)]
        entry = self._entry(key, obj, fields, write)
        self._commit(home, Event(ChangeType.DELETED, entry, previous))
        return entry

    def _entry(
        self,
        key: Key,
        obj: Object,
        fields: Mapping[str, str],
        write: Write,
        bytes_max: int | None = None,
    ) -> StoredObject:
        obj["metadata"]["resourceVersion"] = str(self.revision + 1)
        # Copied, since the encoder's buffer may be six times as large as its bytes.
        raw = bytes(memoryview(write(obj)))
        if bytes_max is not None and len(raw) > bytes_max:
            raise too_large_to_store()
        self.revision += 1
        return StoredObject.make(key, self.revision, obj, fields, raw)

    def _commit(self, home: Bucket, event: Event) -> None:
        self._record(home, event)
        if self._journal is None:
            _publish(home, event)
            return
        self._pending.append((home.name, event))
        if len(self._pending) == 1:
            self.on_dirty()

    def _record(self, home: Bucket, event: Event) -> None:
        self._history_bytes += home.record(event)
        if self._history_bytes > self._history_bytes_max:
            self._compact()

    def _compact(self) -> None:
        """Drop the oldest events of all buckets, several at once since that costs less."""
        oldest = [(b.history[0].rv, b.name) for b in self.buckets.values() if b.history]
        heapify(oldest)
        while oldest and self._history_bytes > self._history_bytes_max * 15 // 16:
            bucket = self.buckets[oldest[0][1]]
            self._history_bytes -= bucket.forget()
            if bucket.history:
                heapreplace(oldest, (bucket.history[0].rv, bucket.name))
            else:
                heappop(oldest)

    @property
    def is_settled(self) -> bool:
        """Whether every write has been committed."""
        return not self._pending

    @property
    def settled_revision(self) -> int:
        """The version up to which every write is committed and sent to subscribers."""
        return self._pending[0][1].rv - 1 if self._pending else self.revision

    def flush(self) -> None:
        """Commit the writes, then notify the subscribers."""
        if self._journal is None or not self._pending:
            return
        self._journal.commit(self._pending)
        batch, self._pending = self._pending, []
        for name, event in batch:
            _publish(self.buckets[name], event)

    def restore(self, revision: int, entries: Iterable[tuple[str, StoredObject]]) -> None:
        """Fill an empty store with the journal's objects."""
        self.revision = revision
        for name, entry in entries:
            self.bucket(name).entries[entry.key] = entry
        for bucket in self.buckets.values():
            bucket.keys = sorted(bucket.entries)

    def replay(self, floors: Mapping[str, int], events: Iterable[tuple[str, Event]]) -> None:
        """Restore the recent history from the journal, so that watches can resume."""
        for name, floor in floors.items():
            self.bucket(name).floor = floor
        for name, event in events:
            self._record(self.bucket(name), event)

    def close(self) -> None:
        """Commit the writes, and close the journal."""
        try:
            self.flush()
        finally:
            if self._journal is not None:
                self._journal.close()

    def subscribe(self, bucket: str, subscriber: Subscriber) -> Callable[[], None]:
        """Call a function for every later change; call the result to stop."""
        subscribers = self.bucket(bucket).subscribers
        subscribers.append(subscriber)
        return lambda: subscribers.remove(subscriber)

    def since(self, bucket: str, version: int) -> list[Event]:
        """
        The events after a version.

        Raises ``WatchExpired`` if the history is shorter, and if the version is still to come: a
        store in memory begins anew with its process, and a client that resumes at a version of
        the former process would keep objects which are gone.
        """
        home = self.bucket(bucket)
        if version > self.revision:
            raise WatchExpired(f"unknown resource version: {version} (current: {self.revision})")
        if version < home.floor:
            raise WatchExpired(f"too old resource version: {version} ({home.floor + 1})")
        recent = list(takewhile(lambda event: event.rv > version, reversed(home.history)))
        recent.reverse()
        return recent

    def at(
        self, bucket: str, version: int, namespace: str | None, after: Key | None = None
    ) -> Span:
        """The objects as of a version, in the order of their keys, from a key on."""
        home = self.bucket(bucket)
        past: dict[Key, StoredObject | None] = {}
        if version < self.revision and home.has_changed_since(version):
            for event in reversed(self.since(bucket, version)):
                past[event.entry.key] = event.previous
        return Span(home.keys, home.entries, past, namespace, after)


def _publish(bucket: Bucket, event: Event) -> None:
    for subscriber in tuple(bucket.subscribers):
        subscriber(event)
