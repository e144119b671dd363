"""
The objects that an installed gang scheduler has: a queue, and the topology tiers.

Tiers are the same for all: a node is tier 0, a rack tier 1, a spine tier 2. Volcano's
come from HyperNodes, which follow the nodes and are kept by a component of its own.
"""

from collections.abc import Iterator

from kohort.apis.gangs.definitions.kai import TOPOLOGY
from kohort.apis.gangs.definitions.koordinator import NETWORK_TOPOLOGY
from kohort.apis.gangs.dialects.volcano import QUEUE
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Kind, Object

_NAME = "default"  # the default one


def list_prerequisites(gang: str) -> Iterator[tuple[Kind, Object]]:
    """The objects of a dialect's installation, by the name of the dialect."""
    metadata = {"name": _NAME}
    if gang == "volcano":
        yield QUEUE, {"metadata": metadata, "spec": {"weight": 1}, "status": {"state": "Open"}}
    elif gang == "kai":
        levels = [{"nodeLabel": label} for label in (SPINE, RACK, HOST)]
        yield TOPOLOGY, {"metadata": metadata, "spec": {"levels": levels}}
    elif gang == "koordinator":
        layers = [
            {"topologyLayer": "spine", "labelKey": [SPINE]},
            {"topologyLayer": "rack", "labelKey": [RACK], "parentTopologyLayer": "spine"},
            {"topologyLayer": "NodeTopologyLayer", "parentTopologyLayer": "rack"},
        ]
        yield NETWORK_TOPOLOGY, {"metadata": metadata, "spec": {"networkTopologySpec": layers}}
