"""
The cache of one kind: decoded objects, by name and by index.

Only the watcher may write: it holds a ``CacheWriter``, all other code a ``Cache``. A
relist is gathered aside and swapped in at once; subscribers get the differences after
the swap, so they never see half a list. The cache leaves out an object that cannot be
decoded, notes it in ``faults``, and keeps all others. Readers share the entries, and
each has the indexes that it asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from kohort.apis.facts import UNDECODABLE
from kohort.cluster.port import Selection
from kohort.controller.caches.watcher import (
    Event,
    Gone,
    Init,
    Mark,
    Metadata,
    Put,
    Ready,
    Unreadable,
)

T = TypeVar("T")

Key = tuple[str, str]  # namespace and name
Decode = Callable[[bytes], T]
Index = Callable[[T], Iterable[str]]


class CachedObject(NamedTuple, Generic[T]):
    """One decoded object in the cache, with its key, uid and version."""

    key: Key
    uid: str
    version: str
    is_leaving: bool
    value: T


class UndecodableObject(NamedTuple):
    """One object that the cache could not decode, and why."""

    key: Key
    uid: str
    version: str
    why: str


@dataclass(frozen=True, slots=True)
class Difference(Generic[T]):
    """A change of one name: its object was added, deleted, updated or replaced."""

    key: Key
    old: CachedObject[T] | None
    new: CachedObject[T] | None
    fault: UndecodableObject | None = None


Subscriber = Callable[[Difference[T]], None]


class _Table(Generic[T]):
    """The entries and their indexes, which reader and writer share."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.entries: dict[Key, CachedObject[T]] = {}
        self.faults: dict[Key, UndecodableObject] = {}
        self.version = 0
        self.is_ready = False
        self.subscribers: list[Subscriber[T]] = []
        self.indexes: list[_IndexTable[T]] = []

    def open_index(self, function: Index[T]) -> "_IndexTable[T]":
        """The index by this function, which all readers share that ask for an equal one."""
        # Functions are compared, not hashed: those of other packages may be values of any type.
        index = next((held for held in self.indexes if held.function == function), None)
        if index is None:
            index = _IndexTable(function)
            self.indexes.append(index)
            for key, entry in self.entries.items():
                index.change(key, None, entry)
        index.readers += 1
        return index

    def close_index(self, index: "_IndexTable[T]") -> None:
        """Drop an index that no other reader uses."""
        index.readers -= 1
        if index.readers == 0:
            self.indexes.remove(index)

    def change(self, difference: Difference[T]) -> None:
        """Apply one difference to the entries and all indexes."""
        key, old, new = difference.key, difference.old, difference.new
        if new is not None:
            self.entries[key] = new
        else:
            self.entries.pop(key, None)
        if difference.fault is not None:
            self.faults[key] = difference.fault
        else:
            self.faults.pop(key, None)
        for index in self.indexes:
            index.change(key, old, new)


class _IndexTable(Generic[T]):
    """One index: the keys of objects by the values that the index function gives them."""

    def __init__(self, function: Index[T]) -> None:
        self.function = function
        self.keys: dict[str, dict[Key, None]] = {}
        self.readers = 0

    def change(self, key: Key, old: CachedObject[T] | None, new: CachedObject[T] | None) -> None:
        before = set(self.function(old.value)) if old is not None else set()
        after = set(self.function(new.value)) if new is not None else set()
        for value in before - after:
            keys = self.keys[value]
            del keys[key]
            if not keys:
                del self.keys[value]
        for value in after - before:
            self.keys.setdefault(value, {})[key] = None


class Cache(Generic[T]):
    """Read access to the cached objects of one selection."""

    def __init__(self, table: _Table[T], indexes: Mapping[str, Index[T]]) -> None:
        self._table = table
        self._subscribers: list[Subscriber[T]] = []  # the subscribers of this reader
        self._indexes = {name: table.open_index(index) for name, index in indexes.items()}

    @property
    def selection(self) -> Selection:
        """The kind, namespace, labels and fields that select the cached objects."""
        return self._table.selection

    @property
    def is_ready(self) -> bool:
        """Whether the first list has completed."""
        return self._table.is_ready

    @property
    def version(self) -> int:
        """The resource version up to which the cache has seen all changes."""
        return self._table.version

    @property
    def faults(self) -> Mapping[Key, UndecodableObject]:
        """The objects that the cache leaves out, since they cannot be decoded."""
        return self._table.faults

    def __len__(self) -> int:
        return len(self._table.entries)

    def __iter__(self) -> Iterator[CachedObject[T]]:
        return iter(self._table.entries.values())

    def find(self, key: Key) -> T | None:
        """The object of that name."""
        entry = self._table.entries.get(key)
        return entry.value if entry is not None else None

    def find_entry(self, key: Key) -> CachedObject[T] | None:
        """The object of that name, with its key, uid and version."""
        return self._table.entries.get(key)

    def keys(self, index: str, value: str) -> list[Key]:
        """The names of all objects for which the index gives the value."""
        return list(self._indexes[index].keys.get(value, ()))

    def select(self, index: str, value: str) -> list[T]:
        """All objects for which the index gives the value."""
        entries = self._table.entries
        return [entries[key].value for key in self._indexes[index].keys.get(value, ())]

    def subscribe(self, subscriber: Subscriber[T]) -> None:
        """Call the subscriber for each cached object now, and for each later difference."""
        for entry in tuple(self._table.entries.values()):
            subscriber(Difference(entry.key, None, entry))
        self._table.subscribers.append(subscriber)
        self._subscribers.append(subscriber)

    def close(self) -> None:
        """Call no subscriber of this reader any more, and keep no index for it."""
        for subscriber in self._subscribers:
            self._table.subscribers.remove(subscriber)
        for index in self._indexes.values():
            self._table.close_index(index)
        self._subscribers, self._indexes = [], {}


class CacheWriter(Generic[T]):
    """Write access to a cache, for its watcher only."""

    def __init__(
        self,
        selection: Selection,
        decode: Decode[T],
        indexes: Mapping[str, Index[T]] | None = None,
        report: Callable[[UndecodableObject], None] = lambda fault: None,
    ) -> None:
        self._table: _Table[T] = _Table(selection)
        self._decode = decode
        self._report = report
        self._filling: dict[Key, CachedObject[T] | UndecodableObject] | None = None
        self.reader = Cache(self._table, indexes or {})

    def make_reader(self, indexes: Mapping[str, Index[T]]) -> Cache[T]:
        """Another reader of the same entries, with subscribers and indexes of its own."""
        return Cache(self._table, indexes)

    def apply(self, event: Event) -> None:
        """Apply one event of the watcher to the cache."""
        match event:
            case Init():
                self._filling = {}
            case Put():
                self._put(event)
            case Gone():
                self._remove(_key_of(event.metadata), event.metadata.version)
            case Ready():
                self._swap(event.version)
            case Mark():
                self._advance(event.version)
            case Unreadable():
                self._report(UndecodableObject(("", ""), "", "", event.why))

    def _put(self, event: Put) -> None:
        key = _key_of(event.metadata)
        made = self._make(key, event)
        if self._filling is not None:
            self._filling[key] = made
            return
        self._advance(event.metadata.version)
        self._settle([_compare(key, self._table.entries.get(key), made)])

    def _make(self, key: Key, event: Put) -> CachedObject[T] | UndecodableObject:
        metadata = event.metadata
        known = self._table.entries.get(key) or self._table.faults.get(key)
        if known is not None and (known.uid, known.version) == (metadata.uid, metadata.version):
            return known
        try:
            value = self._decode(event.raw)
        except UNDECODABLE as error:
            fault = UndecodableObject(
                key, metadata.uid, metadata.version, str(error) or repr(error)
            )
            self._report(fault)
            return fault
        leaving = metadata.leaving is not None
        return CachedObject(key, metadata.uid, metadata.version, leaving, value)

    def _remove(self, key: Key, version: str) -> None:
        if self._filling is not None:
            self._filling.pop(key, None)
            return
        self._advance(version)
        if key in self._table.entries or key in self._table.faults:
            self._settle([Difference(key, self._table.entries.get(key), None)])

    def _swap(self, version: str) -> None:
        filled, self._filling = self._filling or {}, None
        entries, faults = self._table.entries, self._table.faults
        left = [Difference(key, old, None) for key, old in entries.items() if key not in filled]
        mended: list[Difference[T]] = [
            Difference(key, None, None) for key in faults if key not in filled
        ]
        came = [_compare(key, entries.get(key), made) for key, made in filled.items()]
        self._advance(version)
        self._table.is_ready = True
        self._settle([*left, *mended, *came])

    def _settle(self, differences: list[Difference[T]]) -> None:
        real = [d for d in differences if not _is_same(d, self._table)]
        for difference in real:
            self._table.change(difference)
        for difference in real:
            for subscriber in self._table.subscribers:
                subscriber(difference)

    def _advance(self, version: str) -> None:
        if version.isdigit():
            self._table.version = max(self._table.version, int(version))


def _key_of(metadata: Metadata) -> Key:
    return metadata.namespace, metadata.name


def _compare(
    key: Key, old: CachedObject[T] | None, made: CachedObject[T] | UndecodableObject
) -> Difference[T]:
    if isinstance(made, UndecodableObject):
        return Difference(key, old, None, made)
    return Difference(key, old, made)


def _is_same(difference: Difference[T], table: _Table[T]) -> bool:
    """Whether the cache already holds this very entry or this very fault."""
    known = table.faults.get(difference.key)
    return difference.old is difference.new and difference.fault is known
