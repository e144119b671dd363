"""
The Secret by which replicas share certificates: read, written and created.

Every write carries the version that was read. Of two replicas that issue certificates at
once one loses, reads again, and uses the certificates of the other.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Collection
from datetime import datetime

from kohort.cluster.errors import AlreadyExists, Conflict, NotFound
from kohort.cluster.kinds import NAMESPACE, SECRET
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Cluster
from kohort.controller.certificates.issue import (
    LIFETIMES,
    Lifetimes,
    Material,
    Need,
    judge_material,
    renew_material,
)

ATTEMPTS_MAX = 5
_KEYS = {"ca.crt": "ca", "ca.key": "ca_key", "tls.crt": "certificate", "tls.key": "key"}


def read_secret(secret: Object) -> Material | None:
    """The certificates and keys in a Secret; None if one is missing."""
    data = secret.get("data") or {}
    try:
        texts = {field: b64decode(data[key]).decode() for key, field in _KEYS.items()}
    except (KeyError, Base64Error, ValueError, TypeError):
        return None
    return Material(**texts)


def write_secret(secret: Object, material: Material) -> Object:
    """The Secret with these certificates and keys; its other content stays."""
    texts = {key: getattr(material, field) for key, field in _KEYS.items()}
    encoded = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
    return {**secret, "data": {**(secret.get("data") or {}), **encoded}}


async def ensure_secret(
    cluster: Cluster,
    address: Address,
    names: Collection[str],
    now: datetime,
    lifetimes: Lifetimes = LIFETIMES,
    trusted: str = "",  # the authority of the served certificate, in case the Secret has lost it
) -> Material:
    """The certificates of the Secret, after new ones were written if they were not valid."""
    for _ in range(ATTEMPTS_MAX):
        try:
            return await _ensure_once(cluster, address, names, now, lifetimes, trusted)
        except Conflict:
            continue
    raise Conflict(f"another client keeps writing the Secret {address.namespace}/{address.name}")


async def _ensure_once(
    cluster: Cluster,
    address: Address,
    names: Collection[str],
    now: datetime,
    lifetimes: Lifetimes,
    trusted: str,
) -> Material:
    # The served certificate stays trusted until a new one is served, even without the Secret.
    shown = Material(trusted, "", "", "") if trusted else None
    try:
        secret = await cluster.read(address)
    except NotFound:
        return await _create(cluster, address, renew_material(shown, names, now, lifetimes))
    old = read_secret(secret) or shown
    if old is not None and judge_material(old, names, now, lifetimes) is Need.NOTHING:
        return old
    made = renew_material(old, names, now, lifetimes)
    await cluster.update(address, write_secret(secret, made))
    return made


async def _create(cluster: Cluster, address: Address, material: Material) -> Material:
    secret: Object = {
        "apiVersion": SECRET.api_version,
        "kind": SECRET.name,
        "metadata": {"name": address.name, "namespace": address.namespace},
        "type": "Opaque",
    }
    whole = write_secret(secret, material)
    try:
        await cluster.create(SECRET, address.namespace, whole)
    except NotFound:
        await ensure_namespace(cluster, address.namespace)
        await cluster.create(SECRET, address.namespace, whole)
    return material


async def ensure_namespace(cluster: Cluster, name: str) -> None:
    """Create the namespace if it does not exist."""
    try:
        await cluster.create(NAMESPACE, "", {"metadata": {"name": name}})
    except AlreadyExists:
        return
