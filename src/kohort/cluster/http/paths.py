"""URL paths of objects and collections on an API server."""

from urllib.parse import quote

from kohort.cluster.objects import Kind
from kohort.cluster.port import Address


def collection_path(kind: Kind, namespace: str) -> str:
    """The path of all objects of a kind, of one namespace if one is given."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    if namespace and kind.namespaced:
        root = f"{root}/namespaces/{quote(namespace, safe='')}"
    return f"{root}/{kind.plural}"


def object_path(address: Address) -> str:
    """The path of one object, or of a part of it."""
    path = f"{collection_path(address.kind, address.namespace)}/{quote(address.name, safe=':')}"
    return f"{path}/{address.part}" if address.part else path
