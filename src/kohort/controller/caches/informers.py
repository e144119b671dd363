"""The caches of one process: each kept up to date by a watcher of its own."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, TypeVar

from kohort.cluster.errors import Forbidden, KohortError, NotFound
from kohort.cluster.port import Cluster, Selection
from kohort.controller.caches.cache import Cache, CacheWriter, Decode, Index, UndecodableObject
from kohort.controller.caches.definitions import is_defined, wait_until_defined
from kohort.controller.caches.watcher import Event, Ready, Watcher
from kohort.controller.clock import Time

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The arguments of a cache; callers with equal ones share it."""

    selection: Selection
    decode: Callable[[bytes], Any]
    indexes: Mapping[str, Index[Any]]
    optional: bool


class Reports:
    """Callbacks for failed watches and undecodable objects; by default they do nothing."""

    def trouble(self, selection: Selection, error: KohortError) -> None:
        """A list or a watch failed; the watcher will try again."""

    def fault(self, selection: Selection, fault: UndecodableObject) -> None:
        """An object cannot be decoded, so the cache leaves it out."""


class Informers:
    """Caches by selection, and the watchers that fill them."""

    def __init__(
        self, cluster: Cluster, time: Time, chance: Random, reports: Reports | None = None
    ) -> None:
        self.caches: list[Cache[Any]] = []
        self._cluster = cluster
        self._time = time
        self._chance = chance
        self._reports = reports or Reports()
        self._optional: set[Selection] = set()
        # Optional kinds that cannot be watched now, and the API server's error.
        self.absent: dict[Selection, KohortError] = {}
        self._watchers: list[Watcher] = []
        self._shared: list[tuple[_Asked, Cache[Any], list[Callable[[], None]]]] = []
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
        Callers with equal arguments share one cache and one watch.
        """
        key = _Asked(selection, decode, dict(indexes or {}), optional)
        for asked, reader, listeners in self._shared:
            if asked == key:
                listeners.append(on_served)
                return reader
        told = [on_served]

        def report(fault: UndecodableObject) -> None:
            self.report(selection, fault)

        writer = CacheWriter(selection, decode, indexes, report)
        if optional:
            self._optional.add(selection)
        watcher = Watcher(
            self._cluster,
            selection,
            self._listener(selection, writer.apply, told),
            self._time,
            self._chance,
            self._troubled(writer.reader),
        )
        if optional and is_defined(selection.kind):
            watcher.wait_until_served = partial(wait_until_defined, self._cluster, selection.kind)
        self._watchers.append(watcher)
        self.caches.append(writer.reader)
        self._shared.append((key, writer.reader, told))
        return writer.reader

    def _listener(
        self,
        selection: Selection,
        apply: Callable[[Event], None],
        told: list[Callable[[], None]],
    ) -> Callable[[Event], None]:
        def emit(event: Event) -> None:
            apply(event)
            if self.absent.pop(selection, None) is not None:
                for on_served in told:
                    on_served()
            if isinstance(event, Ready) and self.are_ready:
                self._ready.set()

        return emit

    def _troubled(self, cache: Cache[Any]) -> Callable[[Selection, KohortError], None]:
        def note(selection: Selection, error: KohortError) -> None:
            is_hidden = isinstance(error, Forbidden) and not cache.is_ready
            if selection in self._optional and (is_hidden or isinstance(error, NotFound)):
                self.absent[selection] = error
                if self.are_ready:
                    self._ready.set()
            if selection not in self._optional or not isinstance(error, NotFound):
                self._reports.trouble(selection, error)

        return note

    def report(self, selection: Selection, fault: UndecodableObject) -> None:
        """Report an object that cannot be read and is left out."""
        self._reports.fault(selection, fault)

    @property
    def unlisted(self) -> list[Selection]:
        """The selections without a complete first list, except optional kinds not served."""
        return [
            cache.selection
            for cache in self.caches
            if not cache.is_ready and cache.selection not in self.absent
        ]

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
            for watcher in self._watchers:
                group.create_task(watcher.run())
