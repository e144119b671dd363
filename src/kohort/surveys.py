"""
Surveys: the nodes, pods and topology domains of a cluster, listed through its API.

Nodes belong to the whole cluster, so a user who may only see a namespace gets an error that says
so. Domains are optional: a cluster without HyperNodes is shown by labels.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import orjson

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.known import DOMAIN
from kohort.cluster.errors import ClusterError, Forbidden, KohortError, NotFound
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Cluster, Selection
from kohort.controller.process.gangs import find_known
from kohort.views.picture import Picture
from kohort.views.topology.atlas import Atlas, draw_atlas
from kohort.views.topology.gangs import Evidence, find_dialects

_Objects = dict[Kind, dict[str, Object] | None]


class UnreadableCluster(KohortError):
    """The user may not list the nodes or the pods of the whole cluster."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The nodes, pods and HyperNodes of a cluster."""

    nodes: list[Object]
    pods: list[Object]
    hypernodes: list[Object]

    def draw(self) -> Atlas:
        """The atlas: pods on their nodes, and nodes in their topology domains."""
        return draw_atlas(self.nodes, self.pods, self.hypernodes)


async def survey(cluster: Cluster) -> Survey:
    """List the nodes, pods and HyperNodes of a cluster."""
    try:
        nodes = await list_objects(cluster, NODE)
        pods = await list_objects(cluster, POD)
    except Forbidden as error:
        raise UnreadableCluster(
            f"nodes and pods of the whole cluster must be readable: {error}"
        ) from error
    hypernodes: list[Object] = []
    # A cluster without HyperNodes is shown by labels, and so is one that hides them.
    with suppress(NotFound, Forbidden):
        hypernodes = await list_objects(cluster, DOMAIN)
    return Survey(nodes, pods, hypernodes)


async def _find_named(
    cluster: Cluster, kind: Kind, namespace: str = ""
) -> dict[str, Object] | None:
    """All objects of a kind by name; None if the user may not list them. Raises NotFound."""
    try:
        listed = await list_objects(cluster, kind, namespace)
    except Forbidden:
        return None
    return {name_of(obj): obj for obj in listed}


async def _find_spoken(
    cluster: Cluster, picture: Picture, variants: Sequence[Dialect]
) -> tuple[Dialect, _Objects]:
    """The variant of a dialect that the cluster serves, and the objects of its gangs."""
    for dialect in variants:
        with suppress(NotFound):
            listing: _Objects = {}
            for kind in dialect.kinds[:1]:
                listing[kind] = await _find_named(cluster, kind, picture.namespace)
            return dialect, listing
    return variants[0], {}


async def gather_evidence(cluster: Cluster, picture: Picture) -> Evidence:
    """The objects that explain why gangs of a workload wait; empty if no gang waits."""
    known = find_known()
    waiting = find_dialects(picture, [variants[0] for variants in known.values()])
    if not waiting:
        return Evidence()
    spoken = [await _find_spoken(cluster, picture, known[d.name]) for d in waiting]
    found = Survey([], [], [])
    are_nodes_seen = True
    try:
        found = await survey(cluster)
    except (UnreadableCluster, ClusterError):
        are_nodes_seen = False
    objects = {kind: listed for _, listing in spoken for kind, listed in listing.items()}
    for kind in dict.fromkeys(d.queues for d, _ in spoken if d.queues is not None):
        with suppress(NotFound):
            objects[kind] = await _find_named(cluster, kind)
    return Evidence(
        nodes=found.nodes,
        pods=found.pods,
        hypernodes=found.hypernodes,
        objects=objects,
        dialects=[dialect for dialect, _ in spoken],
        are_nodes_seen=are_nodes_seen,
    )


async def list_objects(cluster: Cluster, kind: Kind, namespace: str = "") -> list[Object]:
    """All objects of a kind, decoded."""
    listing = await cluster.list(Selection(kind, namespace))
    return [orjson.loads(raw) for raw in listing.items]
