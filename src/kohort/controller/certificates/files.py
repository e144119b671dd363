"""
Certificates from files, as cert-manager mounts them: loaded, and loaded again on a change.

``tls.crt`` and ``tls.key`` must exist. The operator writes a ``ca.crt`` beside them into
the caBundle of our webhooks, unless cert-manager injects it.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from random import Random
from typing import Any

from kohort.cluster.errors import KohortError
from kohort.cluster.port import Cluster
from kohort.controller.caches.informers import Informers
from kohort.controller.certificates.bundles import BundleHolder, Bundles
from kohort.controller.certificates.live import LiveContext
from kohort.controller.clock import Time

LOOK_SECONDS = 10.0
log = logging.getLogger(__name__)


class FileKeeper:
    """Loads the certificates of a folder into the admission server."""

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        holders: Collection[BundleHolder],
        live: LiveContext,
        time: Time,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self.is_settled = asyncio.Event()
        self.is_armed = asyncio.Event()
        self.ca = ""  # PEM; empty if the folder has none
        self._folder = folder
        self._live = live
        self._time = time
        self._may_write = may_write
        self._changed = asyncio.Event()
        self._informers = Informers(cluster, time, Random())
        self._bundles = Bundles(cluster, holders, self._informers, self._note)

    def _note(self, difference: Any) -> None:
        self._changed.set()

    def wake(self) -> None:
        """Check again now, since this process has become the leader."""
        self.is_settled.clear()
        self._changed.set()

    async def run(self) -> None:
        """Check the files again and again, and the caBundles on every change, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informers.run())
            while True:
                self._changed.clear()
                try:
                    await self._check()
                    self.is_settled.set()
                except KohortError as error:
                    log.warning("certificates: %s", error)
                await self._time.wait(self._changed, LOOK_SECONDS)

    async def _check(self) -> None:
        certificate, key = self._read("tls.crt"), self._read("tls.key")
        if (self._folder / "ca.crt").exists():
            self.ca = self._read("ca.crt")
        if not self._live.is_armed:
            self._show(certificate, key)
        if self.ca and self._may_write():
            await self._informers.wait_until_ready()
            await self._bundles.spread(self.ca)
        self._show(certificate, key)

    def _show(self, certificate: str, key: str) -> None:
        if self._live.show(certificate, key):
            log.info("certificate loaded from %s", self._folder)
        self.is_armed.set()

    def _read(self, name: str) -> str:
        path = self._folder / name
        try:
            return path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise KohortError(f"cannot read {path}: {error}") from error
