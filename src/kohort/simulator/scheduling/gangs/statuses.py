"""
Statuses: what each scheduler writes into a gang's object, and the messages for gangs that wait.

Volcano's rules: a group that has a running pod and could not be placed in this session
is Unknown; one with enough scheduled members is Running, or Completed when all have
ended; else it stays Inqueue or Pending. Its conditions keep what was true once, with the
session in which it was. Nothing is written when nothing but the session differs.
"""

from collections.abc import Iterable

from kohort.cluster.conditions import drop, find, move_to_end
from kohort.cluster.objects import Object
from kohort.placement.fits import Fit
from kohort.placement.sentences import describe_fit
from kohort.simulator.component import ComponentAction, EventRequest, MergeRequest
from kohort.simulator.scheduling.gangs.adapters import GROUPS
from kohort.simulator.scheduling.gangs.requests import (
    COSCHEDULING,
    DEFAULT_SCHEDULER,
    KOORDINATOR,
    KUBERNETES,
    SCHEDULERS,
    VOLCANO,
    GangKey,
    GangSpec,
)
from kohort.simulator.scheduling.gangs.roster import Gang

FITS_TOLD_MAX = 3


def describe_missing(key: GangKey, *, is_served: bool) -> str:
    """Why a pod waits whose gang does not exist."""
    groups = [group for (group, _), (dialect, _) in GROUPS.items() if dialect == key.dialect]
    if not is_served:
        return f"pod group {key.name} cannot exist: PodGroup of {groups[0]} is not served"
    return f'podgroup "{key.namespace}/{key.name}" not found'


def describe_absence(scheduler: str) -> str:
    """Why a pod waits whose scheduler this cluster does not simulate."""
    return f"no scheduler {scheduler} is here: the kinds of {SCHEDULERS[scheduler]} are not served"


def describe_failure(gang: Gang, spec: GangSpec, detail: str) -> str:
    """How far a gang is, and what it lacks."""
    waiting, total = len(gang.waiting), len(gang.waiting) + len(gang.placed) + len(gang.done)
    counts = [
        (waiting, "Pending"),
        (len(gang.placed) - len(gang.running), "Bound"),
        (len(gang.running), "Running"),
        (gang.succeeded(), "Succeeded"),
    ]
    shown = "".join(f", {count} {state}" for count, state in counts if count)
    return (
        f"{waiting}/{total} tasks in gang unschedulable: pod group is not ready{shown}, "
        f"{spec.minimum} minAvailable; {detail}"
    )


def describe_fits(fits: Iterable[Fit]) -> str:
    """What the best domain of each tier lacks, nearest tier first."""
    told = [describe_fit(fit, names=False) for fit in fits]
    return "; ".join(told[-FITS_TOLD_MAX:]) or "no domain has a tier as near as asked for"


UNSCHEDULABLE, SCHEDULED = "Unschedulable", "Scheduled"
READY_REASON = "tasks in gang are ready to be scheduled"
ALLOCATED = "volcano.sh/job-allocated-hypernode"


def write_status(
    gang: Gang, spec: GangSpec, domain: str, session: str, stamp: str
) -> list[ComponentAction]:
    """The status to write for a gang; None if it is unchanged."""
    if spec.kind is None:
        return []
    if spec.key.dialect == VOLCANO:
        return _write_volcano(gang, spec, domain, session, stamp)
    if spec.key.dialect in (COSCHEDULING, KOORDINATOR):
        part = "status" if spec.key.dialect == COSCHEDULING else ""
        return _write_phase(gang, spec, part, stamp)
    if spec.key.dialect == KUBERNETES:
        return _write_native(gang, spec, stamp)
    return _write_events(gang, spec)


def _write_volcano(
    gang: Gang, spec: GangSpec, domain: str, session: str, stamp: str
) -> list[ComponentAction]:
    status: Object = {"phase": find_phase(gang, spec), **_count_members(gang, spec)}
    told: list[ComponentAction] = []
    condition = _find_condition(gang, spec)
    if condition is not None:
        before = find(_conditions(spec), condition["type"]) or {}
        if any(before.get(name, "") != value for name, value in condition.items()):
            stamped = {**condition, "transitionID": session, "lastTransitionTime": stamp}
            kept = drop(_conditions(spec), condition["type"])
            status["conditions"] = [*kept, stamped]
            told.append(_emit(spec, condition))
    patch: Object = {}
    if any(spec.status.get(name) != value for name, value in status.items()):
        patch["status"] = status
    if domain and spec.annotations.get(ALLOCATED) != domain:
        patch["metadata"] = {"annotations": {ALLOCATED: domain}}
    return [*_merge(spec, patch, ""), *told]


def find_phase(gang: Gang, spec: GangSpec) -> str:
    """The phase of a Volcano group."""
    if gang.running and gang.reason:
        return "Unknown"
    ended = len(gang.done)
    if len(gang.placed) + ended >= spec.minimum and (gang.placed or ended):
        return "Running" if gang.placed else "Completed"
    return "Inqueue" if gang.admitted else "Pending"


def _find_condition(gang: Gang, spec: GangSpec) -> Object | None:
    if gang.reason:
        return {
            "type": UNSCHEDULABLE,
            "status": "True",
            "reason": gang.reason,
            "message": gang.message,
        }
    if gang.placed and gang.count() >= spec.minimum:
        return {"type": SCHEDULED, "status": "True", "reason": READY_REASON}
    return None


def _emit(spec: GangSpec, condition: Object) -> EventRequest:
    if condition["type"] == UNSCHEDULABLE:
        return EventRequest(
            spec.about(), "Warning", UNSCHEDULABLE, condition["message"], _source(spec)
        )
    return EventRequest(spec.about(), "Normal", SCHEDULED, "pod group is ready", _source(spec))


def _count_members(gang: Gang, spec: GangSpec) -> Object:
    """Counts of pods; zero is omitted, unless the stored status has a count to overwrite."""
    succeeded = gang.succeeded()
    counts = {
        "running": len(gang.running),
        "succeeded": succeeded,
        "failed": len(gang.done) - succeeded,
    }
    return {name: count for name, count in counts.items() if count or spec.status.get(name)}


def _write_phase(gang: Gang, spec: GangSpec, part: str, stamp: str) -> list[ComponentAction]:
    status: Object = {"phase": _find_simple_phase(gang, spec), **_count_members(gang, spec)}
    if status["phase"] != "Pending" and not spec.status.get("scheduleStartTime"):
        status["scheduleStartTime"] = stamp
    patch: Object = {}
    if any(spec.status.get(name) != value for name, value in status.items()):
        patch = {"status": status}
    return [*_merge(spec, patch, part), *_write_events(gang, spec)]


def _find_simple_phase(gang: Gang, spec: GangSpec) -> str:
    ended, succeeded = len(gang.done), gang.succeeded()
    if ended and not gang.placed and not gang.waiting:
        return "Finished" if succeeded == ended else "Failed"
    if len(gang.running) + succeeded >= spec.minimum:
        return "Running"
    present = len(gang.waiting) + len(gang.placed) + ended
    return "Scheduling" if present >= spec.minimum else "Pending"


def _write_native(gang: Gang, spec: GangSpec, stamp: str) -> list[ComponentAction]:
    assert spec.kind is not None
    is_sticky = spec.kind.version != "v1alpha2"
    name = "PodGroupInitiallyScheduled" if is_sticky else "PodGroupScheduled"
    before = find(_conditions(spec), name) or {}
    if gang.placed and gang.count() >= spec.minimum:
        condition = {"type": name, "status": "True", "reason": SCHEDULED, "message": ""}
    elif gang.reason and not (is_sticky and before.get("status") == "True"):
        message = gang.message
        condition = {"type": name, "status": "False", "reason": UNSCHEDULABLE, "message": message}
    else:
        return []
    if all(before.get(field, "") == value for field, value in condition.items()):
        return []
    patch = {"status": {"conditions": move_to_end(_conditions(spec), condition, stamp)}}
    return [*_merge(spec, patch, "status"), *_write_events(gang, spec)]


def _write_events(gang: Gang, spec: GangSpec) -> list[ComponentAction]:
    if not gang.reason or gang.message == gang.told:
        return []
    gang.told = gang.message
    return [EventRequest(spec.about(), "Warning", UNSCHEDULABLE, gang.message, _source(spec))]


def _merge(spec: GangSpec, patch: Object, part: str) -> list[ComponentAction]:
    assert spec.kind is not None
    key = spec.key
    return (
        [MergeRequest(spec.kind, key.namespace, key.name, patch, part, spec.uid)] if patch else []
    )


def _conditions(spec: GangSpec) -> list[Object]:
    return spec.status.get("conditions") or []


def _source(spec: GangSpec) -> str:
    """The scheduler that answers for a dialect."""
    known = {dialect: scheduler for scheduler, dialect in SCHEDULERS.items()}
    return known.get(spec.key.dialect, DEFAULT_SCHEDULER)
