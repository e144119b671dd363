"""
This is where commands read what stands where: nodes, pods, and domains where there are some.

Nodes belong to the whole cluster, so whoever may only see a namespace is told what is
missing. Domains are optional: a cluster without HyperNodes is shown by labels.
"""

from dataclasses import dataclass

import orjson

from kohort.apis.gangs.dialects.volcano import HYPER_NODE
from kohort.cli.exits import Failure
from kohort.cluster.errors import ClusterError, Forbidden, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Selection
from kohort.views.topology.atlas import Atlas, draw_atlas

NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
POD = Kind("", "v1", "Pod", "pods")


@dataclass(frozen=True, slots=True)
class Survey:
    """The objects that say what stands where in a cluster."""

    nodes: list[Object]
    pods: list[Object]
    hypernodes: list[Object]

    def draw(self) -> Atlas:
        """The atlas of it."""
        return draw_atlas(self.nodes, self.pods, self.hypernodes)


async def survey(cluster: HttpCluster) -> Survey:
    """Read what stands where."""
    try:
        nodes = await list_objects(cluster, NODE)
        pods = await list_objects(cluster, POD)
    except Forbidden as error:
        raise Failure(f"nodes and pods of the whole cluster must be readable: {error}") from error
    return Survey(nodes, pods, await find_objects(cluster, HYPER_NODE))


async def find_objects(cluster: HttpCluster, kind: Kind, namespace: str = "") -> list[Object]:
    """All objects of a kind; none where it is not served or may not be seen."""
    try:
        return await list_objects(cluster, kind, namespace)
    except (NotFound, Forbidden):
        return []


async def find_survey(cluster: HttpCluster) -> Survey | None:
    """What stands where, if we may look."""
    try:
        return await survey(cluster)
    except (Failure, ClusterError):
        return None


async def list_objects(cluster: HttpCluster, kind: Kind, namespace: str = "") -> list[Object]:
    """All objects of a kind, decoded."""
    listing = await cluster.list(Selection(kind, namespace))
    return [orjson.loads(raw) for raw in listing.items]
