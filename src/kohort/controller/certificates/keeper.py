"""
The certificate keeper: it issues and renews certificates, serves them, and writes caBundles.

It watches the Secret and all objects with our caBundle, so at rest it sends no request.
The leader issues and renews; the other replicas only serve the certificate of the
Secret. The order matters when an authority changes: first the Secret is written, then
the caBundles, and then the new certificate is served. Until then the caBundles hold the authority
of the served certificate, too, whatever another client has written into the Secret.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from kohort.apis.facts import Whole
from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import SECRET
from kohort.cluster.port import Address, Cluster, Selection
from kohort.controller.caches.cache import Cache
from kohort.controller.caches.informers import Informers
from kohort.controller.certificates.bundles import BundleHolder, Bundles
from kohort.controller.certificates.issue import (
    LIFETIMES,
    Lifetimes,
    Material,
    find_due,
    is_presentable,
    join_authorities,
)
from kohort.controller.certificates.live import LiveContext
from kohort.controller.certificates.secrets import ensure_secret, read_secret
from kohort.controller.clock import Time

RETRY_SECONDS = 1.0
# Certificates are due by the wall clock, which may be set while we wait.
CLOCK_SECONDS = 60.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Places:
    """The Secret of the certificates, the server's DNS names, and the objects with a caBundle."""

    secret: Address
    names: Collection[str]
    holders: Collection[BundleHolder]


class Keeper:
    """Keeps the certificates of one server fresh, served and trusted."""

    def __init__(
        self,
        cluster: Cluster,
        places: Places,
        live: LiveContext,
        time: Time,
        may_write: Callable[[], bool] = lambda: True,
        lifetimes: Lifetimes = LIFETIMES,
    ) -> None:
        self.is_settled = asyncio.Event()  # certificate is served and, if we lead, trusted
        self.is_armed = asyncio.Event()  # there is a certificate to serve
        self.ca = ""  # PEM, newest first
        self._cluster = cluster
        self._places = places
        self._live = live
        self._time = time
        self._may_write = may_write
        self._lifetimes = lifetimes
        self._trouble = ""  # the error that was logged last
        self._learned = ("", 0.0)  # an authority, and when all API servers know it
        self._changed = asyncio.Event()
        self._informers = Informers(cluster, time, Random())
        secret = places.secret
        only = Selection(SECRET, secret.namespace, fields=f"metadata.name={secret.name}")
        self._secrets: Cache[Whole] = self._informers.add(only, Whole)
        self._secrets.subscribe(self._note)
        self._bundles = Bundles(cluster, places.holders, self._informers, self._note)

    def _note(self, difference: Any) -> None:
        self._changed.set()

    def wake(self) -> None:
        """Check again now, since this process has become the leader."""
        self.is_settled.clear()
        self._changed.set()

    async def run(self) -> None:
        """Check the certificates on every change, and when they are due, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informers.run())
            await self._informers.wait_until_ready()
            while True:
                self._changed.clear()
                await self._rest(await self._check())

    async def _rest(self, seconds: float | None) -> None:
        """Wait for a change; a long wait ends when the wall clock says so."""
        if seconds is None or seconds <= CLOCK_SECONDS:
            await self._time.wait(self._changed, seconds)
            return
        end = self._time.now() + timedelta(seconds=seconds)
        while not self._changed.is_set() and self._time.now() < end:
            await self._time.wait(self._changed, CLOCK_SECONDS)

    async def _check(self) -> float | None:
        """Renew, trust and serve as needed; returns when to check again without an event."""
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
        self.ca, self._trouble = material.ca, ""
        self.is_armed.set()
        self.is_settled.set()
        if not self._may_write():
            return None
        wait = (find_due(material, self._lifetimes) - self._time.now()).total_seconds()
        return max(wait, RETRY_SECONDS)

    def _learning_seconds(self, ca: str) -> float:
        """Seconds to wait until API servers have learned of a new authority by their watches."""
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
        """Write all caBundles if we lead; returns whether the certificate may be served."""
        if self._may_write():
            await self._bundles.spread(join_authorities(material.ca, self.ca))
            return True
        is_first = not self._live.is_armed
        return is_first or self._bundles.are_trusting(material.ca, self._places.names)
