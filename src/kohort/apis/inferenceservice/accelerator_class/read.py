"""
From an AcceleratorClass and the nodes that its labels select to its status.

The operator indexes a class by one label of its node selector, and reconciles it when a node with
that label comes, changes or goes; the class cannot select a node without that label.
"""

from dataclasses import dataclass

import msgspec

from kohort.apis.api import Key, Reading, Snapshot
from kohort.apis.facts import Meta
from kohort.apis.groupless import make_groupless
from kohort.apis.inferenceservice.nodes import write_accelerator_status
from kohort.apis.inferenceservice.runtimes import read_accelerator
from kohort.cluster.kinds import NODE
from kohort.cluster.objects import Object
from kohort.model.observed import Observed


class NodeCapacity(msgspec.Struct):
    """The capacity in a node's status."""

    capacity: dict[str, str] | None = None


class CapableNode(msgspec.Struct):
    """The fields of a node by which the operator finds accelerators."""

    metadata: Meta
    status: NodeCapacity = msgspec.field(default_factory=NodeCapacity)


read_capable_node = msgspec.json.Decoder(CapableNode).decode


@dataclass(frozen=True, slots=True)
class Memory:
    """The status of a class, which the planner does not see."""

    status: Object


def find_pair(accelerator: Object) -> tuple[Key, ...]:
    """One label of a class's node selector, as index key; none if the selector is empty."""
    return tuple(sorted(read_accelerator(accelerator).node_selector.items())[:1])


def list_pairs(node: CapableNode) -> tuple[Key, ...]:
    """All labels of a node, as index keys."""
    return tuple(node.metadata.labels.items())


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot of a class as a workload without groups, and its status."""
    nodes = map(_as_object, snapshot.references.get(NODE, ()))
    status = write_accelerator_status(read_accelerator(snapshot.root), nodes)
    return Reading(make_groupless(snapshot.root), Observed(), Memory(status))


def _as_object(node: CapableNode) -> Object:
    metadata = {"name": node.metadata.name, "labels": node.metadata.labels}
    return {"metadata": metadata, "status": {"capacity": node.status.capacity or {}}}
