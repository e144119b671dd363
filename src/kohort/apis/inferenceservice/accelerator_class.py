"""
AcceleratorClass: which nodes have an accelerator.

The operator indexes a class by one label of its node selector, and reconciles it when a node with
that label comes, changes or goes; the class cannot select a node without that label.

Upstream puts a finalizer on each class, for no cleanup. We write none, so that users can delete a
class while no operator runs, and remove the one that upstream wrote.
"""

from dataclasses import dataclass

import msgspec

from kohort.apis.api import Api, ExecutionSummary, Key, Reading, Snapshot, StatusVerdict
from kohort.apis.facts import Meta
from kohort.apis.groupless import make_groupless
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.base_model import render_release
from kohort.apis.inferenceservice.definition import define_accelerator_class
from kohort.apis.inferenceservice.fields import find_number, read_object
from kohort.apis.inferenceservice.home import HOME
from kohort.apis.inferenceservice.nodes import write_accelerator_status
from kohort.apis.inferenceservice.runtimes import read_accelerator
from kohort.apis.references import Reference
from kohort.cluster.actions import Action
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Object
from kohort.cluster.permissions import Grant
from kohort.model.observed import Observed
from kohort.model.plans import Plan
from kohort.model.reasons import Notice


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


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """Remove upstream's finalizer from a class that is being deleted."""
    if not reading.workload.is_leaving:
        return ()
    return tuple(render_release(kinds.ACCELERATOR_CLASS, snapshot.root))


def start_status(root: Object) -> Object:
    """The fields that every status has from its first write on."""
    return {"availableNodes": 0}


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a class with its nodes; fields that other clients wrote stay."""
    status = {**read_object(snapshot.root, "status"), **reading.memory.status}
    return status if status["nodes"] else {**status, "nodes": None}


def read_verdict(root: Object) -> StatusVerdict:
    """A class is ready even without nodes, since an autoscaler may add nodes on demand."""
    count = find_number(read_object(root, "status"), "availableNodes") or 0
    if not count:
        return StatusVerdict("ready", "NoNodes", "no node has this accelerator")
    return StatusVerdict("ready", "NodesFound", f"{count} nodes have this accelerator")


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """An event when the first node with the accelerator comes, or the last one goes."""
    if not summary.is_reported:
        return ()
    before = find_number(read_object(snapshot.root, "status"), "availableNodes")
    now = reading.memory.status["availableNodes"]
    if now and not before:
        return (Notice("Normal", "NodesFound", f"{now} nodes have this accelerator", "Update"),)
    if before and not now:
        told = "no node has this accelerator any more"
        return (Notice("Warning", "NoNodes", told, "Update"),)
    return ()


ACCELERATOR_CLASS = Api(
    kind=kinds.ACCELERATOR_CLASS,
    short_name=kinds.ACCELERATOR_CLASS.name.lower(),
    watched=(),
    members=POD,
    read=read,
    render=render,
    write_status=write_status,
    start_status=start_status,
    list_events=list_events,
    read_verdict=read_verdict,
    references=(Reference(NODE, find_pair, read_capable_node, names_of=list_pairs),),
    home=HOME,
    definitions=(define_accelerator_class,),
    writes=(
        Grant(kinds.ACCELERATOR_CLASS, ("patch",)),
        Grant(kinds.ACCELERATOR_CLASS, ("update",), "finalizers"),
    ),
)
