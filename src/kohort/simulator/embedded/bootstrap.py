"""
The first objects of a new cluster beside the API server's: a storage class, nodes, definitions.

Every object is made only if it is missing, so a cluster that was kept is opened
as it was left.
"""

from kohort.apis.gangs.definitions import definitions_of
from kohort.apiserver import bootstrap as server_bootstrap
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.bootstrap import make_missing
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulator.embedded.scheduler_objects import list_prerequisites
from kohort.simulator.nodes import NodeMake, make_node

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
