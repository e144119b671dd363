"""
Whether the cluster serves the kinds of an API: found by watches of its definitions.

The operator must not watch a kind that is not served: every attempt costs a request and fails.
So it watches the definitions by name, which costs nothing at rest, and runs an API while all of
them are established. If the operator may not watch definitions it logs that once; every API then
counts as present, and watches of missing kinds fail.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from kohort.apis.api import Api
from kohort.apis.definitions.definition import name_definition
from kohort.cluster.errors import Forbidden, KohortError
from kohort.cluster.port import Cluster, Selection
from kohort.controller.caches.cache import Cache
from kohort.controller.caches.definitions import (
    Definition,
    decode_definition,
    select_definition,
)
from kohort.controller.caches.informers import Informers, Reports
from kohort.controller.clock import Time

log = logging.getLogger(__name__)


class Presence(Reports):
    """Watches the definitions of some APIs."""

    def __init__(
        self, cluster: Cluster, apis: Sequence[Api], time: Time, chance: Random, reports: Reports
    ) -> None:
        self._reports = reports
        self._informers = Informers(cluster, time, chance, self)
        self._is_blind = False  # we may not watch definitions
        self._caches: dict[str, list[tuple[str, str, Cache[Definition]]]] = {}
        for api in apis:
            self._caches[api.kind.group_resource] = [
                self._follow(name_definition(define), api) for define in api.definitions
            ]
        self._waiting: set[asyncio.Event] = set()

    def _follow(self, name: str, api: Api) -> tuple[str, str, Cache[Definition]]:
        cache = self._informers.add(select_definition(name), decode_definition, optional=True)
        cache.subscribe(self._note)
        # The API reads one version of its own kind, and any served version of the others.
        version = api.kind.version if name == api.kind.group_resource else ""
        return name, version, cache

    def trouble(self, selection: Selection, error: KohortError) -> None:
        """A watch failed; where the API server forbids it, the operator does not try again."""
        if isinstance(error, Forbidden):
            self._is_blind = True
            self._note(error)
        else:
            self._reports.trouble(selection, error)

    def _note(self, change: Any) -> None:
        for event in self._waiting:
            event.set()

    def find_missing(self, api: Api) -> tuple[str, ...]:
        """The definitions of an API that are not established."""
        if self._is_blind:
            return ()
        return tuple(
            name
            for name, version, cache in self._caches[api.kind.group_resource]
            if not any(entry.value.is_serving(version) for entry in cache)
        )

    async def run(self) -> None:
        """Watch the definitions until the API server forbids it."""
        watching = asyncio.ensure_future(self._informers.run())
        blind = asyncio.ensure_future(self._wait(lambda: self._is_blind))
        try:
            await asyncio.wait([watching, blind], return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                await watching
            log.warning(
                "this account may not watch CustomResourceDefinitions, so all APIs are watched "
                "whether they are there or not ('kohort manifests' prints the roles)"
            )
        finally:
            for task in (watching, blind):
                task.cancel()
            await asyncio.gather(watching, blind, return_exceptions=True)

    async def wait_until_known(self) -> None:
        """Return when the operator knows of each definition whether it exists."""
        known = asyncio.ensure_future(self._informers.wait_until_ready())
        blind = asyncio.ensure_future(self._wait(lambda: self._is_blind))
        try:
            await asyncio.wait([known, blind], return_when=asyncio.FIRST_COMPLETED)
        finally:
            known.cancel()
            blind.cancel()

    async def wait_until_present(self, api: Api) -> None:
        """Return when all definitions of an API are established."""
        await self.wait_until_known()
        missing = self.find_missing(api)
        if missing:
            log.info("%s is not watched until it is defined: %s", api.kind.name, ", ".join(missing))
        await self._wait(lambda: not self.find_missing(api))

    async def wait_until_absent(self, api: Api) -> None:
        """Return when a definition of an API is no longer established."""
        await self._wait(lambda: bool(self.find_missing(api)))

    async def _wait(self, is_so: Callable[[], bool]) -> None:
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            while not is_so():
                event.clear()
                await event.wait()
        finally:
            self._waiting.discard(event)
