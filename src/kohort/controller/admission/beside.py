"""
What a webhook wants to see beside the object that it judges, read from the cluster.

What does not exist is left out, and so is a kind that the cluster does not serve: the webhook
knows what that means. Any other error is told to whoever makes the object, who tries again.
"""

import orjson

from kohort.cluster.errors import NotFound
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Cluster, Selection


async def read_beside(cluster: Cluster, address: Address) -> list[Object]:
    """The objects at an address: one by its name, or without a name all of its namespace."""
    kind = address.kind
    try:
        if address.name:
            return [await cluster.read(address)]
        listing = await cluster.list(Selection(kind, address.namespace))
    except NotFound:
        return []
    # Items of a list do not say what they are.
    known = {"apiVersion": kind.api_version, "kind": kind.name}
    return [{**orjson.loads(raw), **known} for raw in listing.items]
