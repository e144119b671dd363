"""
The caBundle: our authority, written into all objects that point API servers to our webhooks.

These are the webhook configurations, and the definitions of kinds that a webhook converts.
The operator writes only entries that differ, and each JSON patch tests the name of its
webhook: if the object changed in the meantime, the next check writes it. Where cert-manager
injects the caBundle, the operator does not.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from kohort.cluster.objects import Kind, Object, annotations_of
from kohort.cluster.port import Address, Cluster, PatchType

_INJECTED = "cert-manager.io/inject-"
_CONVERSION = "/spec/conversion"


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


async def spread_bundle(cluster: Cluster, address: Address, holder: Object, ca: str) -> bool:
    """Make the webhooks of an object trust the authority; returns whether a write was needed."""
    patch = plan_bundle(holder, ca)
    if patch:
        await cluster.patch(address, patch, PatchType.JSON)
    return bool(patch)
