"""Status and events of a RoleBasedGroupSet, in upstream's words."""

from collections.abc import Iterator

from kohort.apis.api import ExecutionSummary, Reading, Snapshot
from kohort.apis.rolebasedgroup.group_set.read import Memory, count_replicas
from kohort.apis.rolebasedgroup.roles import as_map, as_objects
from kohort.cluster.actions import Create, Delete
from kohort.cluster.conditions import drop, find, stamp
from kohort.cluster.objects import Object, name_of
from kohort.model.plans import Plan
from kohort.model.reasons import Notice

READY = "Ready"


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a set: how many groups exist, and how many are ready."""
    root, held = snapshot.root, as_map(snapshot.root.get("status"))
    live = [c for c in reading.memory.children.values() if not c.metadata.is_leaving]
    ready, wanted = sum(child.is_ready for child in live), count_replicas(root)
    generation = root["metadata"].get("generation", 0)
    is_ready = ready == len(live) == wanted
    said: Object = {
        "type": READY,
        "status": "True" if is_ready else "False",
        "reason": "AllReplicasReady" if is_ready else "ReplicasNotReady",
        "message": "All replicas are ready"
        if is_ready
        else f"Not all replicas are ready ({ready}/{wanted})",
        "observedGeneration": generation,
    }
    conditions = as_objects(held.get("conditions"))
    return {
        **held,
        "observedGeneration": generation,
        "replicas": len(live),
        "readyReplicas": ready,
        "conditions": [stamp(said, find(conditions, READY), now), *drop(conditions, READY)],
    }


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """Events about groups that the operator created or deleted, or the API server refused."""
    return (*_list_done(summary), *_list_refused(summary), *plan.notices)


def _list_done(summary: ExecutionSummary) -> Iterator[Notice]:
    for action in summary.done:
        if isinstance(action, Create):
            text = f"Created RoleBasedGroup {name_of(action.obj)}"
            yield Notice("Normal", "SuccessfulCreate", text, "Create")
        elif isinstance(action, Delete):
            text = f"Deleted RoleBasedGroup {action.name}"
            yield Notice("Normal", "SuccessfulDelete", text, "Delete")


def _list_refused(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        if isinstance(action, Create):
            text = f"RoleBasedGroup {name_of(action.obj)} could not be created: {message}"
            yield Notice("Warning", "FailedCreate", text[:1_000], "Create")
