"""Status and events of an AcceleratorClass: the nodes that have it."""

from kohort.apis.api import ExecutionSummary, Reading, Snapshot, StatusVerdict
from kohort.apis.inferenceservice.accelerator_class.read import Memory
from kohort.apis.inferenceservice.fields import find_number, read_object
from kohort.cluster.objects import Object
from kohort.model.plans import Plan
from kohort.model.reasons import Notice


def start_status(root: Object) -> Object:
    """What a status has from its first write on."""
    return {"availableNodes": 0}


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """Where an accelerator is; what others wrote into the status stays."""
    status = {**read_object(snapshot.root, "status"), **reading.memory.status}
    return status if status["nodes"] else {**status, "nodes": None}


def read_verdict(root: Object) -> StatusVerdict:
    """A class without nodes is no fault: nodes may come when they are needed."""
    count = find_number(read_object(root, "status"), "availableNodes") or 0
    if not count:
        return StatusVerdict("ready", "NoNodes", "no node has this accelerator")
    return StatusVerdict("ready", "NodesFound", f"{count} nodes have this accelerator")


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """The last node with an accelerator has gone, or the first has come."""
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
