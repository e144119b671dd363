"""
Other objects that a webhook needs to judge an object, read from the API server.

Objects that do not exist are left out, and so are kinds that the API server does not serve: the
webhook knows what that means. Any other error is reported to the client that creates the
object, which tries again.
"""

import orjson

from kohort.cluster.errors import NotFound
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Cluster, Selection


async def read_beside(cluster: Cluster, address: Address) -> list[Object]:
    """Read the object at an address, or all objects of its namespace if it has no name."""
    kind = address.kind
    try:
        if address.name:
            return [await cluster.read(address)]
        listing = await cluster.list(Selection(kind, address.namespace))
    except NotFound:
        return []
    # Items of a list have no apiVersion and kind of their own.
    known = {"apiVersion": kind.api_version, "kind": kind.name}
    return [{**orjson.loads(raw), **known} for raw in listing.items]
