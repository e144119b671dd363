"""Raw nodes, pods and HyperNodes of a small cluster, for views of its network."""

from collections.abc import Iterable, Mapping
from typing import Any

from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Object

RACKS = {"gpu-00": 0, "gpu-01": 0, "gpu-02": 1, "gpu-03": 1}


def make_nodes(racks: Mapping[str, int] = RACKS, spines: int = 1) -> list[Object]:
    """Nodes with eight GPUs each; racks are dealt to spines in turn."""
    return [
        {
            "metadata": {
                "name": name,
                "labels": {HOST: name, RACK: f"rack-{rack}", SPINE: f"spine-{rack % spines}"},
            },
            "spec": {},
            "status": {
                "allocatable": {"nvidia.com/gpu": "8", "cpu": "192", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        for name, rack in racks.items()
    ]


def make_hypernode(name: str, tier: int, tier_name: str, *members: str) -> Object:
    """A HyperNode of nodes if it is tier 0, else of narrower ones."""
    kind = "HyperNode" if tier else "Node"
    named = [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members]
    return {
        "metadata": {"name": name},
        "spec": {"tier": tier, "tierName": tier_name, "members": named},
    }


def make_hypernodes() -> list[Object]:
    """Each node tier 0, two racks, and one spine over both."""
    return [
        *(make_hypernode(name, 0, "host", name) for name in RACKS),
        make_hypernode("rack-0", 1, "rack", "gpu-00", "gpu-01"),
        make_hypernode("rack-1", 1, "rack", "gpu-02", "gpu-03"),
        make_hypernode("spine-0", 2, "spine", "rack-0", "rack-1"),
    ]


def make_pod(name: str, node: str = "", gpus: int = 8, namespace: str = "default") -> Object:
    """A pod on a node, or one that waits."""
    requests = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": requests}}],
            **({"nodeName": node} if node else {}),
        },
        "status": {"phase": "Running" if node else "Pending"},
    }


def names_in(areas: Iterable[Any]) -> list[str]:
    """The names of some areas."""
    return [area.name for area in areas]
