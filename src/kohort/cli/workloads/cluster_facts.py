"""
This is where commands read what stands where: nodes, pods, and domains where there are some.

Nodes belong to the whole cluster, so whoever may only see a namespace is told what is
missing. Domains are optional: a cluster without HyperNodes is shown by labels.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import orjson

from kohort.apis.gangs.definitions.volcano import QUEUE
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.volcano import HYPER_NODE
from kohort.cli.exits import Failure
from kohort.cluster.errors import ClusterError, Forbidden, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Selection
from kohort.controller.process.gangs import find_known
from kohort.views.picture import Picture
from kohort.views.topology.atlas import Atlas, draw_atlas
from kohort.views.topology.gangs import Evidence, find_dialects

_Objects = dict[Kind, dict[str, Object] | None]
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
    hypernodes: list[Object] = []
    # A cluster without HyperNodes is shown by labels, and so is one that hides them.
    with suppress(NotFound, Forbidden):
        hypernodes = await list_objects(cluster, HYPER_NODE)
    return Survey(nodes, pods, hypernodes)


async def _find_named(
    cluster: HttpCluster, kind: Kind, namespace: str = ""
) -> dict[str, Object] | None:
    """All objects of a kind by name; None where they may not be seen. Raises NotFound."""
    try:
        listed = await list_objects(cluster, kind, namespace)
    except Forbidden:
        return None
    return {name_of(obj): obj for obj in listed}


async def _find_spoken(
    cluster: HttpCluster, picture: Picture, variants: Sequence[Dialect]
) -> tuple[Dialect, _Objects]:
    """The variant of a dialect that the cluster serves, and the objects of its gangs."""
    for dialect in variants:
        with suppress(NotFound):
            listing: _Objects = {}
            for kind in dialect.kinds[:1]:
                listing[kind] = await _find_named(cluster, kind, picture.namespace)
            return dialect, listing
    return variants[0], {}


async def gather_evidence(cluster: HttpCluster, picture: Picture) -> Evidence:
    """What has to be known to say why gangs of a workload wait; nothing if none does."""
    known = find_known()
    waiting = find_dialects(picture, [variants[0] for variants in known.values()])
    if not waiting:
        return Evidence()
    spoken = [await _find_spoken(cluster, picture, known[d.name]) for d in waiting]
    found = Survey([], [], [])
    are_nodes_seen = True
    try:
        found = await survey(cluster)
    except (Failure, ClusterError):
        are_nodes_seen = False
    objects = {kind: listed for _, listing in spoken for kind, listed in listing.items()}
    queues = None
    with suppress(NotFound):
        queues = await _find_named(cluster, QUEUE)
    return Evidence(
        nodes=found.nodes,
        pods=found.pods,
        hypernodes=found.hypernodes,
        objects=objects,
        queues=queues,
        dialects=[dialect for dialect, _ in spoken],
        are_nodes_seen=are_nodes_seen,
    )


async def list_objects(cluster: HttpCluster, kind: Kind, namespace: str = "") -> list[Object]:
    """All objects of a kind, decoded."""
    listing = await cluster.list(Selection(kind, namespace))
    return [orjson.loads(raw) for raw in listing.items]
