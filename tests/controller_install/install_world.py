"""A cluster to install on, which remembers what was asked of it."""

from datetime import UTC, datetime
from random import Random

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import Conflict
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GROUP = "disaggregatedset.x-k8s.io"
DISAGGREGATED = Kind(GROUP, "v1", "DisaggregatedSet", "disaggregatedsets")


class Site(InProcessCluster):
    """Counts writes, and lets some of them meet another writer."""

    def __init__(self) -> None:
        super().__init__(ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1)))
        self.writes = 0
        self.conflicts = 0

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        self.writes += 1
        return await super().create(kind, namespace, obj)

    async def update(self, address: Address, obj: Object) -> Object:
        self.writes += 1
        if self.conflicts:
            self.conflicts -= 1
            raise Conflict("somebody was faster")
        return await super().update(address, obj)


def disaggregated_definition() -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "DisaggregatedSet", "plural": "disaggregatedsets"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"disaggregatedsets.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def without_marks(crd: Object) -> Object:
    """A definition as another project would install it."""
    return {**crd, "metadata": {"name": crd["metadata"]["name"]}}
