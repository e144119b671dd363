"""
Roles that go back together: one write of the group's spec, as a user's undo would make it.

The spec itself is what the operator remembers: no note has to be kept true, and the way back is a
rollout like any other. Only a revision that never served is left like this, and only for one that
did, so a rollback is never followed by another. An annotation on the group says why.
"""

from collections.abc import Collection, Iterable, Iterator

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.revision import StoredRevision, at_revision, find_reference
from kohort.apis.rolebasedgroup.roles import as_objects
from kohort.apis.rolebasedgroup.spec import roles_of
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Object, annotations_of, name_of, namespace_of, uid_of
from kohort.cluster.port import Address, PatchType
from kohort.model.plans import Plan, Rollback

REASON = "RolledBack"


def find_fallback(
    stored: Iterable[StoredRevision], current: StoredRevision | None
) -> StoredRevision | None:
    """The revision that roles go back to: the newest that served, if the current one never did."""
    served = [each for each in stored if each.has_served]
    # Roles that come back have a new revision, which has served under its former number.
    if current is None or any(each.hash == current.hash for each in served):
        return None
    return max(served, key=lambda each: each.number, default=None)


def roll_back(group: Object, fallback: StoredRevision | None, plan: Plan) -> Iterator[Action]:
    """Write the former templates of roles that go back together into the group."""
    for rollback in plan.rollbacks if fallback else ():
        assert fallback is not None
        patch = _make_patch(group, fallback.data, rollback)
        if patch:
            address = Address(labels.KIND, namespace_of(group), name_of(group))
            yield Patch(address, patch, PatchType.JSON, why=rollback.cause.message)


def _make_patch(group: Object, data: Object, rollback: Rollback) -> list[Object]:
    """The former templates of the roles, unless the user has edited the group since."""
    then = at_revision(group, data)
    former = {str(role.get("name")): role for role in roles_of(then)}
    roles = [name for name in rollback.roles if name in former]
    changes = [*_change_roles(group, former, roles), *_change_templates(group, then, roles)]
    if not changes:
        return []
    generation = group["metadata"].get("generation")
    note: Object = {"op": "add", "path": "/metadata/annotations"}
    text = rollback.cause.message
    if annotations_of(group):
        key = labels.ROLLED_BACK.replace("/", "~1")
        note |= {"path": f"/metadata/annotations/{key}", "value": text}
    else:
        note["value"] = {labels.ROLLED_BACK: text}
    same = {"op": "test", "path": "/metadata/uid", "value": uid_of(group)}
    unchanged = {"op": "test", "path": "/metadata/generation", "value": generation}
    return [same, unchanged, *changes, note]


def _change_roles(
    group: Object, former: dict[str, Object], roles: Collection[str]
) -> Iterator[Object]:
    for index, role in enumerate(roles_of(group)):
        name = str(role.get("name"))
        if name in roles and former[name] != role:
            yield {"op": "replace", "path": f"/spec/roles/{index}", "value": former[name]}


def _change_templates(group: Object, then: Object, roles: Collection[str]) -> Iterator[Object]:
    """The shared templates that these roles referred to, as they were."""
    held = {t.get("name"): t for t in as_objects(group["spec"].get("roleTemplates"))}
    named = {find_reference(role) for role in roles_of(then) if role.get("name") in roles}
    listed = as_objects(then["spec"].get("roleTemplates"))
    changed = held | {t.get("name"): t for t in listed if t.get("name") in named}
    if changed != held:
        value = list(changed.values())
        yield {"op": "add", "path": "/spec/roleTemplates", "value": value}
