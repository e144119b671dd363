"""A user of ModelServing with kubectl, and what samples ask of nodes and of storage."""

import json
from typing import Any

import yaml

from conftest import Site

# What samples name besides; nodes of the plane have room for everything else.
DEVICES = {"huawei.com/ascend-1980": "64"}
MARKS = {
    "cloud.google.com/gke-tpu-topology": "4x4",
    "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
}


class Hand:
    """A user with kubectl, in a namespace that goes with the test."""

    def __init__(self, site: Site, namespace: str) -> None:
        self._kubectl = site.plane.kubectl
        self.namespace = namespace
        self._kubectl("create", "namespace", namespace)

    def __call__(self, *words: str, feed: str = "") -> str:
        return str(self._kubectl("-n", self.namespace, *words, feed=feed))

    def apply(self, *objects: dict[str, Any]) -> None:
        self("apply", "--server-side", "-f", "-", feed=yaml.safe_dump_all(objects))

    def read(self, kind: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("get", kind, name, "-o", "json"))
        return found

    def pods(self) -> dict[str, dict[str, Any]]:
        found = json.loads(self("get", "pods", "-o", "json"))["items"]
        return {pod["metadata"]["name"]: pod for pod in found}

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.pods().items()}

    def images(self) -> set[str]:
        return {pod["spec"]["containers"][0]["image"] for pod in self.pods().values()}

    def is_done(self, name: str, group: str = "workload.serving.volcano.sh") -> bool:
        obj = self.read(f"modelservings.{group}", name)
        status, wanted = obj.get("status") or {}, obj["spec"]["replicas"]
        counts = [status.get(key) for key in ("replicas", "availableReplicas", "updatedReplicas")]
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        return is_seen and counts == [wanted] * 3

    def close(self) -> None:
        self._kubectl("delete", "namespace", self.namespace, "--wait=false")


def equip(site: Site) -> None:
    """Give some nodes, each in a pool of its own, the devices and labels that samples name."""
    kubectl = site.plane.kubectl
    names = kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}").split()[:8]
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in names]
    status = {"status": {"capacity": DEVICES, "allocatable": DEVICES}}
    feed = yaml.safe_dump_all([{**node, **status} for node in nodes])
    words = ("--server-side", "--subresource=status", "--field-manager=devices")
    kubectl("apply", *words, "-f", "-", feed=feed)
    marked = [{**n, "metadata": {**n["metadata"], "labels": MARKS}} for n in nodes]
    kubectl("apply", *words[::2], "-f", "-", feed=yaml.safe_dump_all(marked))


def bring_volumes(hand: Hand, count: int) -> None:
    """Volumes of the class that a sample names, as an administrator provides them by hand."""
    provisioner = {"provisioner": "kubernetes.io/no-provisioner"}
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", **provisioner}
    volumes = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"{hand.namespace}-{number}"},
            "spec": {
                "storageClassName": "default",
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": f"/volumes/{number}"},
            },
        }
        for number in range(count)
    ]
    hand.apply({**storage, "metadata": {"name": "default"}}, *volumes)
