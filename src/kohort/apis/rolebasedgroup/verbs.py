"""
The user's commands on a RoleBasedGroup: pause, resume, undo, restart, set image.

To pause a rollout we pause every role, or one. An annotation records which roles the user had
paused before, so that a resume of all leaves them paused. To change one role that refers to a
shared template, we change the role's patch of that template.
"""

from functools import partial
from typing import Any

from kohort.apis.api import StoredRevision, UserVerbs
from kohort.apis.pod_templates import merge_template
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.revision import at_revision, read_revision, roles_in, templates_in
from kohort.apis.rolebasedgroup.roles import as_list, as_map, as_objects
from kohort.apis.rolebasedgroup.spec import read_spec, roles_of
from kohort.apis.user_edits import (
    forget_held,
    list_own_revisions,
    put_at,
    recall_held,
    remember_held,
)
from kohort.cluster.objects import Object, annotations_of

_SOURCES = ("standalonePattern", "leaderWorkerPattern")
_PATCHES = ("leaderTemplatePatch", "workerTemplatePatch")
_SECONDS = "minReadySeconds"
_CONTAINERS = ("initContainers", "containers")
# The field in which a role refers to a shared template and patches it.
_REFERENCE = "templateRef"


def _read_revision(revision: Object) -> tuple[int, str, Object] | None:
    found = read_revision(revision)
    if found is None:
        return None
    content = {"roles": roles_in(found.data), "roleTemplates": templates_in(found.data)}
    return found.number, found.hash, content


def _list_roles(group: Object) -> tuple[str, ...]:
    return tuple(str(role["name"]) for role in roles_of(group))


def _go_back(group: Object, revision: StoredRevision, role: str) -> Object:
    """The group with a revision's roles and its current replicas: an undo scales nothing."""
    then = at_revision(group, {"spec": revision.content})
    live = {held["name"]: held for held in roles_of(group)}
    found = {held["name"]: _keep_zero(held, live) for held in roles_of(then)}
    if not role:
        return _with_roles(then, list(found.values()))
    return _with_roles(
        group, [found.get(role, r) if r["name"] == role else r for r in roles_of(group)]
    )


def _keep_zero(role: Object, live: dict[str, Object]) -> Object:
    """The stored role; its revision leaves out a zero, which the API server sets again."""
    seconds = as_map(live.get(role["name"])).get(_SECONDS)
    return {**role, _SECONDS: 0} if seconds == 0 and _SECONDS not in role else role


def _with_roles(group: Object, roles: list[Object]) -> Object:
    return {**group, "spec": {**group["spec"], "roles": roles}}


def _hold(group: Object, boundary: int, role: str) -> Object:
    noted = recall_held(group)
    before = noted if isinstance(noted, list) else list(_list_held(group))
    roles = [_set_paused(r, True) if role in ("", r["name"]) else r for r in roles_of(group)]
    return remember_held(_with_roles(group, roles), before)


def _release(group: Object, role: str) -> Object:
    before = as_list(recall_held(group))
    if role:
        roles = [_set_paused(r, False) if r["name"] == role else r for r in roles_of(group)]
    else:
        roles = [_set_paused(r, r["name"] in before) for r in roles_of(group)]
    released = _with_roles(group, roles)
    return released if set(_list_held(released)) - set(before) else forget_held(released)


def _finish(group: Object, role: str) -> Object:
    roles = [_set_free(r) if role in ("", r["name"]) else r for r in roles_of(group)]
    finished = _with_roles(group, roles)
    return finished if role else forget_held(finished)


def _set_free(role: Object) -> Object:
    """The role without a partition and without a pause; unchanged if it has neither."""
    rolling = _rolling_of(role)
    free = {key: value for key, value in rolling.items() if key not in ("partition", "paused")}
    if free == rolling:
        return role
    return put_at(role, free, "rolloutStrategy", "rollingUpdate")


def _list_held(group: Object) -> tuple[str, ...]:
    return tuple(r["name"] for r in roles_of(group) if _rolling_of(r).get("paused") is True)


def _rolling_of(role: Object) -> Object:
    return as_map(as_map(role.get("rolloutStrategy")).get("rollingUpdate"))


def _set_paused(role: Object, is_paused: bool) -> Object:
    strategy: dict[str, Any] = {"type": "RollingUpdate", **as_map(role.get("rolloutStrategy"))}
    rolling = {**_rolling_of(role), "paused": is_paused}
    return {**role, "rolloutStrategy": {**strategy, "rollingUpdate": rolling}}


def _list_templates(group: Object, role: str) -> dict[str, Object]:
    """
    The pod templates of a group by role, and its shared templates by name.

    For one role, a shared template comes with the role's patch applied, as its pods get it.
    """
    shared, found = _find_shared(group), dict[str, Object]()
    for own in _choose_roles(group, role):
        _, pattern = _find_pattern(own)
        if isinstance(pattern.get("template"), dict):
            found[str(own["name"])] = pattern["template"]
        elif role and _REFERENCE in pattern:
            found[f"{role}/{_REFERENCE}"] = _resolve(pattern[_REFERENCE], shared)
        for component in as_objects(as_map(own.get("customComponentsPattern")).get("components")):
            found[f"{own['name']}/{component['name']}"] = as_map(component.get("template"))
    if not role:
        found |= {f"roleTemplates/{name}": template for name, template in shared.items()}
    return found


def _count_pods(group: Object, role: str) -> dict[str, int]:
    """The pods of an instance by template: those of a component, or all."""
    roles = {own.name: own for own in read_spec(group).roles}
    found: dict[str, int] = {}
    for field in _list_templates(group, role):
        name, _, part = field.partition("/")
        component = roles[name].find_component(part) if name in roles else None
        if name in roles:
            found[field] = component.size if component else roles[name].size
    return found


def _list_patches(group: Object, role: str) -> dict[str, Object]:
    """The patches of roles by field: for leaders, for workers, and of shared templates."""
    found: dict[str, Object] = {}
    for own in _choose_roles(group, role):
        _, pattern = _find_pattern(own)
        found |= {f"{own['name']}/{part}": pattern[part] for part in _PATCHES if pattern.get(part)}
        held = as_map(pattern.get(_REFERENCE)).get("patch")
        if held and not role:
            found[f"{own['name']}/{_REFERENCE}"] = held
    return found


def _choose_roles(group: Object, name: str) -> list[Object]:
    return [role for role in roles_of(group) if name in ("", role["name"])]


def _find_pattern(role: Object) -> tuple[str, Object]:
    """The name of the pattern field in which a role has its template, and its value."""
    source = next((each for each in _SOURCES if each in role), _SOURCES[0])
    return source, as_map(role.get(source))


def _find_shared(group: Object) -> dict[str, Object]:
    """The shared templates of a group by name."""
    listed = as_objects(as_map(group.get("spec")).get("roleTemplates"))
    return {str(entry["name"]): as_map(entry.get("template")) for entry in listed}


def _resolve(reference: Object, shared: dict[str, Object]) -> Object:
    """A shared template with the role's patch applied."""
    return merge_template(shared.get(str(reference.get("name")), {}), reference.get("patch"))


def _put_template(group: Object, field: str, template: Object) -> Object:
    owner, _, part = field.partition("/")
    if owner == "roleTemplates":
        entries = [
            {**entry, "template": template} if entry.get("name") == part else entry
            for entry in group["spec"]["roleTemplates"]
        ]
        return put_at(group, entries, "spec", "roleTemplates")
    shared = _find_shared(group)
    roles = [
        _put_in_role(role, part, template, shared) if role.get("name") == owner else role
        for role in roles_of(group)
    ]
    return _with_roles(group, roles)


def _put_in_role(role: Object, part: str, template: Object, shared: dict[str, Object]) -> Object:
    source, pattern = _find_pattern(role)
    if part in ("", *_PATCHES):
        return put_at(role, template, source, part or "template")
    if part == _REFERENCE and _REFERENCE in pattern:
        reference = pattern[_REFERENCE]
        changes = _find_changes(_resolve(reference, shared), template)
        patch = merge_template(as_map(reference.get("patch")), changes)
        return put_at(role, patch, source, _REFERENCE, "patch")
    listed = [
        {**each, "template": template} if each.get("name") == part else each
        for each in role["customComponentsPattern"]["components"]
    ]
    return put_at(role, listed, "customComponentsPattern", "components")


def _find_changes(old: Object, new: Object) -> Object:
    """A patch with the images and annotations that a command changed in a template."""
    before, found = annotations_of(old), dict[str, Any]()
    notes = {key: value for key, value in annotations_of(new).items() if before.get(key) != value}
    if notes:
        found["metadata"] = {"annotations": notes}
    for part in _CONTAINERS:
        held = as_list(as_map(old.get("spec")).get(part))
        changed = [c for c in as_list(as_map(new.get("spec")).get(part)) if c not in held]
        if changed:
            images = [{"name": c["name"], "image": c["image"]} for c in changed]
            found = put_at(found, images, "spec", part)
    return found


VERBS = UserVerbs(
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
    list_patches=_list_patches,
)
