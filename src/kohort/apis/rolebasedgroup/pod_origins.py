"""
Which template a pod was made from, where the label with its hash does not tell.

Another client may change that label, also just as the user changes the template. Then the pod
itself tells: it was made from another stored template if it runs that one, and has a part that this
one names and the template of its instance does not name so. The API server adds defaults where a
template names nothing. So a part counts only if both templates name it, or if it is a label, an
annotation, a container or a variable, to which the server adds none.

A webhook may add what a former template named. So nothing is asked of a pod once its instance was
ready with the revision that it has: all pods had it then, and pods made since have it too.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.role_facts import RoleFacts, find_component
from kohort.apis.rolebasedgroup.roles import as_map, as_objects, as_texts
from kohort.apis.rolebasedgroup.status import INSTANCE_READY
from kohort.cluster.objects import Object

# Labels that a pod gets for its place and its revision, whatever its template says.
_GIVEN = (
    labels.INSTANCE_NAME,
    labels.COMPONENT_NAME,
    labels.COMPONENT_ID,
    labels.COMPONENT_INDEX,
    labels.COMPONENT_SIZE,
    labels.REVISION,
)
_ENTRY = "*"
# The API server adds no entries here.
_OPEN = {
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "containers"),
    ("spec", "containers", _ENTRY, "env"),
}


def find_origin(role: RoleFacts, instance: RoleInstanceFacts, pod: RolePod) -> Object | None:
    """The component of another stored template that a pod was made from; None if none is known."""
    own = find_own_component(instance, pod)
    if not pod.raw or own is None or _was_ready(instance):
        return None
    held, origin, best = orjson.loads(pod.raw), None, as_map(own.get("template"))
    for stored in reversed(role.stored):
        found = find_component(role.find_template(stored.name) or {}, str(own.get("name")))
        template = as_map((found or {}).get("template"))
        if found and fits(pod, template) and _has_part(held, template, best):
            origin, best = found, template
    return origin


def find_own_component(instance: RoleInstanceFacts, pod: RolePod) -> Object | None:
    """The component of an instance that a pod of it belongs to; None if it has no such pod."""
    name = next((p.component for p in instance.places if p.name == pod.metadata.name), None)
    return None if name is None else find_component(as_map(instance.decode().get("spec")), name)


def _was_ready(instance: RoleInstanceFacts) -> bool:
    """Whether the stored status says that the instance is ready with the revision that it has."""
    status, metadata = instance.status, instance.metadata
    is_seen = status.observed_generation == metadata.generation
    if not is_seen or names.short_revision(status.update_revision) != hash_of(instance):
        return False
    return any(c.type == INSTANCE_READY and c.status == "True" for c in status.conditions or ())


def hash_of(instance: RoleInstanceFacts) -> str:
    """The revision hash that pods of an instance have as a label."""
    return names.short_revision(instance.metadata.labels.get(labels.REVISION, ""))


def _has_part(held: Any, other: Any, own: Any, path: tuple[str, ...] = ()) -> bool:
    """Whether an object has a part that one template names, and another one does not name so."""
    is_list = isinstance(other, list)
    held, other, own = (_by_name(each) for each in (held, other, own))
    if not isinstance(other, dict):
        return bool(held == other != own)
    has, named = as_map(held), as_map(own)
    for key, value in other.items():
        below = (*path, _ENTRY if is_list else key)
        if key not in named and path in _OPEN:
            is_found = key in has
        else:
            is_named = key in named or below in _OPEN
            is_found = is_named and _has_part(has.get(key), value, named.get(key), below)
        if is_found:
            return True
    return False


def _by_name(value: Any) -> Any:
    """A list of objects with names as a map, anything else as it is."""
    found = {str(each.get("name")): each for each in as_objects(value) if each.get("name")}
    return found if isinstance(value, list) and len(found) == len(value) else value


def fits(pod: RolePod, template: Object) -> bool:
    """Whether a pod runs what a template says, and has its labels and annotations."""
    return runs_template(pod, template) and not any(find_lacking_marks(pod, template).values())


def find_lacking_marks(pod: RolePod, template: Object) -> dict[str, dict[str, str]]:
    """The labels and the annotations of a template that a pod lacks or has with other values."""
    asked, held = as_map(template.get("metadata")), pod.metadata
    own = {"labels": held.labels, "annotations": held.annotations}
    return {
        part: {
            key: value
            for key, value in as_texts(asked.get(part)).items()
            if has.get(key) != value and key not in _GIVEN
        }
        for part, has in own.items()
    }


def runs_template(pod: RolePod, template: Object) -> bool:
    """Whether a pod's containers have the image, command, args and variables of a template."""
    held = {
        c.get("name"): c for c in as_objects(as_map(orjson.loads(pod.raw)["spec"])["containers"])
    }
    asked = as_objects(as_map(template.get("spec")).get("containers"))
    return all(_runs(held.get(container.get("name")), container) for container in asked)


def _runs(held: Object | None, asked: Object) -> bool:
    if held is None:
        return False
    if any(held.get(key) != asked.get(key) for key in ("image", "command", "args")):
        return False
    variables = _values_of(held)
    return all(variables.get(name, "") == value for name, value in _values_of(asked).items())


def _values_of(container: Object) -> Mapping[str, Any]:
    """A container's variables by name; the value is None if it comes from ``valueFrom``."""
    return {str(v.get("name")): v.get("value") for v in as_objects(container.get("env"))}
