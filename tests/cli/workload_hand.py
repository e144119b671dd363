"""What a user does with kubectl, on one workload."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

import orjson
import yaml

from kohort.apis.inferenceservice.kinds import CLUSTER_BASE_MODEL, CLUSTER_SERVING_RUNTIME
from kohort.apis.leaderworkerset.labels import KIND
from kohort.apis.served import APIS
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.kinds import CONFIG_MAP, LEASE, POD
from kohort.cluster.objects import Kind, Object, find_condition, name_of
from kohort.cluster.port import Address, PatchType, Selection
from kohort.controller.install import InstallOptions, install_definitions
from kohort.controller.install.names import LEASE as LEASE_NAME
from kohort.controller.install.names import NAMESPACE
from kohort.simulator.stages import PULL_ERROR

TEMPLATE = "/spec/leaderWorkerTemplate/workerTemplate"
EVENT = Kind("", "v1", "Event", "events")
NAMESPACES = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
_SHARED = (CLUSTER_BASE_MODEL, CLUSTER_SERVING_RUNTIME)
T = TypeVar("T")


class Hand:
    """What a user does with kubectl, on one workload."""

    def __init__(self, kubeconfig: Path, name: str, kind: Kind = KIND) -> None:
        self._kubeconfig = kubeconfig
        self._name = name
        self._kind = kind

    def create(self, groups: int = 2, **spec: Any) -> None:
        """Make the workload; ``spec`` is more of its pods' specs."""
        container = {"name": "engine", "image": "engine:1"}
        workers = {"metadata": {}, "spec": {"containers": [container], **spec.get("spec", {})}}
        self.make(
            {"replicas": groups, "leaderWorkerTemplate": {"size": 2, "workerTemplate": workers}}
        )

    def make(self, spec: Object, **metadata: Any) -> None:
        """Make the workload, whatever its kind."""
        body = {
            "apiVersion": self._kind.api_version,
            "kind": self._kind.name,
            "metadata": {"name": self._name, "labels": {"team": self._name}, **metadata},
            "spec": spec,
        }
        self._do(lambda door: door.create(self._kind, "default", body))

    def edit(self, *operations: Object) -> None:
        """Change the workload by JSON patch operations."""
        self._do(lambda door: door.patch(self._address(), list(operations), PatchType.JSON))

    def read(self) -> Object:
        """The workload."""
        return self._do(lambda door: door.read(self._address()))

    def create_pod(self) -> None:
        """A pod without an owner."""
        container = {"name": "app", "image": "app"}
        body = {"metadata": {"name": self._name}, "spec": {"containers": [container]}}
        self._do(lambda door: door.create(POD, "default", body))

    def create_config_map(self, name: str) -> None:
        """An empty ConfigMap."""
        body = {"metadata": {"name": name}}
        self._do(lambda door: door.create(CONFIG_MAP, "default", body))

    def wait_for_condition(self, name: str) -> Object:
        """The condition of that type, as soon as it is true."""

        def find(obj: Object) -> Object | None:
            found = find_condition(obj, name)
            return found if found is not None and found["status"] == "True" else None

        found = find(self.wait_for(lambda obj: find(obj) is not None))
        assert found is not None
        return found

    def wait_for(self, holds: Callable[[Object], bool]) -> Object:
        """The workload, as soon as something holds of it."""

        async def wait(door: HttpCluster) -> Object:
            fields = f"metadata.name={self._name}"
            selection = Selection(self._kind, "default", fields=fields)
            async with (
                asyncio.timeout(30),
                aclosing(door.watch(selection, "", initial=True)) as all_,
            ):
                async for change in all_:
                    if change.type != "BOOKMARK" and holds(obj := orjson.loads(change.raw)):
                        return obj
            raise AssertionError("the watch ended")

        return self._do(wait)

    def list_pods(self, labels: str) -> list[str]:
        """The names of the pods that have these labels."""
        selection = Selection(POD, "default", labels=labels)
        items = self._do(lambda door: door.list(selection)).items
        return sorted(name_of(orjson.loads(raw)) for raw in items)

    def list_events(self) -> list[Object]:
        """The events about the workload itself."""
        uid = self.read()["metadata"]["uid"]
        selection = Selection(EVENT, "default", fields=f"involvedObject.uid={uid}")
        return [orjson.loads(raw) for raw in self._do(lambda door: door.list(selection)).items]

    def write_status(self, status: Object) -> None:
        """Say something about the workload, as an operator would."""
        self._do(lambda door: door.patch(self._address("status"), {"status": status}))

    def write_lease(self, renewed: str) -> None:
        """The lease of an operator that renewed it then."""
        spec = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": renewed}
        lease = {"metadata": {"name": LEASE_NAME, "namespace": NAMESPACE}, "spec": spec}

        async def write(door: HttpCluster) -> None:
            await door.create(NAMESPACES, "", {"metadata": {"name": NAMESPACE}})
            await door.create(LEASE, NAMESPACE, lease)

        self._do(write)

    def install(self) -> None:
        """Bring the definitions to a cluster without an operator."""
        self._do(lambda door: install_definitions(door, APIS, InstallOptions()))

    def _do(self, work: Callable[[HttpCluster], Awaitable[T]]) -> T:
        async def run() -> T:
            async with connect(self._kubeconfig) as door:
                return await work(door)

        return asyncio.run(run())

    def _address(self, subresource: str = "") -> Address:
        return Address(self._kind, "default", self._name, subresource)


def create_all(kubeconfig: Path, text: str) -> None:
    """Make all objects of a text of YAML, as ``kohort new`` writes it."""
    known = {(kind.api_version, kind.name): kind for kind in (*_SHARED, *(a.kind for a in APIS))}

    async def create() -> None:
        async with connect(kubeconfig) as door:
            for obj in yaml.safe_load_all(text):
                kind = known[obj["apiVersion"], obj["kind"]]
                await door.create(kind, "default" if kind.namespaced else "", obj)

    asyncio.run(create())


def set_image(image: str) -> Object:
    """Another image for the engine."""
    return {"op": "replace", "path": f"{TEMPLATE}/spec/containers/0/image", "value": image}


def break_pulls() -> Object:
    """Images that cannot be pulled."""
    value = {"annotations": {PULL_ERROR: "manifest unknown"}}
    return {"op": "add", "path": f"{TEMPLATE}/metadata", "value": value}
