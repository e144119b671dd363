"""
The events of a LeaderWorkerSet, in upstream's words.

Events are made after the actions, from those done and those refused: a plan without
actions has no events.
"""

from collections.abc import Iterator

from kohort.apis.api import ExecutionSummary, Reading, Snapshot
from kohort.apis.drift.reports import list_edit_events
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.pods_carrier.read import PodMemory
from kohort.apis.leaderworkerset.read import Memory
from kohort.apis.leaderworkerset.status import TEXTS, claims
from kohort.apis.leaderworkerset.topology_losses import DEGRADED, SEPARATOR
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Object, find_condition, name_of
from kohort.model.plans import Plan, Rollout
from kohort.model.reasons import Notice


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """The events of a plan, after its actions were done or refused."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_notices(snapshot, reading, plan, summary))


def _notices(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> Iterator[Notice]:
    lws = snapshot.root
    for action in summary.done:
        yield from _success(lws, reading, plan, action)
    for action, message in summary.failed:
        yield from _failure(name_of(lws), reading, action, message)
    yield from _pod_notices(summary)
    yield from _adoption_notices(reading, summary)
    yield from list_edit_events(snapshot, plan, summary)
    if summary.is_reported:
        yield from _condition_notices(lws, plan)
        yield from _placement_notices(lws, plan)


def _success(lws: Object, reading: Reading[Memory], plan: Plan, action: Action) -> Iterator[Notice]:
    memory: Memory = reading.memory
    name = name_of(lws)
    match action:
        case Create(kind=kind) if kind == CONTROLLER_REVISION:
            yield Notice("Normal", "CreatingRevision", _revision_text(memory), "Create")
        case Create(kind=kind, obj=obj) if kind == STATEFUL_SET:
            text = f"Created worker statefulset for leader pod {name_of(obj)}"
            yield Notice("Normal", "GroupsProgressing", text, "Create")
        case Patch(address=address) if (address.kind, address.name) == (STATEFUL_SET, name):
            if memory.leader_set is None:
                text = f"Created leader statefulset {name}"
                yield Notice("Normal", "GroupsProgressing", text, "Create")
            else:
                yield from _rollout_notices(name, reading, plan.step.rollout)
        case Patch() if _is_note(memory, action):
            yield from _rollout_notices(name, reading, plan.step.rollout)
        case Delete(kind=kind, name=leader) if kind == POD:
            yield from _restart_notices(leader, reading, plan)


def _failure(name: str, reading: Reading[Memory], action: Action, message: str) -> Iterator[Notice]:
    memory: Memory = reading.memory
    match action:
        case Create(kind=kind) if kind == SERVICE:
            text = f"Failed to create headless service for error: {message}"
            yield Notice("Warning", "FailedCreate", text, "Create")
        case Create(kind=kind, obj=obj) if kind == POD:
            text = f"Failed to create pod {name_of(obj)}: {message}"
            yield Notice("Warning", "FailedCreate", text, "Create")
        case Create(kind=kind, obj=obj) if kind == STATEFUL_SET:
            text = f"Failed to create worker statefulset for leader pod {name_of(obj)}: {message}"
            yield Notice("Warning", "FailedCreate", text, "Create")
        case Patch(address=address) if (address.kind, address.name) == (STATEFUL_SET, name):
            if memory.leader_set is None:
                text = f"Failed to create leader statefulset {name}: {message}"
                yield Notice("Warning", "FailedCreate", text, "Create")
            else:
                text = f"Failed to update leader statefulset {name}: {message}"
                yield Notice("Warning", "FailedUpdate", text, "Update")


def _is_note(memory: Memory, action: Patch) -> bool:
    """Whether a patch writes the progress of a rollout."""
    body = action.patch if isinstance(action.patch, dict) else {}
    notes = (body.get("metadata") or {}).get("annotations") or {}
    return isinstance(memory, PodMemory) and labels.PROGRESS in notes


def _pod_notices(summary: ExecutionSummary) -> Iterator[Notice]:
    """One event for all pods that a plan created: one for each would double the writes."""
    made = [name_of(a.obj) for a in summary.done if isinstance(a, Create) and a.kind == POD]
    if made:
        more = f" and {len(made) - 3} more" if len(made) > 3 else ""
        text = f"Created {'pod' if len(made) == 1 else 'pods'} {', '.join(made[:3])}{more}"
        yield Notice("Normal", "GroupsProgressing", text, "Create")


def _adoption_notices(reading: Reading[Memory], summary: ExecutionSummary) -> Iterator[Notice]:
    """One event for all objects without an owner that a plan has adopted."""
    found = [a.address for a in summary.done if isinstance(a, Patch) and _adopts(reading, a)]
    if found:
        named = [f"{address.kind.name} {address.name}" for address in found]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        text = f"Adopted {', '.join(named[:3])}{more}, left without an owner"
        yield Notice("Normal", "Adopted", text, "Update")


def _adopts(reading: Reading[Memory], action: Patch) -> bool:
    """Whether a patch gives an owner to an object that had none."""
    memory: Memory = reading.memory
    kind, name = action.address.kind, action.address.name
    if (kind, name) == (STATEFUL_SET, reading.workload.name):
        return memory.leader_set is not None and not memory.leader_set.metadata.controller
    body = action.patch if isinstance(action.patch, dict) else {}
    is_owned = "ownerReferences" in (body.get("metadata") or {})
    return is_owned and kind in (POD, CONTROLLER_REVISION, SERVICE)


def _revision_text(memory: Memory) -> str:
    if isinstance(memory, PodMemory) and memory.note is not None:
        return f"Creating revision with key {memory.key} for updated LWS"
    if memory.leader_set is None:
        return f"Creating revision with key {memory.key} for a newly created LeaderWorkerSet"
    if memory.leader_set.metadata.labels.get(labels.REVISION) == memory.key:
        return f"Creating missing revision with key {memory.key} for existing LeaderWorkerSet"
    return f"Creating revision with key {memory.key} for updated LWS"


def _restart_notices(leader: str, reading: Reading[Memory], plan: Plan) -> Iterator[Notice]:
    for restart in plan.step.restarts:
        if leader == f"{reading.workload.name}-{restart.ordinal}":
            text = (
                f"Worker pod {restart.cause} failed, deleted leader pod {leader} "
                f"to recreate group {restart.ordinal}"
            )
            yield Notice("Normal", "RecreateGroup", text, "Delete", related=leader)


def _rollout_notices(name: str, reading: Reading[Memory], rollout: Rollout) -> Iterator[Notice]:
    progress = reading.observed.progress
    if progress is None:
        return
    if progress.target == reading.workload.revision and rollout.boundary < progress.boundary:
        first, last = rollout.boundary, progress.boundary - 1
        text = f"Updating replica {first}"
        if first != last:
            text = f"Updating replicas {first} to {last} (inclusive)"
        yield Notice("Normal", "GroupsUpdating", text, "Update")
    if rollout.count < progress.count and progress.noted == reading.workload.groups:
        text = f"deleting surge replica {name}-{rollout.count}"
        if rollout.count < progress.count - 1:
            text = (
                f"deleting surge replicas from {name}-{rollout.count} to "
                f"{name}-{progress.count - 1}"
            )
        yield Notice("Normal", "GroupsProgressing", text, "Delete")


def _condition_notices(lws: Object, plan: Plan) -> Iterator[Notice]:
    held = {
        c.get("type"): c.get("status") == "True"
        for c in (lws.get("status") or {}).get("conditions") or ()
    }
    first = claims(plan.report)[0]
    if held.get(first):
        return
    reason, message = TEXTS[first]
    report = plan.report
    text = f"{message}, with {report.groups_ready} groups ready of total {report.wanted} groups"
    yield Notice("Normal", reason, text, "Update")


def _placement_notices(lws: Object, plan: Plan) -> Iterator[Notice]:
    """One event when clauses of the placement are lost, and another when they change."""
    text = SEPARATOR.join((*plan.report.losses, *plan.report.ignored))
    held = find_condition(lws, DEGRADED) or {}
    if text and (held.get("status"), held.get("message")) != ("True", text[:32_768]):
        yield Notice("Warning", DEGRADED, text[:1_000], "Update")
