"""
A cluster before its first request: prepared once for a process, and copied for each run.

To store nodes and definitions and to compile their schemas takes longer than many a run.
Stored objects never change, so all copies share them. Each copy has a registry of its own,
because a run may define further kinds. The prepared kinds are converted by the webhook that
``fill`` sets.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TypeVar

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.store import Store
from kohort.simulator.clock import Clock

A = TypeVar("A", bound=ApiServer)
Fill = Callable[[ApiServer], Awaitable[None]]
MakeApi = Callable[[Store, Registry, Callable[[], datetime], Random], A]


@dataclass(frozen=True, slots=True)
class PreparedCluster:
    """The served kinds and the stored objects of a cluster before its first request."""

    registry: Registry
    revision: int
    entries: tuple[tuple[str, StoredObject], ...]

    @classmethod
    async def prepare(
        cls, clock: Clock, fill: Fill, gates: frozenset[str] = frozenset()
    ) -> "PreparedCluster":
        """Let ``fill`` create the first objects of a new cluster."""
        registry = Registry(builtin_resources(gates))
        api = ApiServer(Store(), registry, clock.now, Random(0))
        await fill(api)
        entries = tuple(
            (name, entry)
            for name, bucket in api.store.buckets.items()
            for entry in bucket.entries.values()
        )
        return cls(registry, api.store.revision, entries)

    def open(self, make: MakeApi[A], clock: Clock, seed: int) -> A:
        """The API server of a copy."""
        store = Store()
        # A server that finds definitions in its store compiles their schemas, so it is made first.
        api = make(store, self.registry.copy(), clock.now, Random(seed))
        store.restore(self.revision, self.entries)
        return api
