"""
From the planned objects of a service to writes.

The operator uses server-side apply, so that the API server knows which fields are ours. Autoscalers
own the replicas: we write back the number that we saw, and the API server refuses the write if the
object has changed since. Objects that a service no longer needs go when its new workloads serve.

While a workload keeps its old spec, the objects around it stay as they are. A Service whose
selector another client has changed serves nothing, so the operator restores it even then.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from kohort.apis.api import Reading, Snapshot
from kohort.apis.carriers.desired import (
    DesiredObjects,
    apply_made,
    list_owners,
    render_desired,
)
from kohort.apis.drift.restores import adopt, put_service_back
from kohort.apis.facts import Whole
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.children import find_orphans
from kohort.apis.inferenceservice.fields import read_object
from kohort.apis.inferenceservice.handover import list_deployed
from kohort.apis.inferenceservice.kinds import WORKLOADS
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER, FORMER_MANAGERS
from kohort.apis.inferenceservice.ray_repair import repair_clusters
from kohort.apis.inferenceservice.read import Memory
from kohort.apis.inferenceservice.references import find_configuration
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.apis.inferenceservice.updates import write_former
from kohort.cluster.actions import Action, Create, Delete, Patch, address_of
from kohort.cluster.kinds import AUTOSCALER, BUDGET, DEPLOYMENT, SERVICE
from kohort.cluster.objects import (
    Object,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.cluster.port import Address
from kohort.model.plans import Plan

_SCALED = (DEPLOYMENT, kinds.LEADER_WORKER_SET)
_GUARDED = (*_SCALED, kinds.ROLE_BASED_GROUP)
_MARKS = (f"metadata.annotations.{labels.RENDERED_FROM}",)
# Objects that follow a change of the form, though a workload of the new form keeps its old spec.
_TURNED = (
    *WORKLOADS,
    SERVICE,
    AUTOSCALER,
    kinds.SCALED_OBJECT,
    BUDGET,
    kinds.COORDINATED_POLICY,
    kinds.WARM_UP,
)


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes for a service."""
    if reading.workload.is_leaving:
        return tuple(_release(snapshot.root))
    adopted = tuple(_adopt(snapshot))
    if adopted or reading.memory.is_moved:
        return adopted
    seconds = find_configuration(snapshot).prober.unavailable_seconds
    memory = reading.memory
    repairs = repair_clusters(memory.plan, memory.existing, seconds, plan.now)
    return (*_mark_former(memory), *_actions(snapshot, memory), *repairs)


def _mark_former(memory: Memory) -> Iterator[Action]:
    """Note on workloads that keep a former controller's spec for which service they keep it."""
    for kind, name in sorted(memory.held, key=lambda each: (each[0].name, each[1])):
        found = (memory.existing.get(kind) or {})[name]
        notes = write_former(memory.plan, found)
        if notes is not None:
            body = {"metadata": {"uid": uid_of(found), "annotations": notes}}
            why = f"{kind.name} {name} keeps the spec that a former controller gave it"
            address = Address(kind, namespace_of(found), name)
            yield Patch(address, body, manager=FIELD_MANAGER, why=why)


def _release(root: Object) -> Iterator[Action]:
    """Remove upstream's finalizer; the garbage collector deletes the service's objects."""
    metadata = metadata_of(root)
    held = metadata.get("finalizers") or []
    if labels.FINALIZER not in held:
        return
    body = {
        "metadata": {
            "uid": uid_of(root),
            "resourceVersion": metadata.get("resourceVersion"),
            "finalizers": [each for each in held if each != labels.FINALIZER],
        }
    }
    address = Address(kinds.INFERENCE_SERVICE, namespace_of(root), name_of(root))
    yield Patch(address, body, why="the service is being deleted, and nothing is left to do")


def _adopt(snapshot: Snapshot) -> Iterator[Action]:
    """Adopt orphans before any other write, since they may be all that serves."""
    for kind, found in find_orphans(snapshot):
        yield from adopt(snapshot.root, kind, found.metadata)


def _actions(snapshot: Snapshot, memory: Memory) -> Iterator[Action]:
    found: list[Action] = []
    for desired in memory.plan.objects:
        wanted = _keep_replicas(desired, memory.existing)
        if desired.kind == SERVICE and memory.held and not memory.handover.old:
            found += _restore_services(snapshot, desired)
        # One without a controller is not ours: to create ours tells the user whose name it is.
        held = [each for each in snapshot.all(desired.kind) if each.metadata.controller]
        for action in render_desired(snapshot.root, wanted, held):
            if not _is_held(action, memory, snapshot.refused) and not _is_scaled(action, snapshot):
                found.append(apply_made(action, desired.manager))
    found = _bind_later(found)
    deletes = (each for each in found if isinstance(each, Delete))
    ends = [each for each in deletes if address_of(each) not in snapshot.refused]
    # Beside a workload that keeps its spec, workloads go last: while one of the old form exists,
    # the next plan knows what else is old. But a refused delete must not keep their GPUs.
    is_late = bool(memory.held) and any(each.kind not in WORKLOADS for each in ends)
    for action in found:
        if not (is_late and isinstance(action, Delete) and action.kind in WORKLOADS):
            yield action


def _restore_services(snapshot: Snapshot, desired: DesiredObjects) -> Iterator[Action]:
    """Point Services back to their pods where another client changed the selector."""
    wanted = {name_of(obj): read_object(obj, "spec") for obj in desired.objects}
    for found in snapshot.all(SERVICE):
        selector = wanted.get(found.metadata.name, {}).get("selector")
        if selector and _is_foreign(found):
            spec = read_object(found.decode(), "spec")
            field = "publishNotReadyAddresses"
            restored = {field: spec.get(field), "selector": selector}
            yield from put_service_back(snapshot, SERVICE, found, restored, uid_of(snapshot.root))


def _is_foreign(found: Whole) -> bool:
    """Whether only clients other than the operator and its predecessors own the selector."""
    owners = list_owners(found.decode(), "spec", "selector")
    return bool(owners) and not {FIELD_MANAGER, *FORMER_MANAGERS}.intersection(owners)


def _bind_later(actions: list[Action]) -> list[Action]:
    """The actions, with a new RoleBinding after its Role, for which the API server looks."""
    made = [action for action in actions if isinstance(action, Patch) and action.makes]
    roles = {each.address.name: each for each in made if each.address.kind == kinds.ROLE}
    bindings = [
        each
        for each in made
        if each.address.kind == kinds.ROLE_BINDING and each.address.name in roles
    ]
    later = {id(roles[each.address.name]): each for each in bindings}
    kept = (action for action in actions if action not in bindings)
    return [_follow(action, later.get(id(action))) for action in kept]


def _follow(action: Action, later: Patch | None) -> Action:
    if later is None:
        return action
    assert isinstance(action, Patch), "a Role is applied"
    return replace(action, then=lambda stored: (later,))


def _is_held(action: Action, memory: Memory, refused: Collection[Address]) -> bool:
    """Whether the operator must not do this patch or delete yet."""
    if isinstance(action, Create):
        return False
    address = address_of(action)
    # While a workload keeps its old spec, the objects around it must keep fitting that spec.
    # A refused delete was due: it still is when the old form, by which we know that, has gone.
    is_due = isinstance(action, Delete) and (address in refused or _serves_none(address, memory))
    if memory.held and not is_due and not _is_turned(address, memory):
        return True
    if isinstance(action, Delete):
        return memory.handover.defers_end(address.kind)
    return memory.handover.defers_change(address.kind)


def _is_scaled(action: Action, snapshot: Snapshot) -> bool:
    """Whether this makes a ScaledObject for a workload that our other autoscaler still scales.

    KEDA refuses such a ScaledObject; without its webhook both would scale the workload.
    """
    if not isinstance(action, Create) or action.kind != kinds.SCALED_OBJECT:
        return False
    target, uid = read_object(action.obj["spec"], "scaleTargetRef"), uid_of(snapshot.root)
    held = [each for each in snapshot.all(AUTOSCALER) if each.metadata.controller == uid]
    specs = (read_object(each.decode(), "spec") for each in held)
    return any(read_object(spec, "scaleTargetRef") == target for spec in specs)


def _is_turned(address: Address, memory: Memory) -> bool:
    """Whether an object follows a change of the form, and is not itself held."""
    is_held = (address.kind, address.name) in memory.held
    return bool(memory.handover.old) and address.kind in _TURNED and not is_held


def _serves_none(address: Address, memory: Memory) -> bool:
    """Whether an object stands around a component that is in no workload, planned or existing."""
    found = (memory.existing.get(address.kind) or {}).get(address.name) or {}
    component = labels_of(found).get(labels.COMPONENT) if found else None
    planned = memory.plan.workload.configs if memory.plan.workload else {}
    known = {*planned, *list_deployed(memory.existing), labels.EXTERNAL_COMPONENT}
    return bool(component) and component not in known


def _keep_replicas(desired: DesiredObjects, existing: Existing) -> DesiredObjects:
    desired = replace(desired, former=FORMER_MANAGERS, marks=_MARKS)
    if desired.kind not in _GUARDED:
        return desired
    if desired.kind not in _SCALED:
        return replace(desired, is_guarded=True)
    held = existing.get(desired.kind) or {}
    objects = tuple(_keep(obj, held.get(name_of(obj))) for obj in desired.objects)
    return replace(desired, objects=objects, is_guarded=True)


def _keep(obj: Object, found: Object | None) -> Object:
    count = None if found is None else read_object(found, "spec").get("replicas")
    # The plan itself says how many groups a set without an autoscaler gets.
    is_planned = obj.get("kind") == kinds.LEADER_WORKER_SET.name and "replicas" in obj["spec"]
    return (
        obj if count is None or is_planned else {**obj, "spec": {**obj["spec"], "replicas": count}}
    )
