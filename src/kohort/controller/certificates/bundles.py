"""
The caBundle: our authority, written into all objects that point API servers to our webhooks.

These are the webhook configurations, and the definitions of kinds that a webhook converts.
The operator watches them, so that it restores a caBundle that another client removed, and at rest
sends no request. It writes only entries that differ, and each JSON patch tests the name of its
webhook: if the object changed in the meantime, the next check writes it. Where cert-manager
injects the caBundle, the operator does not.
"""

import logging
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from kohort.apis.facts import Whole
from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Kind, Object, annotations_of
from kohort.cluster.port import Address, Cluster, PatchType, Selection
from kohort.controller.caches.cache import Cache
from kohort.controller.caches.informers import Informers

_INJECTED = "cert-manager.io/inject-"
_CONVERSION = "/spec/conversion"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BundleHolder:
    """An object with a caBundle for our webhooks, and whether we may write it now."""

    kind: Kind
    name: str
    may_write: Callable[[], bool] = lambda: True

    @property
    def address(self) -> Address:
        """The address of the object."""
        return Address(self.kind, "", self.name)


class _Client(NamedTuple):
    path: str  # JSON path of the clientConfig in the object
    config: Object
    guard: Object  # the JSON patch test that the path still is this webhook


def _list_clients(holder: Object) -> Iterator[_Client]:
    for index, webhook in enumerate(holder.get("webhooks") or ()):
        place = f"/webhooks/{index}"
        guard = {"op": "test", "path": f"{place}/name", "value": webhook["name"]}
        yield _Client(f"{place}/clientConfig", webhook.get("clientConfig") or {}, guard)
    conversion = (holder.get("spec") or {}).get("conversion") or {}
    config = (conversion.get("webhook") or {}).get("clientConfig")
    if config is not None:
        guard = {"op": "test", "path": f"{_CONVERSION}/strategy", "value": "Webhook"}
        yield _Client(f"{_CONVERSION}/webhook/clientConfig", config, guard)


def plan_bundle(holder: Object, ca: str) -> list[Object]:
    """The JSON patch that makes all webhooks of an object trust the authority."""
    if any(key.startswith(_INJECTED) for key in annotations_of(holder)):
        return []
    wanted = b64encode(ca.encode()).decode()
    patch: list[Object] = []
    for client in _list_clients(holder):
        if client.config.get("caBundle") != wanted:
            patch.append(client.guard)
            patch.append({"op": "add", "path": f"{client.path}/caBundle", "value": wanted})
    return patch


def is_trusted(holders: Iterable[Object], ca: str, names: Collection[str]) -> bool:
    """Whether all webhooks that call a server of these names trust the newest authority."""
    newest = ca.partition("-----END CERTIFICATE-----")[0].strip()
    return all(
        newest in _read_bundle(client.config)
        for holder in holders
        for client in _list_clients(holder)
        if _find_host(client.config) in names
    )


def _find_host(config: Object) -> str:
    service = config.get("service") or {}
    if service:
        return f"{service.get('name')}.{service.get('namespace')}.svc"
    return urlsplit(config.get("url") or "").hostname or ""


def _read_bundle(config: Object) -> str:
    try:
        return b64decode(config.get("caBundle") or "").decode()
    except (Base64Error, ValueError):
        return ""


class Bundles:
    """The objects with a caBundle for our webhooks, as watches show them."""

    def __init__(
        self,
        cluster: Cluster,
        holders: Collection[BundleHolder],
        informers: Informers,
        note: Callable[[Any], None],
    ) -> None:
        self._cluster = cluster
        self._held: list[tuple[BundleHolder, Cache[Whole]]] = []
        # By object: the version that our last write replaced, and the authority.
        self._spread_over: dict[Address, tuple[str, str]] = {}
        for holder in holders:
            only = Selection(holder.kind, fields=f"metadata.name={holder.name}")
            cache: Cache[Whole] = informers.add(only, Whole)
            cache.subscribe(note)
            self._held.append((holder, cache))

    def are_trusting(self, ca: str, names: Collection[str]) -> bool:
        """Whether all webhooks that call a server of these names trust the newest authority."""
        return is_trusted((found for _, found in self._list_found()), ca, names)

    async def spread(self, ca: str) -> None:
        """
        Make the webhooks trust the authority, in all objects that we may write now.

        If the API server refuses one, the others are written, and then the error is raised.
        """
        refused: KohortError | None = None
        for holder, found in self._list_found():
            try:
                if holder.may_write():
                    await self._spread(holder, found, ca)
            except KohortError as error:
                refused = refused or error
        if refused is not None:
            raise refused

    def _list_found(self) -> list[tuple[BundleHolder, Object]]:
        return [(holder, entry.value.decode()) for holder, cache in self._held for entry in cache]

    async def _spread(self, holder: BundleHolder, found: Object, ca: str) -> None:
        """Write the caBundle of one object, unless our cache is older than our last write."""
        address, seen = holder.address, (found["metadata"]["resourceVersion"], ca)
        if self._spread_over.get(address) == seen:
            return
        if patch := plan_bundle(found, ca):
            await self._cluster.patch(address, patch, PatchType.JSON)
            self._spread_over[address] = seen
            log.info("authority written into %s", holder.name)
