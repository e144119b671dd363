"""
Certificates from files, as cert-manager mounts them: loaded, and loaded again on a change.

``tls.crt`` and ``tls.key`` must exist. The operator writes a ``ca.crt`` beside them into
the caBundle of our webhooks, unless cert-manager injects it.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from kohort.cluster.errors import KohortError, NotFound
from kohort.cluster.port import Address, Cluster
from kohort.controller.certificates.bundles import BundleHolder, spread_bundle
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
        self._cluster = cluster
        self._folder = folder
        self._holders = tuple(holders)
        self._live = live
        self._time = time
        self._may_write = may_write
        self._changed = asyncio.Event()
        self._spread: dict[Address, str] = {}  # the caBundle last written, by object

    def wake(self) -> None:
        """Check again now, since this process has become the leader."""
        self.is_settled.clear()
        self._changed.set()

    async def run(self) -> None:
        """Check the files again and again, for ever."""
        while True:
            self._changed.clear()
            try:
                await self._check()
                self.is_armed.set()
                self.is_settled.set()
            except KohortError as error:
                log.warning("certificates: %s", error)
            await self._time.wait(self._changed, LOOK_SECONDS)

    async def _check(self) -> None:
        certificate, key = self._read("tls.crt"), self._read("tls.key")
        if (self._folder / "ca.crt").exists():
            self.ca = self._read("ca.crt")
        if self.ca and self._may_write():
            await self._trust(self.ca)
        if self._live.show(certificate, key):
            log.info("certificate loaded from %s", self._folder)

    def _read(self, name: str) -> str:
        path = self._folder / name
        try:
            return path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise KohortError(f"cannot read {path}: {error}") from error

    async def _trust(self, ca: str) -> None:
        for holder in self._holders:
            if self._spread.get(holder.address) == ca or not holder.may_write():
                continue
            try:
                found = await self._cluster.read(holder.address)
            except NotFound:
                continue
            await spread_bundle(self._cluster, holder.address, found, ca)
            self._spread[holder.address] = ca
