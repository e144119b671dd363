"""
Whom API servers trust: the authority, written into the configurations of the webhooks.

Only what differs is written, entry by entry, and each write names the webhook
that it means: a configuration that changed in the meantime is left for the next
look. Where cert-manager does this, we do not.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable

from kohort.cluster.objects import Kind, Object, annotations_of
from kohort.cluster.port import Address, Cluster, PatchForm

_INJECTED = "cert-manager.io/inject-"


def plan_bundle(configuration: Object, ca: str) -> list[Object]:
    """The JSON patch that makes all webhooks of a configuration trust the authority."""
    if any(key.startswith(_INJECTED) for key in annotations_of(configuration)):
        return []
    wanted = b64encode(ca.encode()).decode()
    patch: list[Object] = []
    for index, webhook in enumerate(configuration.get("webhooks") or ()):
        if (webhook.get("clientConfig") or {}).get("caBundle") != wanted:
            place = f"/webhooks/{index}"
            patch.append({"op": "test", "path": f"{place}/name", "value": webhook["name"]})
            path = f"{place}/clientConfig/caBundle"
            patch.append({"op": "add", "path": path, "value": wanted})
    return patch


def is_trusted(configurations: Iterable[Object], ca: str) -> bool:
    """Whether all webhooks trust the newest authority, so that what it signed may be shown."""
    newest = ca.partition("-----END CERTIFICATE-----")[0].strip()
    return all(
        newest in _read_bundle(webhook)
        for configuration in configurations
        for webhook in configuration.get("webhooks") or ()
    )


def _read_bundle(webhook: Object) -> str:
    try:
        return b64decode((webhook.get("clientConfig") or {}).get("caBundle") or "").decode()
    except (Base64Error, ValueError):
        return ""


async def spread_bundle(cluster: Cluster, kind: Kind, configuration: Object, ca: str) -> bool:
    """Make a configuration trust the authority; returns whether a write was needed."""
    patch = plan_bundle(configuration, ca)
    if patch:
        address = Address(kind, "", configuration["metadata"]["name"])
        await cluster.patch(address, patch, PatchForm.JSON)
    return bool(patch)
