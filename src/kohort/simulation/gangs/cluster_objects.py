"""
The cluster of a simulation with gangs: racks and spines, their HyperNodes, and a queue.

Each node has room for one group of the largest kind that is drawn, and there are more
nodes than groups and extra groups together. So a pod that still waits for room when all
faults are over shows a defect.
"""

from collections.abc import Iterator

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, QUEUE
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.gangs.settings import DIALECTS
from kohort.simulator.nodes import NodeMake, name_node

NODES, RACKS, SPINES = 8, 4, 2
NODE_GPUS = 8
MAKE = NodeMake(NODES, RACKS, NODE_GPUS, spines=SPINES)
_OPTIONS = WriteOptions(manager="admin")


async def create_gang_prerequisites(api: ApiServer) -> None:
    """Let a cluster that has been started know gangs."""
    for name in DIALECTS:
        for definition in definitions_of(name):
            await api.create(api.target(kinds.DEFINITION), definition, _OPTIONS)
    queue = {"metadata": {"name": "default"}, "spec": {"weight": 1}}
    await api.create(api.target(QUEUE), queue, _OPTIONS)
    for domain in make_domains():
        await api.create(api.target(HYPER_NODE), domain, _OPTIONS)


def make_domains() -> Iterator[Object]:
    """Each node is tier 0, each rack tier 1, each spine tier 2."""
    nodes = [name_node(index, NODES) for index in range(NODES)]
    for node in nodes:
        yield _make_domain(node, 0, "Node", [node])
    in_rack, in_spine = NODES // RACKS, RACKS // SPINES
    racks = [f"rack-{rack}" for rack in range(RACKS)]
    for place, rack in enumerate(racks):
        yield _make_domain(rack, 1, "HyperNode", nodes[place * in_rack : (place + 1) * in_rack])
    for spine in range(SPINES):
        members = racks[spine * in_spine : (spine + 1) * in_spine]
        yield _make_domain(f"spine-{spine}", 2, "HyperNode", members)


def _make_domain(name: str, tier: int, kind: str, members: list[str]) -> Object:
    named = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
    return {
        "apiVersion": HYPER_NODE.api_version,
        "kind": HYPER_NODE.name,
        "metadata": {"name": name},
        "spec": {"tier": tier, "tierName": ("host", "rack", "spine")[tier], "members": named},
    }
