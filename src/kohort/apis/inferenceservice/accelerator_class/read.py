"""
From an AcceleratorClass and the nodes that its labels find to what is decided about it.

A class names nodes by one of the labels that it selects by, so it is looked at again when a node
with that label comes, changes or goes; nodes without it cannot be among those that it selects.
"""

from dataclasses import dataclass

import msgspec

from kohort.apis.api import Key, Reading, Snapshot
from kohort.apis.facts import Meta
from kohort.apis.inferenceservice.base_model.read import NODE, make_workload
from kohort.apis.inferenceservice.nodes import write_accelerator_status
from kohort.apis.inferenceservice.runtimes import read_accelerator
from kohort.cluster.objects import Object
from kohort.model.observed import Observed


class NodeCapacity(msgspec.Struct):
    """What a node has."""

    capacity: dict[str, str] | None = None


class CapableNode(msgspec.Struct):
    """A node, as far as accelerators are discovered by it."""

    metadata: Meta
    status: NodeCapacity = msgspec.field(default_factory=NodeCapacity)


read_capable_node = msgspec.json.Decoder(CapableNode).decode


@dataclass(frozen=True, slots=True)
class Memory:
    """What rendering needs and the model does not know."""

    status: Object


def find_pair(accelerator: Object) -> tuple[Key, ...]:
    """One of the labels that a class selects nodes by; it finds none without any."""
    return tuple(sorted(read_accelerator(accelerator).node_selector.items())[:1])


def list_pairs(node: CapableNode) -> tuple[Key, ...]:
    """The labels of a node."""
    return tuple(node.metadata.labels.items())


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot as rules see it."""
    nodes = map(_as_object, snapshot.references.get(NODE, ()))
    status = write_accelerator_status(read_accelerator(snapshot.root), nodes)
    return Reading(make_workload(snapshot.root), Observed(), Memory(status))


def _as_object(node: CapableNode) -> Object:
    metadata = {"name": node.metadata.name, "labels": node.metadata.labels}
    return {"metadata": metadata, "status": {"capacity": node.status.capacity or {}}}
