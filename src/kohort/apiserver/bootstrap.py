"""
The first objects of a new API server: namespaces, priority classes, its own Service.

Every object is made only if it is missing, so a store that was kept is opened as it was left.
"""

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.apiserver.resources.settings import SYSTEM_PRIORITIES
from kohort.cluster import kinds
from kohort.cluster.errors import AlreadyExists
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_OPTIONS = WriteOptions(manager="kube-apiserver")


async def bootstrap(api: ApiServer) -> None:
    """Create the objects that a Kubernetes API server creates itself."""
    for name in _NAMESPACES:
        await make_missing(api, kinds.NAMESPACE, {"metadata": {"name": name}})
    for name, value in SYSTEM_PRIORITIES.items():
        body = {"metadata": {"name": name}, "value": value}
        await make_missing(api, kinds.PRIORITY_CLASS, body)
    await make_missing(api, kinds.SERVICE, _own_service(), "default")


async def make_missing(api: ApiServer, kind: Kind, body: Object, namespace: str = "") -> None:
    """Create an object with its status, unless one of that name exists."""
    key = (namespace, body["metadata"]["name"])
    if api.store.find(kind.group_resource, key) is not None:
        return
    try:
        await api.create(api.target(kind, namespace), body, _OPTIONS)
    except AlreadyExists:
        return
    if "status" in body and kind not in (kinds.NODE, kinds.DEFINITION):
        # A create drops the status of kinds with a status subresource.
        target = api.target(kind, namespace, body["metadata"]["name"], "status")
        patch = PatchBody(PatchType.MERGE, {"status": body["status"]})
        await api.patch(target, patch, _OPTIONS)


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
