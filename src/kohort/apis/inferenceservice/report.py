"""Status and events of a service: upstream's conditions, and two of our own."""

from collections.abc import Iterator

from kohort.apis.api import ExecutionSummary, InvalidWorkload, Reading, Snapshot
from kohort.apis.inferenceservice import kinds, labels, reasons
from kohort.apis.inferenceservice.fields import read_object, read_objects
from kohort.apis.inferenceservice.read import Memory
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.references import read_root
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.status import conditions, status
from kohort.cluster.actions import Delete, Patch
from kohort.cluster.conditions import stamp
from kohort.cluster.objects import Object, find_condition, metadata_of
from kohort.cluster.timestamps import write_moment
from kohort.model.plans import Plan
from kohort.model.reasons import Notice

UPDATE_HELD, SWITCHING = "UpdateHeld", "Switching"
_REFUSED, _NOT_DELETED = "FailedCreate", "FailedDelete"
_MORE = frozenset((UPDATE_HELD, SWITCHING))
_OWN = frozenset(
    (
        conditions.READY,
        conditions.INGRESS_READY,
        conditions.ROUTES_READY,
        conditions.LATEST_READY,
        *_MORE,
        "PredictorReady",
        *(conditions.ready_type(each) for each in ComponentType),
        *(conditions.route_type(each) for each in ComponentType),
        *(conditions.configuration_type(each) for each in ComponentType),
    )
)


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a service; other clients' conditions stay, after ours."""
    memory, root = reading.memory, snapshot.root
    if reading.workload.is_leaving:
        return read_object(root, "status")
    written = _write(memory, root, now)
    told = [*written["conditions"], *_list_more(memory, root, now)]
    return {**written, "conditions": [*told, *_list_others(root)]}


def _write(memory: Memory, root: Object, now: str) -> Object:
    """Upstream's part of the status; unchanged while a held workload is not in the plan."""
    if not memory.is_moved:
        return status.write_status(memory.plan, memory.existing, memory.pods, now)
    held = read_object(root, "status")
    kept = [c for c in read_objects(held, "conditions") if c.get("type") in _OWN - _MORE]
    return {**held, "observedGeneration": memory.plan.service.generation, "conditions": kept}


def _list_others(root: Object) -> Iterator[Object]:
    held = read_objects(read_object(root, "status"), "conditions")
    return (each for each in held if each.get("type") not in _OWN)


def _list_more(memory: Memory, root: Object, now: str) -> Iterator[Object]:
    if memory.held:
        names = ", ".join(sorted(f"{kind.name} {name}" for kind, name in memory.held))
        message = (
            f"{names} would be rendered otherwise now, since the runtime, the model, an "
            "accelerator, the configuration or the operator changed: edit the service, or say "
            f'{labels.AUTO_UPDATE}: "true" on it, to let its pods restart'
        )
        yield _write_more(UPDATE_HELD, "ReferencesChanged", message, root, now)
    if memory.handover.waits_on:
        yield _write_more(SWITCHING, "OldWorkloadStays", memory.handover.waits_on, root, now)


def _write_more(name: str, reason: str, message: str, root: Object, now: str) -> Object:
    said = {
        "type": name,
        "status": "True",
        "reason": reason,
        "message": message,
        "severity": "Info",
    }
    return stamp(said, find_condition(root, name), now)


def write_error(snapshot: Snapshot, error: InvalidWorkload, now: str) -> Object:
    """The status of a service that cannot be planned."""
    held = read_object(snapshot.root, "status")
    if not isinstance(error, ServiceError):
        return held
    written = status.write_error_status(read_root(snapshot.root), error, now)
    mine = [each for each in written["conditions"] if each.get("type") in _OWN - _MORE]
    return {**written, "conditions": [*mine, *_list_others(snapshot.root)]}


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """Events for changed readiness, refused writes, and Ray clusters that are made anew."""
    return (
        *_list_changes(snapshot.root, reading.memory, summary, plan.now),
        *_list_refused(summary),
        *_list_renewed(reading.memory, summary),
        *plan.notices,
    )


def _list_changes(
    root: Object, memory: Memory, summary: ExecutionSummary, now: float
) -> Iterator[Notice]:
    if not summary.is_reported:
        return
    written = {"status": _write(memory, root, write_moment(now))}
    was, ready = find_condition(root, conditions.READY), find_condition(written, conditions.READY)
    before, after = (was or {}).get("status"), (ready or {}).get("status")
    if after == "True" and before != after:
        text = f"InferenceService {memory.plan.service.name} is ready"
        yield Notice("Normal", reasons.READY, text, "Update")
    if before == "True" and after != before and memory.handover.waits_on:
        yield Notice("Normal", SWITCHING, f"its form changes: {memory.handover.waits_on}", "Update")
    elif before == "True" and after != before:
        text = f"it is not ready any more: {(ready or {}).get('message', '')}"
        yield Notice("Warning", reasons.NOT_READY, text, "Update")
    seen = read_object(root, "status").get("observedGeneration")
    if seen != metadata_of(root).get("generation"):
        for warning in memory.plan.warnings:
            yield Notice("Warning", reasons.WORKLOAD, warning[:1_000], "Update")
    if memory.held and find_condition(root, UPDATE_HELD) is None:
        text = "a runtime, a model or an accelerator changed: the pods do not restart for it"
        yield Notice("Normal", UPDATE_HELD, text, "Update")


def _list_renewed(memory: Memory, summary: ExecutionSummary) -> Iterator[Notice]:
    ends = [action for action in summary.done if isinstance(action, Delete)]
    for action in ends:
        is_cluster = action.kind == kinds.RAY_CLUSTER
        if is_cluster and memory.plan.find(action.kind, action.name) is not None:
            yield Notice("Warning", reasons.RENEWED, f"{action.why}: it is made anew", "Delete")


def _list_refused(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        if isinstance(action, Patch):
            name = f"{action.address.kind.name} {action.address.name}"
            text = f"{name} could not be written: {message}"
            yield Notice("Warning", _REFUSED, text[:1_000], "Create")
        if isinstance(action, Delete):
            text = f"{action.kind.name} {action.name} could not be deleted: {message}"
            yield Notice("Warning", _NOT_DELETED, text[:1_000], "Delete")
