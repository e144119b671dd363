"""
Certificates from files, as cert-manager mounts them: shown, and shown anew when they change.

``tls.crt`` and ``tls.key`` must be there. A ``ca.crt`` beside them is written into all
objects that say where our webhooks are, unless cert-manager does that.
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
    """Shows the certificates of a folder."""

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
        self._spread: dict[Address, str] = {}  # which authority was written where

    def wake(self) -> None:
        """Look again now: we may write from here on."""
        self.is_settled.clear()
        self._changed.set()

    async def run(self) -> None:
        """Follow the files for ever."""
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
