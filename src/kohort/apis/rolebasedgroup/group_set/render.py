"""
From a plan to the RoleBasedGroups of a set.

The operator updates a group in place: it patches the RoleBasedGroup, which then rolls its own
roles. The patch writes all roles whole, so fields that the template lacks go; only the replicas of
roles with a scaling adapter stay.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.group_set.children import Child, GroupDifferences
from kohort.apis.rolebasedgroup.group_set.read import Memory
from kohort.apis.rolebasedgroup.group_set.template import (
    Note,
    Template,
    is_scaled,
    make_child,
    write_note,
)
from kohort.apis.rolebasedgroup.roles import as_objects
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Plan


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes to the groups of a set that carry out a plan."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_actions(snapshot, reading, plan))


def _actions(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> Iterator[Action]:
    root, memory = snapshot.root, reading.memory
    for stray in memory.strays:
        yield from _delete(stray, "the set makes no group of this name")
    for retirement in plan.step.retire:
        yield from _delete(memory.children[retirement.ordinal], retirement.why)
    for ordinal in plan.step.amend:
        child, differences = memory.children[ordinal], memory.differences[ordinal]
        is_edited = child.note.revision == memory.template.revision
        puts = snapshot.find_put_backs(labels.KIND, child.metadata.name)
        if not is_edited or puts.may_repeat:
            yield _amend(child, memory.template, differences, plan.now, is_edited=is_edited)
    for make in plan.step.make:
        obj = make_child(root, memory.template, make.ordinal)
        why = f"RoleBasedGroup {name_of(obj)} is missing"
        yield Create(labels.KIND, namespace_of(root), obj, why)


def _delete(child: Child, why: str) -> Iterator[Action]:
    metadata = child.metadata
    if not metadata.is_leaving:
        text = f"RoleBasedGroup {metadata.name}: {why}"
        yield Delete(
            labels.KIND, metadata.namespace, metadata.name, metadata.uid, "Background", why=text
        )


def _amend(
    child: Child, template: Template, differences: GroupDifferences, now: float, *, is_edited: bool
) -> Patch:
    """The patch that makes a group equal to the template of its set."""
    metadata = child.metadata
    note = Note(template.revision, tuple(template.labels), tuple(template.annotations), now)
    body: Object = {
        "metadata": {
            "uid": metadata.uid,
            "labels": differences.labels,
            "annotations": {**differences.annotations, labels.SET_TEMPLATE: write_note(note)},
        }
    }
    if differences.has_other_spec:
        body["spec"] = {
            "roles": _keep_scale(child, template.spec),
            "roleTemplates": template.spec.get("roleTemplates"),
        }
    address = Address(labels.KIND, metadata.namespace, metadata.name)
    what = f"{' and '.join(differences.names)} of RoleBasedGroup {metadata.name}"
    undoes = f"another client changed the {what}" if is_edited else ""
    return Patch(address, body, why=f"{what} differ from the template", undoes=undoes)


def _keep_scale(child: Child, spec: Object) -> list[Object]:
    """The roles of the template, with the replicas that this group's autoscalers have set."""
    held = {role.get("name"): role for role in child.roles}
    return [
        {**role, "replicas": own["replicas"]}
        if is_scaled(role) and "replicas" in (own := held.get(role.get("name")) or {})
        else role
        for role in as_objects(spec.get("roles"))
    ]
