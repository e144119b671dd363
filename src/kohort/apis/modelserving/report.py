"""Status and events of a ModelServing, from what the operator read and planned."""

from collections.abc import Iterator
from itertools import count

from kohort.apis.api import ExecutionSummary, Reading, Snapshot
from kohort.apis.carriers.members import read_moment
from kohort.apis.drift.reports import judge_edits, list_edit_events
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.events import (
    CREATING,
    DELETING,
    RUNNING,
    RoleChange,
    list_plugin_events,
    list_role_events,
)
from kohort.apis.modelserving.groups import Context
from kohort.apis.modelserving.read import Memory
from kohort.apis.modelserving.spec import read_spec
from kohort.apis.modelserving.status import (
    AVAILABLE,
    PLUGINS_FAILED,
    GroupState,
    put_plugin_failure,
)
from kohort.apis.modelserving.status import start_status as start
from kohort.apis.modelserving.status import write_status as write
from kohort.cluster.actions import Create, Delete
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, find_condition, labels_of, name_of
from kohort.model.observed import Group, RoleInstances
from kohort.model.plans import Plan
from kohort.model.reasons import Notice
from kohort.model.units import Phase


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status for a snapshot and its plan."""
    context = reading.memory.context
    groups = [_judge(context, group) for group in reading.observed.groups]
    groups += _list_made(snapshot, context, plan)
    status = write(snapshot.root, context.spec, groups, context.target.revision, now)
    drift, generation = plan.report.drift, reading.workload.generation
    status["conditions"] = judge_edits(status["conditions"], drift, generation, now)
    failure = next(iter(reading.memory.failures), None)
    status["conditions"] = put_plugin_failure(status["conditions"], failure, (generation, now))
    return status


def start_status(serving: Object) -> Object:
    """The status fields that autoscalers need, even if the object cannot be planned."""
    return start(serving, read_spec(serving))


def _judge(context: Context, group: Group) -> GroupState:
    return GroupState(
        ordinal=group.ordinal,
        revision=group.revision,
        is_ready=_is_complete(group),
        is_leaving=group.phase is Phase.LEAVING,
        is_updated=group.revision == context.target.revision,
        is_stored=group.revision in context.templates,
        lacks_kept=context.rolls_by_role and any(_lacks_kept(context, r) for r in group.roles),
    )


def _is_complete(group: Group) -> bool:
    """
    Whether a group is ready and has no instance too many, as upstream counts it.

    That is the status alone: to a rollout a group serves that still loses an instance.
    """
    has_all = all(len(role.instances) == role.wanted for role in group.roles)
    return group.phase is Phase.READY and has_all


def _list_made(snapshot: Snapshot, context: Context, plan: Plan) -> Iterator[GroupState]:
    """The groups that this reconcile began; a later one reads them from their pods."""
    begun = {labels_of(obj).get(labels.GROUP_NAME) for obj in snapshot.made if _is_pod(obj)}
    for make in plan.step.make:
        if names.group_name(name_of(snapshot.root), make.ordinal) in begun:
            is_updated = make.revision == context.target.revision
            yield GroupState(make.ordinal, make.revision, is_updated=is_updated)


def _is_pod(obj: Object) -> bool:
    return obj.get("kind") == POD.name


def _lacks_kept(context: Context, held: RoleInstances) -> bool:
    """Whether an instance is missing below the partition: new ones get the lowest free ordinals."""
    staying = {i.ordinal for i in held.instances if i.phase is not Phase.LEAVING}
    lowest = next(ordinal for ordinal in count() if ordinal not in staying)
    asked = context.spec.find_role(held.role)
    partition = asked.partition if asked else None
    return len(staying) < held.wanted and lowest < (partition or 0)


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """The events of a plan, after its actions were done or refused."""
    return (
        *list_role_events(_find_changes(snapshot, reading, summary)),
        *_find_refusals(summary),
        *list_edit_events(snapshot, plan, summary),
        *(_find_plugin_events(snapshot.root, reading) if summary.is_reported else ()),
        *plan.notices,
    )


def _find_changes(
    snapshot: Snapshot, reading: Reading[Memory], summary: ExecutionSummary
) -> Iterator[RoleChange]:
    """Instances that are created or deleted now, and those that the new status counts as ready."""
    seen: set[tuple[str, str, str]] = set()
    for action in summary.done:
        if isinstance(action, Create) and action.kind == POD:
            marks = labels_of(action.obj)
            if marks.get(labels.ENTRY) == "true":
                yield from _change(marks, CREATING, seen)
        elif isinstance(action, Delete) and action.kind == POD:
            pod = next((p for p in reading.memory.pods if p.metadata.name == action.name), None)
            if pod is not None:
                yield from _change(pod.metadata.labels, DELETING, seen)
    if summary.is_reported:
        yield from _find_running(snapshot, reading)


def _change(
    marks: dict[str, str], phase: str, seen: set[tuple[str, str, str]]
) -> Iterator[RoleChange]:
    group, role, own = (
        marks.get(key, "") for key in (labels.GROUP_NAME, labels.ROLE, labels.ROLE_ID)
    )
    if (group, own, phase) not in seen:
        seen.add((group, own, phase))
        yield RoleChange(group, role, own, phase)


def _find_running(snapshot: Snapshot, reading: Reading[Memory]) -> Iterator[RoleChange]:
    """
    The instances that have begun to run in groups that the last status did not count as available.

    An instance that was ready before the newest one of its group was made had run all the while;
    so had one that was ready when the last status ceased to be available.
    """
    held = int((snapshot.root.get("status") or {}).get("availableReplicas") or 0)
    lost = find_condition(snapshot.root, AVAILABLE) or {}
    since = read_moment(lost.get("lastTransitionTime")) if lost.get("status") == "False" else 0.0
    ready = [group for group in reading.observed.groups if _is_complete(group)]
    fresh = sorted(ready, key=_ready_since, reverse=True)
    for group in fresh[: max(0, len(ready) - held)]:
        name = names.group_name(name_of(snapshot.root), group.ordinal)
        newest = max((i.made_at for role in group.roles for i in role.instances), default=0.0)
        for role in group.roles:
            for instance in role.instances:
                moment = instance.ready_since or max(newest, since)
                if moment >= max(newest, since):
                    own = names.role_id(role.role, instance.ordinal)
                    yield RoleChange(name, role.role, own, RUNNING)


def _ready_since(group: Group) -> float:
    return group.ready_since or 0.0


def _find_plugin_events(serving: Object, reading: Reading[Memory]) -> Iterator[Notice]:
    """An event for a plugin failure that the stored status does not yet report."""
    failure = next(iter(reading.memory.failures), None)
    held = find_condition(serving, PLUGINS_FAILED) or {}
    if (held.get("status"), held.get("message")) != ("True", str(failure)):
        yield from list_plugin_events(failure)


def _find_refusals(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        if isinstance(action, Create):
            kind, name = action.kind.name, name_of(action.obj)
            text = f"{kind} {name} could not be created: {message}"
            yield Notice("Warning", "FailedCreate", text[:1_000], "Create")
