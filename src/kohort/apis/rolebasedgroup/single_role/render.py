"""
From a plan to the objects of a RoleInstanceSet or a RoleInstance without a group.

The operator writes neither the spec nor the labels of the object, which are the user's: it stores
the revision, creates and deletes instances, and creates, updates and deletes pods, as for a role of
a group.
"""

from collections.abc import Iterator
from dataclasses import replace

from kohort.apis.api import Reading, Snapshot
from kohort.apis.drift.restores import adopt
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.gang_actions import GangActions
from kohort.apis.rolebasedgroup.instance_actions import InstanceActions
from kohort.apis.rolebasedgroup.lost_revisions import make_again
from kohort.apis.rolebasedgroup.objects.ports import is_port
from kohort.apis.rolebasedgroup.pod_actions import PodActions
from kohort.apis.rolebasedgroup.pod_extras import PodExtras
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.render import list_taken_back, note_failures
from kohort.apis.rolebasedgroup.revision import list_outdated, next_number
from kohort.apis.rolebasedgroup.role_facts import RoleFacts
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.rolebasedgroup.set_actions import SetActions
from kohort.apis.rolebasedgroup.single_role.facts import add_root
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Kind, annotations_of, labels_of, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.cluster.timestamps import write_moment
from kohort.model.plans import Plan
from kohort.model.units import Line


def render_set(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes to the instances and pods of a set that carry out a plan."""
    if reading.workload.is_leaving:
        return ()
    adopted = (*_adopt(snapshot), *list_taken_back(reading))
    return adopted or tuple(_actions(add_root(snapshot), reading, plan, labels.INSTANCE_SET))


def render_instance(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes to the pods of an instance that carry out a plan."""
    if reading.workload.is_leaving:
        return ()
    adopted = (*_adopt_revisions(snapshot), *list_taken_back(reading))
    return adopted or tuple(_actions(snapshot, reading, plan, labels.INSTANCE))


def _adopt(snapshot: Snapshot) -> Iterator[Action]:
    """Adopt instances and revisions that an earlier set of this name and labels left behind."""
    root = snapshot.root
    for instance in snapshot.all(labels.INSTANCE):
        if labels_of(root).items() <= instance.metadata.labels.items():
            yield from adopt(root, labels.INSTANCE, instance.metadata)
    for stored in snapshot.all(CONTROLLER_REVISION):
        # A StatefulSet of the same name may have left revisions, too.
        data = as_map(as_map(stored.decode().get("data")).get("spec"))
        if "roleInstanceTemplate" in data:
            yield from adopt(root, CONTROLLER_REVISION, stored.metadata)


def _adopt_revisions(snapshot: Snapshot) -> Iterator[Action]:
    """Adopt the revisions that an earlier instance of this name left behind."""
    for stored in snapshot.all(CONTROLLER_REVISION):
        data = as_map(as_map(stored.decode().get("data")).get("spec"))
        if not stored.metadata.controller and "roleInstanceTemplate" in data:
            yield from adopt(snapshot.root, CONTROLLER_REVISION, stored.metadata)


def _actions(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, kind: Kind
) -> Iterator[Action]:
    facts = reading.memory.facts
    (role,) = facts.roles.values()
    sets = SetActions(snapshot, facts, plan)
    marks = tuple(sets.mark_served())
    if marks:
        # As for a group: what served is noted before anything of the next revision is written.
        yield from marks
        return
    gangs = GangActions(_without_gang(snapshot), reading, plan)
    extras = PodExtras(snapshot, reading)
    # What is asked for now is stored under a new number, whether or not it was lost.
    yield from make_again(add_root(snapshot), () if role.is_stored else (role.target,))
    numbered = tuple(_number_anew(sets, role))
    yield from numbered or sets.store_role(role)
    yield from _store_ports(snapshot, role, kind)
    yield from note_failures(reading, plan, sets)
    step = plan.steps.get(Line(0, role.spec.name))
    yield from extras.remember(role, step)
    if step is not None and role.is_stored:
        pods, now = PodActions(snapshot, reading, plan, gangs, extras), write_moment(plan.now)
        instances = InstanceActions(snapshot, reading, role, step, extras, pods, now)
        yield from instances.list_actions()
        yield from pods.list_actions(role, step, instances.leaving)
    if plan.report.is_done:
        yield from _forget(snapshot, role)


def _without_gang(snapshot: Snapshot) -> Snapshot:
    """The snapshot of an object that asks for no gang of a group, which only a group has."""
    root = snapshot.root
    notes = {k: v for k, v in annotations_of(root).items() if k != labels.GANG}
    return replace(snapshot, root={**root, "metadata": {**root["metadata"], "annotations": notes}})


def _number_anew(sets: SetActions, role: RoleFacts) -> Iterator[Action]:
    """Give a stored template that is asked for again the highest number, as upstream does."""
    for stored in () if role.is_stored else sets.list_own_revisions():
        if stored.metadata.name == role.target:
            address = Address(CONTROLLER_REVISION, stored.metadata.namespace, role.target)
            body = {"metadata": {"uid": stored.metadata.uid}, "revision": next_number(role.stored)}
            yield Patch(address, body, why=f"{role.target}: its template is asked for again")


def _store_ports(snapshot: Snapshot, role: RoleFacts, kind: Kind) -> Iterator[Action]:
    """Store new ports of the whole role on the object."""
    root, held = snapshot.root, annotations_of(snapshot.root)
    notes = annotations_of(role.instance_set)
    new = {k: v for k, v in notes.items() if is_port(k, v) and held.get(k) != v}
    if new:
        body = {"metadata": {"uid": root["metadata"]["uid"], "annotations": new}}
        address = Address(kind, namespace_of(root), name_of(root))
        why = f"{kind.name} {name_of(root)} needs ports: {', '.join(sorted(new))}"
        yield Patch(address, body, why=why)


def _forget(snapshot: Snapshot, role: RoleFacts) -> Iterator[Action]:
    """Delete revisions beyond the history limit."""
    limit = role.instance_set["spec"].get("revisionHistoryLimit", 10)
    outdated = list_outdated(role.stored, [role.target, role.base], limit)
    for stored in snapshot.all(CONTROLLER_REVISION):
        metadata = stored.metadata
        if metadata.name in outdated:
            why = f"ControllerRevision {metadata.name}: beyond the history"
            yield Delete(
                CONTROLLER_REVISION,
                metadata.namespace,
                metadata.name,
                metadata.uid,
                "Background",
                why=why,
            )
