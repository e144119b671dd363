"""
Revisions of groups and RoleInstanceSets, with the same hashes as upstream's.

Upstream hashes JSON as Go writes it; we do the same, so a group that upstream made needs no new
revision. Replicas are left out of the hash, so scaling rolls nothing. A group's revision is FNV-1a
over all roles; a role's is FNV-1a over that role with the template that it refers to. Sets
are hashed as StatefulSets are: FNV-1, followed by a count of collisions.

The highest number is the present revision, for upstream's commands as for ours. Roles that come
back are stored again under the next number, and the template of a set by hand, whose revision is
named by its hash alone, gets the next number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kohort.apis.gojson import write_bytes
from kohort.apis.revision_hash import hash_revision, hash_revision_a
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.roles import as_int, as_map, as_objects
from kohort.apis.rolebasedgroup.types import (
    INSTANCE_TEMPLATE,
    ROLE,
    ROLE_TEMPLATE,
    write_typed,
)
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
)

GROUP_HISTORY = 5  # revisions of a group that the operator keeps
INSTANCE_HISTORY = 5  # revisions of an instance, besides those in use
_REPLACE = {"$patch": "replace"}
_PATTERNS = ("standalonePattern", "leaderWorkerPattern")


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """The content of a ControllerRevision."""

    name: str
    hash: str
    number: int
    data: Object
    has_served: bool = False  # of a group's revision: all roles were ready on it


def write_group_data(group: Object) -> Object:
    """The data of a group's revision: all roles without replicas, and the shared templates."""
    spec = as_map(group.get("spec"))
    roles = [_write_role(role) for role in as_objects(spec.get("roles"))]
    templates = [write_typed(ROLE_TEMPLATE, t) for t in as_objects(spec.get("roleTemplates"))]
    return {
        "spec": {
            "roles": [dict(_REPLACE), *roles],
            "roleTemplates": [dict(_REPLACE), *templates],
        }
    }


def write_set_data(instance_set: Object) -> Object:
    """The data of a set's revision: the template of its instances."""
    template = as_map(as_map(instance_set.get("spec")).get("roleInstanceTemplate"))
    written = write_typed(INSTANCE_TEMPLATE, template)
    return {"spec": {"roleInstanceTemplate": {**_REPLACE, **written}}}


def hash_group(group: Object) -> str:
    """The hash of all roles, without replicas."""
    return hash_revision_a(write_bytes(write_group_data(group)))


def hash_roles(group: Object) -> dict[str, str]:
    """The hash of each role, by its name."""
    spec = as_map(group.get("spec"))
    templates = {str(t.get("name")): t for t in as_objects(spec.get("roleTemplates"))}
    return {
        str(role.get("name")): _hash_role(role, templates) for role in as_objects(spec.get("roles"))
    }


def hash_set(instance_set: Object, collisions: int = 0) -> str:
    """The hash of a RoleInstanceSet's template."""
    return _hash_data(write_set_data(instance_set), collisions)


def make_group_revision(group: Object, number: int) -> Object:
    """A new ControllerRevision with the group's current roles."""
    data = write_group_data(group)
    found = hash_revision_a(write_bytes(data))
    marks = {labels.GROUP_NAME: name_of(group), labels.GROUP_REVISION: found}
    name = names.group_revision_name(name_of(group), found, number)
    return _make(group, name, marks, {}, (number, data))


def make_set_revision(instance_set: Object, number: int) -> Object:
    """The ControllerRevision of a RoleInstanceSet's template."""
    data = write_set_data(instance_set)
    found = _hash_data(data, 0)
    selector = as_map(as_map(instance_set.get("spec")).get("selector")).get("matchLabels")
    marks = {**as_map(selector), labels.HASH: found}
    name = names.revision_name(name_of(instance_set), found)
    return _make(instance_set, name, marks, annotations_of(instance_set), (number, data))


def read_revision(revision: Object) -> StoredRevision | None:
    """Decode a ControllerRevision of a group, set or instance; None if it is of another kind."""
    marks, data = labels_of(revision), revision.get("data")
    found = marks.get(labels.GROUP_REVISION) or marks.get(labels.HASH)
    if not found or not isinstance(data, dict):
        return None
    number = as_int(revision.get("revision"), 0)
    has_served = labels.SERVED in annotations_of(revision)
    return StoredRevision(name_of(revision), found, number, data, has_served)


def find_current(stored: Iterable[StoredRevision], data: Object) -> StoredRevision | None:
    """The newest revision with exactly this data; compares data, not hashes."""
    wanted = write_bytes(data)
    same = [each for each in stored if write_bytes(each.data) == wanted]
    return max(same, key=lambda each: each.number, default=None)


def find_newest(stored: Sequence[StoredRevision], data: Object) -> StoredRevision | None:
    """The revision with the highest number, if it has exactly this data."""
    return find_current(stored[-1:], data)


def next_number(stored: Iterable[StoredRevision]) -> int:
    """The number of a new revision: one above all others."""
    return 1 + max((each.number for each in stored), default=0)


def list_outdated(stored: Sequence[StoredRevision], live: Iterable[str], kept: int) -> list[str]:
    """The names of revisions to delete beyond the history limit, oldest first, none in use."""
    used = set(live)
    free = sorted((each for each in stored if each.name not in used), key=lambda each: each.number)
    return [each.name for each in free[: max(0, len(free) - kept)]]


def roles_in(data: Object) -> list[Object]:
    """The roles that a group's revision holds, without replicas."""
    listed = as_objects(as_map(data.get("spec")).get("roles"))
    return [_without_replicas(role) for role in listed if "$patch" not in role]


def templates_in(data: Object) -> list[Object]:
    """The shared templates that a group's revision holds."""
    listed = as_objects(as_map(data.get("spec")).get("roleTemplates"))
    return [template for template in listed if "$patch" not in template]


def at_revision(group: Object, data: Object) -> Object:
    """The group with a stored revision's roles; replicas stay, and roles not in the group get 1."""
    spec = as_map(group.get("spec"))
    counts = {role.get("name"): role.get("replicas") for role in as_objects(spec.get("roles"))}
    roles = [{**role, "replicas": _given(counts.get(role.get("name")))} for role in roles_in(data)]
    templates = templates_in(data)
    changed = {**spec, "roles": roles, "roleTemplates": templates}
    if not templates:
        del changed["roleTemplates"]
    return {**group, "spec": changed}


def _given(replicas: Any) -> int:
    return as_int(replicas, 1)


def _without_replicas(role: Object) -> Object:
    return {key: value for key, value in role.items() if key != "replicas"}


def _write_role(role: Object) -> Object:
    written: Object = write_typed(ROLE, {**role, "replicas": None})
    return written


def _hash_role(role: Object, templates: Mapping[str, Object]) -> str:
    data = write_bytes(_write_role(role))
    reference = find_reference(role)
    if reference in templates:
        data += write_bytes(write_typed(ROLE_TEMPLATE, templates[reference])["template"])
    return hash_revision_a(data)


def find_reference(role: Object) -> str:
    """The name of the shared template that a role refers to; empty if it has its own."""
    for pattern in _PATTERNS:
        reference = as_map(as_map(role.get(pattern)).get("templateRef"))
        if reference:
            return str(reference.get("name"))
    return ""


def _hash_data(data: Object, collisions: int) -> str:
    return hash_revision(write_bytes(data) + str(collisions).encode())


def _make(
    owner: Object,
    name: str,
    marks: Mapping[str, str],
    notes: Mapping[str, str],
    content: tuple[int, Object],
) -> Object:
    number, data = content
    metadata: Object = {
        "name": name,
        "namespace": namespace_of(owner),
        "labels": dict(marks),
        "ownerReferences": [owner_reference(owner)],
    }
    if notes:
        metadata["annotations"] = dict(notes)
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.name,
        "metadata": metadata,
        "revision": number,
        "data": data,
    }
