"""
The keeper of certificates: sees that there are some, that they are fresh, shown and trusted.

It follows the Secret and all objects that hold its authority by watches, so at rest it
asks for nothing. Whoever may write (the leader) makes and renews; the others only
show what the Secret holds. The order matters when an authority changes: first the
Secret, then trust, then the new certificate is shown.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random
from typing import Any

from kohort.apis.facts import Whole
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Cluster, Selection
from kohort.controller.caches.cache import Cache
from kohort.controller.caches.informers import Informers
from kohort.controller.certificates.bundles import BundleHolder, is_trusted, spread_bundle
from kohort.controller.certificates.issue import (
    LIFETIMES,
    Lifetimes,
    Material,
    find_due,
    is_presentable,
)
from kohort.controller.certificates.live import LiveContext
from kohort.controller.certificates.secrets import SECRET, ensure_secret, read_secret
from kohort.controller.clock import Time

RETRY_SECONDS = 1.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Places:
    """Where certificates are kept, by which names the server is called, and who calls it."""

    secret: Address
    names: Collection[str]
    holders: Collection[BundleHolder]


class Keeper:
    """Keeps the certificates of one server."""

    def __init__(
        self,
        cluster: Cluster,
        places: Places,
        live: LiveContext,
        time: Time,
        may_write: Callable[[], bool] = lambda: True,
        lifetimes: Lifetimes = LIFETIMES,
    ) -> None:
        self.is_settled = asyncio.Event()  # shown, and if we may write, trusted
        self.is_armed = asyncio.Event()  # there is something to show
        self.ca = ""  # PEM, newest first
        self._cluster = cluster
        self._places = places
        self._live = live
        self._time = time
        self._may_write = may_write
        self._lifetimes = lifetimes
        self._trouble = ""  # what was told last
        self._learned = ("", 0.0)  # an authority, and from when on all know it
        # Which version of a holder was last written over, and with which authority.
        self._spread_over: dict[Address, tuple[str, str]] = {}
        self._changed = asyncio.Event()
        self._informers = Informers(cluster, time, Random())
        self._secrets = self._follow(SECRET, places.secret.namespace, places.secret.name)
        self._holders = [(each, self._follow(each.kind, "", each.name)) for each in places.holders]

    def _follow(self, kind: Kind, namespace: str, name: str) -> Cache[Whole]:
        only = Selection(kind, namespace, fields=f"metadata.name={name}")
        cache: Cache[Whole] = self._informers.add(only, Whole)
        cache.subscribe(self._note)
        return cache

    def _note(self, difference: Any) -> None:
        self._changed.set()

    def wake(self) -> None:
        """Look again now: we may write from here on."""
        self.is_settled.clear()
        self._changed.set()

    async def run(self) -> None:
        """Keep certificates for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informers.run())
            await self._informers.wait_until_ready()
            while True:
                self._changed.clear()
                pause = await self._check()
                await self._time.wait(self._changed, pause)

    async def _check(self) -> float | None:
        """Do what is needed now; returns when to look again without a change."""
        try:
            material = await self._obtain()
            if material is None or not await self._trust(material):
                return None
            if wait := self._learning_seconds(material.ca):
                return wait
            if self._live.show(material.certificate, material.key):
                log.info("certificate loaded")
        except KohortError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                log.warning("certificates: %s", error)
            return RETRY_SECONDS
        self.ca = material.ca
        self.is_armed.set()
        self.is_settled.set()
        if not self._may_write():
            return None
        wait = (find_due(material, self._lifetimes) - self._time.now()).total_seconds()
        return max(wait, RETRY_SECONDS)

    def _learning_seconds(self, ca: str) -> float:
        """How long API servers still have to learn of an authority that is new to them."""
        if not self._live.is_armed or ca == self.ca:
            return 0.0
        now = self._time.elapsed()
        if self._learned[0] != ca:
            self._learned = (ca, now + self._lifetimes.learning.total_seconds())
        return max(0.0, self._learned[1] - now)

    async def _obtain(self) -> Material | None:
        places = self._places
        if self._may_write():
            now = self._time.now()
            return await ensure_secret(
                self._cluster, places.secret, places.names, now, self._lifetimes, self.ca
            )
        found = self._secrets.find((places.secret.namespace, places.secret.name))
        material = read_secret(found.decode()) if found is not None else None
        if material is not None and is_presentable(material, self._time.now()):
            return material
        return None

    async def _trust(self, material: Material) -> bool:
        """Have the authority trusted; returns whether the certificate may be shown."""
        decoded = [(holder, e.value.decode()) for holder, cache in self._holders for e in cache]
        if self._may_write():
            for holder, found in decoded:
                if holder.may_write():
                    await self._spread(holder, found, material.ca)
            return True
        is_first = not self._live.is_armed
        held = (found for _, found in decoded)
        return is_first or is_trusted(held, material.ca, self._places.names)

    async def _spread(self, holder: BundleHolder, found: Object, ca: str) -> None:
        """Have one holder trust the authority, unless our view is older than our write."""
        address, seen = holder.address, (found["metadata"]["resourceVersion"], ca)
        if self._spread_over.get(address) == seen:
            return
        if await spread_bundle(self._cluster, address, found, ca):
            self._spread_over[address] = seen
            log.info("authority written into %s", holder.name)
