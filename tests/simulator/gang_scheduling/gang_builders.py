"""Nodes, HyperNodes, groups and pods for tests: what matters by keyword, the rest hidden."""

from collections.abc import Iterable
from typing import Any

Raw = dict[str, Any]
GPU = "nvidia.com/gpu"
GROUP = "scheduling.k8s.io/group-name"


def node(name: str, gpus: int = 4, labels: Raw | None = None, **more: Any) -> Raw:
    """A node with GPUs and plenty of everything else; spec fields by keyword."""
    room = {"cpu": "64", "memory": "256Gi", "pods": "110", GPU: str(gpus), **more.pop("room", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": more,
        "status": {"allocatable": room, "capacity": room},
    }


def hypernode(name: str, tier: int, *members: Raw, tier_name: str = "") -> Raw:
    """A HyperNode with the members that ``named``, ``matching`` and the like make."""
    spec: Raw = {"tier": tier, "members": list(members)}
    if tier_name:
        spec["tierName"] = tier_name
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": spec,
    }


def named(name: str, kind: str = "Node") -> Raw:
    return {"type": kind, "selector": {"exactMatch": {"name": name}}}


def matching(pattern: str) -> Raw:
    return {"type": "Node", "selector": {"regexMatch": {"pattern": pattern}}}


def labelled(**labels: str) -> Raw:
    return {"type": "Node", "selector": {"labelMatch": {"matchLabels": labels}}}


def racks(*racks: Iterable[str]) -> list[Raw]:
    """Racks of tier 1, named rack-0 and so on, and one spine of tier 2 over all of them."""
    made = [
        hypernode(f"rack-{at}", 1, *(named(name) for name in names), tier_name="rack")
        for at, names in enumerate(racks)
    ]
    spine = [named(item["metadata"]["name"], "HyperNode") for item in made]
    return [*made, hypernode("spine", 2, *spine, tier_name="spine")]


def pod(name: str, gpus: int = 1, group: str = "", labels: Raw | None = None, **spec: Any) -> Raw:
    """A pod of a Volcano group that asks for GPUs; spec fields by keyword."""
    requests = {GPU: str(gpus)} if gpus else {}
    container = {
        "name": "main",
        "image": "server:1",
        "resources": {"requests": requests, "limits": requests},
    }
    annotations = {GROUP: group} if group else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": labels or {},
            "annotations": annotations,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"schedulerName": "volcano", "containers": [container], **spec},
        "status": {"phase": "Pending"},
    }


def bound(item: Raw, to: str) -> Raw:
    """The pod as it stands on a node."""
    return {**item, "spec": {**item["spec"], "nodeName": to}, "status": {"phase": "Running"}}
