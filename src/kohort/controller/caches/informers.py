"""The caches of one process: each kept up to date by a watcher of its own."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, TypeVar

from kohort.cluster.errors import Forbidden, KohortError, NotFound
from kohort.cluster.objects import Kind
from kohort.cluster.port import Cluster, Selection
from kohort.controller.caches.cache import Cache, CacheWriter, Decode, Index, UndecodableObject
from kohort.controller.caches.definitions import is_defined, wait_until_defined
from kohort.controller.caches.watcher import Event, Ready, Watcher
from kohort.controller.clock import Time

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a watch fetches and how it is decoded; callers that ask for equal share the entries."""

    selection: Selection
    decode: Callable[[bytes], Any]
    optional: bool


class Reports:
    """Callbacks for failed watches and undecodable objects; by default they do nothing."""

    def trouble(self, selection: Selection, error: KohortError) -> None:
        """A list or a watch failed; the watcher will try again."""

    def fault(self, selection: Selection, fault: UndecodableObject) -> None:
        """An object cannot be decoded, so the cache leaves it out."""


class _SharedWatch:
    """One cache with its watcher, and the informers that read it."""

    def __init__(self, asked: _Asked, cluster: Cluster, time: Time, chance: Random) -> None:
        selection = asked.selection
        self.asked = asked
        self.users: list[Informers] = []
        self._writer = CacheWriter(selection, asked.decode, report=self._report)
        self._watcher = Watcher(cluster, selection, self._emit, time, chance, self._note)
        if asked.optional and is_defined(selection.kind):
            self._watcher.wait_until_served = partial(wait_until_defined, cluster, selection.kind)
        # The API server's error, where it does not let us watch an optional kind now.
        self.absence: KohortError | None = None
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Keep the cache up to date; of several informers one runs the watcher at a time."""
        async with self._turn:
            await self._watcher.run()

    @property
    def is_known(self) -> bool:
        """Whether the first list has completed, or the kind cannot be watched now."""
        return self._writer.reader.is_ready or self.absence is not None

    def list_values(self) -> list[Any]:
        """All cached objects, as this watch decodes them."""
        return [entry.value for entry in self._writer.reader]

    def find_age(self, now: float) -> float:
        """For how many seconds the cache may have lacked changes."""
        since = self._watcher.outdated_since
        return 0.0 if since is None else now - since

    def join(self, user: "Informers", indexes: Mapping[str, Index[Any]]) -> Cache[Any]:
        """Add an informer; returns its reader of the cache, with these indexes."""
        if user not in self.users:
            self.users.append(user)
        return self._writer.make_reader(indexes)

    def _emit(self, event: Event) -> None:
        """Apply an event to the cache, and pass it to each informer that reads the cache."""
        self._writer.apply(event)
        is_back, self.absence = self.absence is not None, None
        for user in tuple(self.users):
            user.take(self.asked.selection, event, is_back=is_back)

    def _note(self, selection: Selection, error: KohortError) -> None:
        """Take a failed list or watch, after which an optional kind may count as not served."""
        is_hidden = isinstance(error, Forbidden) and not self._writer.reader.is_ready
        if self.asked.optional and (is_hidden or isinstance(error, NotFound)):
            self.absence = error
            for user in tuple(self.users):
                user.take_absence(selection, error)
        if not self.asked.optional or not isinstance(error, NotFound):
            self.users[0].reports.trouble(selection, error)

    def _report(self, fault: UndecodableObject) -> None:
        self.users[0].report(self.asked.selection, fault)


class SharedWatches:
    """The caches of a process: informers with equal selections share one cache and one watch."""

    def __init__(self) -> None:
        self._watches: list[_SharedWatch] = []

    def __len__(self) -> int:
        return len(self._watches)

    def find(self, asked: _Asked) -> _SharedWatch | None:
        """The watch that another informer has added with equal arguments, if there is one."""
        return next((watch for watch in self._watches if watch.asked == asked), None)

    def add(self, watch: _SharedWatch) -> None:
        """Add a watch whose cache other informers may read, too."""
        self._watches.append(watch)

    def list_of(self, kind: Kind) -> list[_SharedWatch]:
        """All watches of a kind, with any selector and for any informer."""
        return [watch for watch in self._watches if watch.asked.selection.kind == kind]

    def leave(self, user: "Informers") -> None:
        """Forget an informer, and each watch that no other informer reads: it would stop."""
        for watch in self._watches:
            if user in watch.users:
                watch.users.remove(user)
        self._watches = [watch for watch in self._watches if watch.users]


class Informers:
    """Caches by selection, and the watchers that fill them."""

    def __init__(
        self,
        cluster: Cluster,
        time: Time,
        chance: Random,
        reports: Reports | None = None,
        shared: SharedWatches | None = None,
    ) -> None:
        self.caches: list[Cache[Any]] = []
        self.reports = reports or Reports()
        # Optional kinds that cannot be watched now, and the API server's error.
        self.absent: dict[Selection, KohortError] = {}
        self._cluster = cluster
        self._time = time
        self._chance = chance
        self._shared = SharedWatches() if shared is None else shared
        self._readers: dict[_SharedWatch, list[tuple[Mapping[str, Index[Any]], Cache[Any]]]] = {}
        self._listeners: dict[Selection, list[Callable[[], None]]] = {}
        self._ready = asyncio.Event()

    def add(
        self,
        selection: Selection,
        decode: Decode[T],
        indexes: Mapping[str, Index[T]] | None = None,
        *,
        optional: bool = False,
        on_served: Callable[[], None] = lambda: None,
    ) -> Cache[T]:
        """
        Add a cache of the selected objects; call it before ``run``.

        The API server need not serve an optional kind; ``on_served`` is called when it does.
        Callers with equal arguments share one cache; those that differ in their indexes share one
        watch and its entries.
        """
        asked = _Asked(selection, decode, optional)
        watch = self._shared.find(asked)
        if watch is None:
            watch = _SharedWatch(asked, self._cluster, self._time, self._chance)
            self._shared.add(watch)
        self._listeners.setdefault(selection, []).append(on_served)
        return self._find_reader(watch, indexes or {})

    def _find_reader(self, watch: _SharedWatch, indexes: Mapping[str, Index[Any]]) -> Cache[Any]:
        readers = self._readers.setdefault(watch, [])
        for known, reader in readers:
            if known == indexes:
                return reader
        reader = watch.join(self, indexes)
        readers.append((indexes, reader))
        self.caches.append(reader)
        if watch.absence is not None:
            self.absent[watch.asked.selection] = watch.absence
        return reader

    def list_all(self, kind: Kind) -> tuple[Any, ...]:
        """The objects of a kind that any API of the process watches; some may be there twice."""
        return tuple(value for watch in self._shared.list_of(kind) for value in watch.list_values())

    def knows_all(self, kinds: Iterable[Kind]) -> bool:
        """Whether ``list_all`` of these kinds is complete."""
        return all(watch.is_known for kind in kinds for watch in self._shared.list_of(kind))

    def take(self, selection: Selection, event: Event, *, is_back: bool) -> None:
        """Note an event that a cache has applied."""
        if is_back and self.absent.pop(selection, None) is not None:
            for on_served in self._listeners[selection]:
                on_served()
        if isinstance(event, Ready) and self.are_ready:
            self._ready.set()

    def take_absence(self, selection: Selection, error: KohortError) -> None:
        """Take note that the API server does not let us watch an optional kind."""
        self.absent[selection] = error
        if self.are_ready:
            self._ready.set()

    def report(self, selection: Selection, fault: UndecodableObject) -> None:
        """Report an object that cannot be read and is left out."""
        self.reports.fault(selection, fault)

    @property
    def unlisted(self) -> list[Selection]:
        """The selections without a complete first list, except optional kinds not served."""
        return [
            cache.selection
            for cache in self.caches
            if not cache.is_ready and cache.selection not in self.absent
        ]

    @property
    def ages(self) -> dict[Selection, float]:
        """For how many seconds each cache may have lacked changes; absent kinds have no cache."""
        now = self._time.elapsed()
        found: dict[Selection, float] = {}
        for watch in self._readers:
            selection = watch.asked.selection
            if selection not in self.absent:
                found[selection] = max(found.get(selection, 0.0), watch.find_age(now))
        return found

    @property
    def are_ready(self) -> bool:
        """Whether all first lists have completed."""
        return not self.unlisted

    async def wait_until_ready(self) -> None:
        """Return when all first lists have completed."""
        if not self.are_ready:
            await self._ready.wait()

    async def run(self) -> None:
        """Keep all caches up to date, for ever."""
        async with asyncio.TaskGroup() as group:
            for watch in self._readers:
                group.create_task(watch.run())

    def close(self) -> None:
        """Read the caches no more; those that no other API reads are dropped."""
        self._shared.leave(self)
        for reader in self.caches:
            reader.close()
