"""
Reads raw nodes and pods: capacity, requests and node rules.

Pods that are done, or that only wait, take no room. A pod that is leaving still does.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kohort.cluster.objects import Object, labels_of, name_of
from kohort.placement.amounts import Amounts, read_amounts, sum_pod
from kohort.placement.nodes import PODS, NodeIndex, NodeState, Taint
from kohort.placement.rules import NodeRule, read_tolerations


@dataclass(frozen=True, slots=True, eq=False)
class PodAsk:
    """The requests and node rule that pods of one shape share."""

    request: Amounts
    rule: NodeRule


def read_node_state(node: Object) -> NodeState:
    """The fields of a node that placement needs."""
    spec: Object = node.get("spec") or {}
    status: Object = node.get("status") or {}
    taints = tuple(
        Taint(taint.get("key", ""), taint.get("value", ""), taint.get("effect", ""))
        for taint in spec.get("taints") or ()
    )
    room = read_amounts(status.get("allocatable") or status.get("capacity"))
    return NodeState(name_of(node), labels_of(node), taints, bool(spec.get("unschedulable")), room)


def read_request(pod: Object) -> Amounts:
    """The requests of a pod, including one of the node's ``pods``."""
    total = sum_pod(pod.get("spec") or {})
    return {**{name: amount for name, amount in total.items() if amount}, PODS: 1}


def read_rule(pod: Object) -> NodeRule:
    """The node rule of a pod: selector, affinity and tolerations."""
    spec: Object = pod.get("spec") or {}
    affinity: Object = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    tolerations = read_tolerations(spec.get("tolerations"))
    return NodeRule(spec.get("nodeSelector") or {}, affinity, tolerations)


def find_node(pod: Object) -> str:
    """The node whose room a pod uses; empty if it has none, or has ended."""
    phase = (pod.get("status") or {}).get("phase", "")
    if phase in ("Succeeded", "Failed"):
        return ""
    return str((pod.get("spec") or {}).get("nodeName") or "")


def read_index(nodes: Iterable[Object], pods: Iterable[Object]) -> NodeIndex:
    """The index of a cluster's nodes, minus the requests of its pods."""
    index = NodeIndex()
    for node in nodes:
        index.put(read_node_state(node))
    for pod in pods:
        slot = index.slots.get(find_node(pod))
        if slot is not None:
            index.take(slot, read_request(pod))
    return index
