"""This is where fake nodes are described: four zones, racks of four, with room for everything."""

from typing import Any

RACK = "topology.kohort.dev/rack"
CAPACITY = {
    "cpu": "1000",
    "memory": "10Ti",
    "pods": "1000",
    "ephemeral-storage": "10Ti",
    "nvidia.com/gpu": "8000",
    "google.com/tpu": "8000",
}


def write_node(index: int) -> dict[str, Any]:
    """One node that kwok looks after."""
    labels = {
        "kubernetes.io/hostname": f"node-{index}",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/region": "region-0",
        "topology.kubernetes.io/zone": f"zone-{index % 4}",
        RACK: f"rack-{index // 4}",
        "cloud.google.com/gke-nodepool": f"pool-{index}",
    }
    metadata = {
        "name": f"node-{index}",
        "labels": labels,
        "annotations": {"kwok.x-k8s.io/node": "fake"},
    }
    status = {"capacity": CAPACITY, "allocatable": CAPACITY}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
