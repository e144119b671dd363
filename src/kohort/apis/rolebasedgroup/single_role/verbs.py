"""
The user's commands on a RoleInstanceSet or a RoleInstance without a group.

A set is its only role. A pause is a field of its own, so a resume needs no memory. A RoleInstance
is one instance and has neither a role nor a field for a pause or a partition: it is restarted,
given another image, and brought back to an earlier revision.
"""

from functools import partial

from kohort.apis.api import StoredRevision, UserVerbs
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.revision import read_revision
from kohort.apis.rolebasedgroup.roles import as_int, as_map, as_objects
from kohort.apis.rolebasedgroup.spec import read_set_spec
from kohort.apis.user_edits import list_own_revisions, put_at
from kohort.cluster.objects import Object

_TEMPLATE = "roleInstanceTemplate"


def _read_revision(revision: Object) -> tuple[int, str, Object] | None:
    found = read_revision(revision)
    template = as_map(as_map(found.data.get("spec")).get(_TEMPLATE)) if found else {}
    if found is None or not template:
        return None
    kept = {key: value for key, value in template.items() if key != "$patch"}
    return found.number, found.hash, {_TEMPLATE: kept}


def _go_back(root: Object, revision: StoredRevision, role: str) -> Object:
    """The set with a revision's template and its current replicas: an undo scales nothing."""
    return put_at(root, revision.content[_TEMPLATE], "spec", _TEMPLATE)


def _hold(root: Object, boundary: int, role: str) -> Object:
    return put_at(root, True, "spec", "updateStrategy", "paused")


def _release(root: Object, role: str) -> Object:
    return put_at(root, False, "spec", "updateStrategy", "paused")


def _finish(root: Object, role: str) -> Object:
    """The set without a partition and without a pause; unchanged if it has neither."""
    strategy = as_map(as_map(root.get("spec")).get("updateStrategy"))
    free = {key: value for key, value in strategy.items() if key not in ("partition", "paused")}
    return root if free == strategy else put_at(root, free, "spec", "updateStrategy")


def _list_held(root: Object) -> tuple[str, ...]:
    return _list_roles(root) if read_set_spec(root).rollout.is_paused else ()


def _list_roles(root: Object) -> tuple[str, ...]:
    return (read_set_spec(root).name,)


def _components_of(root: Object) -> list[Object]:
    return as_objects(as_map(as_map(root.get("spec")).get(_TEMPLATE)).get("components"))


def _list_templates(root: Object, role: str) -> dict[str, Object]:
    return {str(each.get("name")): as_map(each.get("template")) for each in _components_of(root)}


def _put_template(root: Object, field: str, template: Object) -> Object:
    changed = [
        {**each, "template": template} if each.get("name") == field else each
        for each in _components_of(root)
    ]
    return put_at(root, changed, "spec", _TEMPLATE, "components")


def _count_pods(root: Object, role: str) -> dict[str, int]:
    return {component.name: component.size for component in read_set_spec(root).components}


def _go_back_alone(root: Object, revision: StoredRevision, role: str) -> Object:
    """The instance with a revision's templates and its own sizes: an undo scales nothing."""
    held = as_objects(as_map(root.get("spec")).get("components"))
    sizes = {each.get("name"): each["size"] for each in held if "size" in each}
    stored = as_objects(revision.content[_TEMPLATE].get("components"))
    components = [
        {**each, "size": sizes[each.get("name")]} if each.get("name") in sizes else each
        for each in stored
    ]
    return put_at(root, components, "spec", "components")


def _list_own_templates(root: Object, role: str) -> dict[str, Object]:
    listed = as_objects(as_map(root.get("spec")).get("components"))
    return {str(each.get("name")): as_map(each.get("template")) for each in listed}


def _put_own_template(root: Object, field: str, template: Object) -> Object:
    listed = as_objects(as_map(root.get("spec")).get("components"))
    changed = [
        {**each, "template": template} if each.get("name") == field else each for each in listed
    ]
    return put_at(root, changed, "spec", "components")


def _count_own_pods(root: Object, role: str) -> dict[str, int]:
    listed = as_objects(as_map(root.get("spec")).get("components"))
    return {str(each.get("name")): as_int(each.get("size"), 1) for each in listed}


INSTANCE_VERBS = UserVerbs(
    list_revisions=partial(list_own_revisions, served=labels.SERVED, read=_read_revision),
    go_back=_go_back_alone,
    # It has no field that holds it back, so there is nothing to change.
    hold=lambda root, boundary, role: root,
    release=lambda root, role: root,
    finish=lambda root, role: root,
    list_templates=_list_own_templates,
    put_template=_put_own_template,
    count_pods=_count_own_pods,
    list_held=lambda root: (),
    cannot_pause="is one instance, which is updated as a whole; make a RoleInstanceSet, which can",
)
SET_VERBS = UserVerbs(
    list_revisions=partial(list_own_revisions, served=labels.SERVED, read=_read_revision),
    go_back=_go_back,
    hold=_hold,
    release=_release,
    finish=_finish,
    list_templates=_list_templates,
    put_template=_put_template,
    count_pods=_count_pods,
    list_held=_list_held,
    list_roles=_list_roles,
)
