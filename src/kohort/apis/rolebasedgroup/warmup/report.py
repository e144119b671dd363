"""Status and events of a RoleBasedGroupWarmup; counts are nodes, and its end is one event."""

from collections.abc import Iterator

from kohort.apis.api import ExecutionSummary, Reading, Snapshot, StatusVerdict
from kohort.apis.rolebasedgroup.roles import as_int, as_map, as_objects
from kohort.apis.rolebasedgroup.warmup.decisions import ENDED, Decision, WarmupPhase, decide
from kohort.apis.rolebasedgroup.warmup.read import Memory
from kohort.cluster.actions import Create
from kohort.cluster.conditions import put
from kohort.cluster.objects import Object, find_condition, name_of
from kohort.cluster.timestamps import write_moment
from kohort.model.plans import Plan
from kohort.model.reasons import Notice, count

COMPLETE, FAILED, VOLUME_CONFLICT = "Complete", "Failed", "VolumeConflict"
WAITING_FOR_NODES = "WaitingForNodes"
_NOTHING = {"desired": 0, "active": 0, "succeeded": 0, "failed": 0}


def start_status(root: Object) -> Object:
    """The fields that every status has from its first write on."""
    return {**_NOTHING, "phase": ""}


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a warm-up; one that has ended keeps its result."""
    root, memory = snapshot.root, reading.memory
    held = as_map(root.get("status"))
    if memory.state.phase in ENDED:
        return held
    decision = decide(memory.state, plan.now)
    counts, is_over = decision.counts, decision.phase in ENDED
    status: Object = {
        **held,
        "phase": decision.phase.value,
        "desired": counts.desired,
        "active": 0 if is_over else counts.active + len(decision.begin),
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "conditions": _merge(root, list(_list_conditions(memory, decision)), now),
    }
    if memory.state.started_at is not None:
        status["startTime"] = held.get("startTime") or write_moment(memory.state.started_at)
    elif decision.begin or is_over:
        status["startTime"] = now
    if is_over:
        status["completionTime"] = now
    return status


def _list_conditions(memory: Memory, decision: Decision) -> Iterator[Object]:
    if decision.phase in ENDED:
        kind = COMPLETE if decision.phase is WarmupPhase.COMPLETED else FAILED
        message = decision.message
        if memory.targets.missing:
            message += f"; no such nodes: {', '.join(memory.targets.missing[:10])}"
        yield {"type": kind, "status": "True", "reason": decision.reason, "message": message}
    if memory.targets.conflicts:
        yield {
            "type": VOLUME_CONFLICT,
            "status": "True",
            "reason": "ConflictingVolumeDefinitions",
            "message": "; ".join(memory.targets.conflicts[:10]) + "; the first one counts",
        }


def _merge(root: Object, conditions: list[Object], now: str) -> list[Object]:
    """Replace these conditions in the stored list."""
    merged = as_objects(as_map(root.get("status")).get("conditions"))
    generation = root["metadata"].get("generation", 0)
    for said in conditions:
        merged = put(merged, {**said, "observedGeneration": generation}, now)
    return merged


def read_verdict(root: Object) -> StatusVerdict | None:
    """How a warm-up is, by its phase; None before its first node or result."""
    status = as_map(root.get("status"))
    phase = status.get("phase")
    for kind, word in ((COMPLETE, "ready"), (FAILED, "broken")):
        found = find_condition(root, kind) or {}
        if phase in ENDED and found.get("status") == "True":
            return StatusVerdict(word, str(found.get("reason")), str(found.get("message")))
    if phase == WarmupPhase.PAUSED:
        return StatusVerdict("paused", "Paused", f"a user has paused it: {_say_counts(status)}")
    if phase == WarmupPhase.RUNNING:
        return StatusVerdict("starting", WAITING_FOR_NODES, _say_counts(status))
    return None


def _say_counts(status: Object) -> str:
    number = {key: as_int(status.get(key), 0) for key in _NOTHING}
    active, failed = number["active"], number["failed"]
    said = [f"{number['succeeded']} of {count(number['desired'], 'node', 'nodes')} are warm"]
    said += [count(active, "is", "are") + " being warmed"] if active else []
    said += [count(failed, "has", "have") + " failed"] if failed else []
    return ", ".join(said)


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """Events for the end of a warm-up, and for pods that the API server refused."""
    return (*_list_ends(reading.memory, plan, summary), *_list_refused(summary))


def _list_ends(memory: Memory, plan: Plan, summary: ExecutionSummary) -> Iterator[Notice]:
    decision = decide(memory.state, plan.now)
    if not summary.is_reported or not decision.reason:
        return
    kind = "Normal" if decision.phase is WarmupPhase.COMPLETED else "Warning"
    yield Notice(kind, decision.reason, decision.message, "Update")


def _list_refused(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        if isinstance(action, Create):
            text = f"pod {name_of(action.obj)} could not be created: {message}"
            yield Notice("Warning", "FailedCreate", text[:1_000], "Create")
