"""
What a new cluster holds before anybody asks for anything.

Every object is made only if it is missing, so a cluster that was kept is opened
as it was left.
"""

from kohort.apis.gangs.definitions import definitions_of
from kohort.cluster.errors import AlreadyExists
from kohort.cluster.objects import Kind, Object
from kohort.simulator import kinds
from kohort.simulator.api.api import ApiServer
from kohort.simulator.api.requests import Patch, PatchType, WriteOptions
from kohort.simulator.embedded.prerequisites import list_prerequisites
from kohort.simulator.nodes import NodeMake, make_node
from kohort.simulator.resources.validation.settings import SYSTEM_PRIORITIES

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_OPTIONS = WriteOptions(manager="kube-apiserver")
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


async def bootstrap(api: ApiServer, make: NodeMake, gang: str = "") -> None:
    """Make namespaces, nodes and the few objects that clients take for granted.

    With the name of a gang dialect its kinds are defined, too.
    """
    for name in _NAMESPACES:
        await _make(api, kinds.NAMESPACE, {"metadata": {"name": name}})
    for name, value in SYSTEM_PRIORITIES.items():
        body = {"metadata": {"name": name}, "value": value}
        await _make(api, kinds.PRIORITY_CLASS, body)
    await _make(api, kinds.STORAGE_CLASS, _storage_class())
    await _make(api, kinds.SERVICE, _own_service(), "default")
    if not api.store.bucket("nodes").entries:
        for index in range(make.nodes):
            await _make(api, kinds.NODE, make_node(index, make, api.context.stamp()))
    for definition in definitions_of(gang):
        await _make(api, kinds.DEFINITION, definition)
    for kind, body in list_prerequisites(gang):
        await _make(api, kind, body)


async def _make(api: ApiServer, kind: Kind, body: Object, namespace: str = "") -> None:
    key = (namespace, body["metadata"]["name"])
    if api.store.find(kind.group_resource, key) is not None:
        return
    try:
        await api.create(api.target(kind, namespace), body, _OPTIONS)
    except AlreadyExists:
        return
    if "status" in body and kind not in (kinds.NODE, kinds.DEFINITION):
        # A status that is apart is not taken from whoever makes the object.
        target = api.target(kind, namespace, body["metadata"]["name"], "status")
        patch = Patch(PatchType.MERGE, {"status": body["status"]})
        await api.patch(target, patch, _OPTIONS)


def _storage_class() -> Object:
    return {
        "metadata": {"name": "standard", "annotations": {_DEFAULT_CLASS: "true"}},
        "provisioner": "sim.kohort.dev/volumes",
        "volumeBindingMode": "Immediate",
    }


def _own_service() -> Object:
    return {
        "metadata": {
            "name": "kubernetes",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": "10.96.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
    }
