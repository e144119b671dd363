"""Status and events of a model: on which nodes it is ready, and where it failed."""

from collections.abc import Iterator

from kohort.apis.api import ExecutionSummary, Reading, Snapshot, StatusVerdict
from kohort.apis.inferenceservice.base_model.read import Memory
from kohort.apis.inferenceservice.fields import read_object, read_text, read_texts
from kohort.apis.inferenceservice.nodes import (
    IN_TRANSIT,
    READY,
    may_delete,
    write_model_status,
)
from kohort.cluster.objects import Object
from kohort.model.plans import Plan
from kohort.model.reasons import Notice

_NODES_MAX = 10
_STATUS_FIELDS = ("state", "nodesReady", "nodesFailed")


def start_status(root: Object) -> Object:
    """The fields that every status has from its first write on."""
    return {"state": IN_TRANSIT}


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a model; fields that other clients wrote stay."""
    held = read_object(snapshot.root, "status")
    kept = {name: value for name, value in held.items() if name not in _STATUS_FIELDS}
    return {**kept, **write_model_status(reading.memory.entries)}


def read_verdict(root: Object) -> StatusVerdict:
    """The state of a model, in the terms in which commands report workloads."""
    status = read_object(root, "status")
    ready, failed = read_texts(status, "nodesReady"), read_texts(status, "nodesFailed")
    lost = f", not on {_join(failed)}" if failed else ""
    if ready:
        return StatusVerdict("ready", "ModelReady", f"ready on {_join(ready)}{lost}")
    if failed:
        return StatusVerdict("broken", "ModelFailed", f"could not be brought to {_join(failed)}")
    told = "no node has it yet: the model agent brings it to the nodes that it chooses"
    return StatusVerdict("starting", "InTransit", told)


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """Events: a model became ready or failed, nodes still hold it, or a write was refused."""
    return (
        *_list_changes(snapshot, reading.memory, summary),
        *_list_holders(reading),
        *_list_refused(summary),
    )


def _list_changes(
    snapshot: Snapshot, memory: Memory, summary: ExecutionSummary
) -> Iterator[Notice]:
    if not summary.is_reported:
        return
    held, fresh = read_object(snapshot.root, "status"), write_model_status(memory.entries)
    state, before = fresh["state"], read_text(held, "state")
    if state == READY != before:
        yield Notice("Normal", "ModelReady", f"ready on {_name(fresh, 'nodesReady')}", "Update")
    # Nodes fail one after another, and the status lists them: only the first gets an event.
    if fresh.get("nodesFailed") and not held.get("nodesFailed"):
        nodes = _name(fresh, "nodesFailed")
        told = f"could not be brought to {nodes}: see the model agent's log there"
        yield Notice("Warning", "ModelFailed", told, "Update")


def _list_holders(reading: Reading[Memory]) -> Iterator[Notice]:
    entries = reading.memory.entries
    if reading.workload.is_leaving and not may_delete(entries):
        told = f"waits until the model agent has removed its files from {_join(sorted(entries))}"
        yield Notice("Normal", "DeletionWaits", told, "Delete")


def _list_refused(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        yield Notice("Warning", "FailedUpdate", f"{action.why}: {message}"[:1_000], "Update")


def _name(status: Object, field: str) -> str:
    return _join(read_texts(status, field))


def _join(nodes: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(nodes) - _NODES_MAX} more" if len(nodes) > _NODES_MAX else ""
    return f"{'nodes' if len(nodes) > 1 else 'node'} {', '.join(nodes[:_NODES_MAX])}{more}"
