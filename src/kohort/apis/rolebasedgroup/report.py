"""Statuses and events of a RoleBasedGroup and its children, in upstream's terms."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kohort.apis.api import ExecutionSummary, Reading, Snapshot
from kohort.apis.references import Projection
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.instances import has_foreign_hash, is_current, revision_of
from kohort.apis.rolebasedgroup.objects.adapters import BOUND, make_selector
from kohort.apis.rolebasedgroup.pod_facts import RolePod, is_update_complete
from kohort.apis.rolebasedgroup.problems import FAILED_WORKLOAD
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.apis.rolebasedgroup.roles import as_objects
from kohort.apis.rolebasedgroup.rollback import REASON as ROLLED_BACK
from kohort.apis.rolebasedgroup.status import (
    WAITING,
    ComponentCounts,
    InstanceState,
    RoleCounts,
    SetState,
    is_partial,
    say_waiting,
    write_adapter_status,
    write_group_status,
    write_instance_status,
    write_set_status,
)
from kohort.cluster.actions import Create, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, find_condition, labels_of, name_of
from kohort.cluster.selectors import format_selector
from kohort.cluster.timestamps import write_moment
from kohort.model.observed import RoleInstances
from kohort.model.plans import Plan
from kohort.model.reasons import OF_CLIENTS, OF_OTHER_ROLES, PROFILE, Blocker, Notice
from kohort.model.units import Line, Phase

_OPERATORS = {"In", "NotIn", "Exists", "DoesNotExist"}
_MADE, _STUCK = "SucceedCreateRevision", "InPlaceUpdateNotPossible"


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of the group."""
    told = (b.message for b in plan.report.blockers if b.reason in OF_OTHER_ROLES)
    held = tuple(dict.fromkeys(told))
    made = Counter(labels_of(obj).get(labels.ROLE_NAME) for obj in snapshot.made if _is_own(obj))
    counts = [_add_made(each, made[each.name]) for each in _count_roles(reading, plan)]
    status = write_group_status(snapshot.root, counts, now, held)
    return say_waiting(status, find_waits(plan), now)


def _is_own(obj: Object) -> bool:
    return obj.get("kind") == labels.INSTANCE.name


def _add_made(counts: RoleCounts, made: int) -> RoleCounts:
    """The counts with instances that were just created, all of them from the new template."""
    return replace(counts, exist=counts.exist + made, updated=counts.updated + made)


def find_waits(plan: Plan, role: str = "") -> tuple[Blocker, ...]:
    """What roles, or one of them, wait for that only the user or another client can do."""
    found = (b for b in plan.report.blockers if b.reason in OF_CLIENTS)
    return tuple(b for b in found if not role or b.line.role == role)


def _count_roles(reading: Reading[Memory], plan: Plan) -> Iterator[RoleCounts]:
    (group,) = reading.observed.groups
    held = {role.role: role for role in group.roles}
    for spec in reading.memory.facts.spec.roles:
        yield (
            _count(held[spec.name], plan, reading)
            if spec.name in held
            else RoleCounts(spec.name, spec.replicas, 0, 0, 0, 0, 0)
        )


def _count(role: RoleInstances, plan: Plan, reading: Reading[Memory]) -> RoleCounts:
    if role.tally is not None:
        told = role.tally
        counts = (told.exist, told.ready, told.updated, told.updated_ready, told.ready)
        return RoleCounts(role.role, role.wanted, *counts)
    live = [i for i in role.instances if i.phase is not Phase.LEAVING]
    ready = [i for i in live if i.phase is Phase.READY]
    updated = [i for i in live if i.revision == role.revision]
    asked = reading.memory.facts.roles[role.role].spec.min_ready_seconds
    available = [i for i in ready if plan.now - (i.ready_since or 0.0) >= asked]
    return RoleCounts(
        name=role.role,
        wanted=role.wanted,
        exist=len(live),
        ready=len(ready),
        updated=len(updated),
        updated_ready=sum(i.phase is Phase.READY for i in updated),
        available=len(available),
    )


def list_projections(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str
) -> tuple[Projection, ...]:
    """The statuses of sets, instances and adapters."""
    counts = {each.name: each for each in _count_roles(reading, plan)}
    return tuple(_list_projections(snapshot, reading, plan, counts, now))


def _list_projections(
    snapshot: Snapshot,
    reading: Reading[Memory],
    plan: Plan,
    counts: dict[str, RoleCounts],
    now: str,
) -> Iterator[Projection]:
    facts = reading.memory.facts
    sets = {found.metadata.uid: found for found in snapshot.all(labels.INSTANCE_SET)}
    for name, role in facts.roles.items():
        if role.set_uid in sets:
            obj = sets[role.set_uid].decode()
            state = SetState(
                role.target,
                _write_selector(role.selector),
                role.spec.rollout.partition,
                _find_stuck(plan, name),
                find_waits(plan, name),
            )
            status = write_set_status(obj, counts[name], state, now)
            partial = is_partial(obj, status)
            yield Projection(labels.INSTANCE_SET, obj, status, is_partial=partial)
        for ordinal, instance in reading.memory.instances[name].items():
            yield from _project_instance(reading, role, ordinal, instance, now)
    for adapter in snapshot.all(labels.ADAPTER):
        yield from _project_adapter(reading, adapter.decode(), counts, now)


def _write_selector(selector: Object) -> str:
    """A selector as text; empty if Kubernetes would not know an operator in it."""
    operators = {e.get("operator") for e in as_objects(selector.get("matchExpressions"))}
    return format_selector(selector) if operators <= _OPERATORS else ""


def _find_stuck(plan: Plan, role: str) -> str:
    step = plan.steps.get(Line(0, role))
    blockers = step.blockers if step else ()
    return next((b.message for b in blockers if b.reason == _STUCK), "")


def _project_instance(
    reading: Reading[Memory],
    role: RoleFacts,
    ordinal: int,
    instance: RoleInstanceFacts,
    now: str,
) -> Iterator[Projection]:
    if instance.metadata.is_leaving:
        return
    view = reading.memory.views[role.spec.name][ordinal]
    if view.told is not None:
        yield view.told
        return
    pods = reading.memory.pods.get(instance.metadata.uid, {})
    is_known = instance.status.has_ready
    unready = next(
        (p.name for p in instance.places if not _serves(role, instance, pods, p.name)), ""
    )
    if unready and not is_known:
        # The operator writes an instance's first status only when the instance is ready.
        return
    state = read_state(reading, role, ordinal, instance)
    obj = instance.decode()
    status = write_instance_status(obj, state, now)
    if status == obj.get("status"):
        # The stored status is right until a fact changes. Only its address and uid count then.
        metadata = {key: obj["metadata"].get(key) for key in ("namespace", "name", "uid")}
        obj = {"metadata": metadata, "status": status}
        view.told = Projection(labels.INSTANCE, obj, status, is_ready=not unready)
    yield view.told or Projection(labels.INSTANCE, obj, status, is_ready=not unready)


def read_state(
    reading: Reading[Memory], role: RoleFacts, ordinal: int, instance: RoleInstanceFacts
) -> InstanceState:
    """The state of one instance and its pods, for its status."""
    pods = reading.memory.pods.get(instance.metadata.uid, {})
    unready = next(
        (p.name for p in instance.places if not _serves(role, instance, pods, p.name)), ""
    )
    failure = next((f for f in role.failures if f.ordinal == ordinal), None)
    is_updated = all(
        p.name in pods and is_current(role, instance, pods[p.name]) for p in instance.places
    )
    return InstanceState(
        components=tuple(_count_components(role, instance, pods)),
        revision=role.find_revision(_find_hash_owner(instance, pods)),
        unready=unready,
        is_updated=is_updated,
        is_complete=is_updated and all(map(is_update_complete, pods.values())),
        is_amended=instance.metadata.generation > 1,
        restarts=failure.count if failure else 0,
        restarted_at=write_moment(failure.at) if failure else "",
    )


def _serves(
    role: RoleFacts, instance: RoleInstanceFacts, pods: dict[str, RolePod], name: str
) -> bool:
    pod = pods.get(name)
    if pod is None or pod.metadata.is_leaving:
        return False
    return pod.is_ready and is_current(role, instance, pod) and is_update_complete(pod)


def _find_hash_owner(instance: RoleInstanceFacts, pods: dict[str, RolePod]) -> str:
    """The revision whose hash the pods have: upstream's, while any pod has upstream's hash."""
    if any(has_foreign_hash(instance, pod) for pod in pods.values()):
        return instance.status.update_revision
    return revision_of(instance)


def _count_components(
    role: RoleFacts, instance: RoleInstanceFacts, pods: dict[str, RolePod]
) -> Iterator[ComponentCounts]:
    for component in dict.fromkeys(place.component for place in instance.places):
        found = [
            pods[place.name]
            for place in instance.places
            if place.component == component and place.name in pods
        ]
        updated = [pod for pod in found if is_current(role, instance, pod)]
        yield ComponentCounts(
            name=component,
            exist=len(found),
            ready=sum(pod.is_ready for pod in found),
            updated=len(updated),
            updated_ready=sum(pod.is_ready for pod in updated),
            scheduled=sum(bool(pod.spec.node_name) for pod in found),
        )


def _project_adapter(
    reading: Reading[Memory], adapter: Object, counts: dict[str, RoleCounts], now: str
) -> Iterator[Projection]:
    facts = reading.memory.facts
    for context in facts.contexts:
        name = context.role.name
        wanted = names.adapter_name(name_of(facts.group), name)
        if name_of(adapter) == wanted and context.role.adapter.is_enabled:
            selector = make_selector(context)
            status = write_adapter_status(adapter, counts[name], selector, BOUND, now)
            partial = is_partial(adapter, status)
            yield Projection(labels.ADAPTER, adapter, status, is_partial=partial)


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """The events for a plan; success without a change is no event."""
    made = (*_list_made(summary), *_list_rollbacks(plan, summary))
    waiting = _list_waiting(snapshot.root, plan) if summary.is_reported else ()
    return (*made, *_list_refused(summary), *waiting, *plan.notices)


def _list_waiting(root: Object, plan: Plan) -> Iterator[Notice]:
    """An event for what roles wait for, if the stored status does not say so yet."""
    waits, held = find_waits(plan), find_condition(root, WAITING) or {}
    if not waits or (held.get("status"), held.get("reason")) == ("True", waits[0].reason):
        return
    is_lack = waits[0].reason == PROFILE
    kind, reason = ("Warning", FAILED_WORKLOAD) if is_lack else ("Normal", waits[0].reason)
    yield Notice(kind, reason, waits[0].message[:1_000], "Update")


def _list_rollbacks(plan: Plan, summary: ExecutionSummary) -> Iterator[Notice]:
    done = {action.why for action in summary.done if isinstance(action, Patch)}
    for rollback in plan.rollbacks:
        if rollback.cause.message in done:
            yield Notice("Warning", ROLLED_BACK, rollback.cause.message, "RollBack")


def _list_made(summary: ExecutionSummary) -> Iterator[Notice]:
    for action in summary.done:
        is_create = isinstance(action, Create) and action.kind == CONTROLLER_REVISION
        if isinstance(action, Create) and is_create:
            text = f"Successfully created revision {name_of(action.obj)}"
            yield Notice("Normal", _MADE, text, "Create")


def _list_refused(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        if isinstance(action, Create):
            text = f"{action.kind.name} {name_of(action.obj)} could not be created: {message}"
            yield Notice("Warning", FAILED_WORKLOAD, text[:1_000], "Create")
