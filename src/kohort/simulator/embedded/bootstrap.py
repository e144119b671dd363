"""
The first objects of a new cluster beside the API server's: a storage class, nodes, definitions.

Every object is made only if it is missing, so a cluster that was kept is opened
as it was left.

Where a gang scheduler is installed, its queue and topology tiers are made, too. Tiers are the
same for all: a node is tier 0, a rack tier 1, a spine tier 2. Volcano's come from HyperNodes,
which follow the nodes and are kept by a component of its own.
"""

from collections.abc import Iterator

from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.definitions.kai import TOPOLOGY
from kohort.apis.gangs.definitions.koordinator import NETWORK_TOPOLOGY
from kohort.apis.gangs.dialects.volcano import QUEUE
from kohort.apiserver import bootstrap as server_bootstrap
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.bootstrap import make_missing
from kohort.cluster import kinds
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Kind, Object
from kohort.simulator.nodes import NodeMake, make_node

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


_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


async def bootstrap(api: ApiServer, make: NodeMake, gang: str = "") -> None:
    """Create namespaces, nodes and the few objects that clients expect.

    With the name of a gang dialect its kinds are defined, too.
    """
    await server_bootstrap.bootstrap(api)
    await make_missing(api, kinds.STORAGE_CLASS, _storage_class())
    if not api.store.bucket("nodes").entries:
        for index in range(make.nodes):
            await make_missing(api, kinds.NODE, make_node(index, make, api.context.stamp()))
    for definition in definitions_of(gang):
        await make_missing(api, kinds.DEFINITION, definition)
    for kind, body in list_prerequisites(gang):
        await make_missing(api, kind, body)


def _storage_class() -> Object:
    return {
        "metadata": {"name": "standard", "annotations": {_DEFAULT_CLASS: "true"}},
        "provisioner": "sim.kohort.dev/volumes",
        "volumeBindingMode": "Immediate",
    }
