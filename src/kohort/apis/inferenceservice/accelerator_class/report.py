"""Status and events of an AcceleratorClass: the nodes that have the accelerator."""

from kohort.apis.api import ExecutionSummary, Reading, Snapshot, StatusVerdict
from kohort.apis.inferenceservice.accelerator_class.read import Memory
from kohort.apis.inferenceservice.fields import find_number, read_object
from kohort.cluster.objects import Object
from kohort.model.plans import Plan
from kohort.model.reasons import Notice


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
