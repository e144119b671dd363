"""
RoleBasedGroup as people see it and act on it.

A rollout is held by pausing every role; which roles were paused before is remembered in an
annotation. A restart is an annotation in every pod template, as kubectl does it for Deployments.
"""

from typing import Any

import orjson

from kohort.apis.api import Settings, Snapshot, StoredRevision, UserVerbs
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.revision import at_revision, read_revision, roles_in
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.rolebasedgroup.spec import roles_of
from kohort.apis.user_edits import HELD, RESTARTED, put_at
from kohort.cluster.objects import Object, annotations_of, uid_of

_SOURCES = ("standalonePattern", "leaderWorkerPattern")


def _role_of(index: int) -> str:
    return "leader" if index == 0 else "worker"


def _carrier_of(group: Object, settings: Settings) -> str:
    return "pods"


def _list_revisions(snapshot: Snapshot) -> tuple[StoredRevision, ...]:
    uid, found = uid_of(snapshot.root), []
    for stored in snapshot.all(labels.CONTROLLER_REVISION):
        revision = read_revision(stored.decode()) if stored.metadata.controller == uid else None
        if revision is not None:
            found.append(
                StoredRevision(
                    number=revision.number,
                    key=revision.hash,
                    name=revision.name,
                    created=stored.metadata.creation_timestamp or "",
                    content={**revision.data, "roles": roles_in(revision.data)},
                    has_served=labels.SERVED in stored.metadata.annotations,
                )
            )
    return tuple(sorted(found, key=lambda revision: revision.number))


def _go_back(group: Object, revision: StoredRevision) -> Object:
    """The roles of a revision, with the counts of now: an undo scales nothing."""
    return at_revision(group, revision.content)


def _with_roles(group: Object, roles: list[Object]) -> Object:
    return {**group, "spec": {**group["spec"], "roles": roles}}


def _restart(group: Object, now: str) -> Object:
    changed = group
    for field, template in _list_templates(group).items():
        stamped = put_at(template, now, "metadata", "annotations", RESTARTED)
        changed = _put_template(changed, field, stamped)
    return changed


def _hold(group: Object, boundary: int) -> Object:
    held = [r["name"] for r in roles_of(group) if _rolling_of(r).get("paused") is True]
    paused = _with_roles(group, [_set_paused(role, True) for role in roles_of(group)])
    return put_at(paused, orjson.dumps(held).decode(), "metadata", "annotations", HELD)


def _release(group: Object) -> Object:
    try:
        held = orjson.loads(annotations_of(group).get(HELD, "[]"))
    except orjson.JSONDecodeError:
        held = []
    others = {key: value for key, value in annotations_of(group).items() if key != HELD}
    released = put_at(group, others, "metadata", "annotations")
    paused = held if isinstance(held, list) else []
    roles = [_set_paused(role, role.get("name") in paused) for role in roles_of(group)]
    return _with_roles(released, roles)


def _is_held(group: Object) -> bool:
    return HELD in annotations_of(group)


def _rolling_of(role: Object) -> Object:
    return as_map(as_map(role.get("rolloutStrategy")).get("rollingUpdate"))


def _set_paused(role: Object, is_paused: bool) -> Object:
    strategy: dict[str, Any] = {"type": "RollingUpdate", **as_map(role.get("rolloutStrategy"))}
    rolling = {**_rolling_of(role), "paused": is_paused}
    return {**role, "rolloutStrategy": {**strategy, "rollingUpdate": rolling}}


def _list_templates(group: Object) -> dict[str, Object]:
    """The templates by role; those that roles refer to by their own names."""
    found: dict[str, Object] = {}
    for role in roles_of(group):
        for source in _SOURCES:
            template = as_map(role.get(source)).get("template")
            if isinstance(template, dict):
                found[str(role["name"])] = template
        for component in as_map(role.get("customComponentsPattern")).get("components") or ():
            found[f"{role['name']}/{component['name']}"] = as_map(component.get("template"))
    for entry in as_map(group.get("spec")).get("roleTemplates") or ():
        found[f"roleTemplates/{entry['name']}"] = as_map(entry.get("template"))
    return found


def _put_template(group: Object, field: str, template: Object) -> Object:
    owner, _, part = field.partition("/")
    if owner == "roleTemplates":
        entries = [
            {**entry, "template": template} if entry.get("name") == part else entry
            for entry in group["spec"]["roleTemplates"]
        ]
        return {**group, "spec": {**group["spec"], "roleTemplates": entries}}
    roles = [
        _put_in_role(role, part, template) if role.get("name") == owner else role
        for role in roles_of(group)
    ]
    return _with_roles(group, roles)


def _put_in_role(role: Object, component: str, template: Object) -> Object:
    if not component:
        source = next(each for each in _SOURCES if each in role)
        return {**role, source: {**role[source], "template": template}}
    pattern = role["customComponentsPattern"]
    listed = [
        {**each, "template": template} if each.get("name") == component else each
        for each in pattern["components"]
    ]
    return {**role, "customComponentsPattern": {**pattern, "components": listed}}


VERBS = UserVerbs(
    role_of=_role_of,
    carrier_of=_carrier_of,
    list_revisions=_list_revisions,
    go_back=_go_back,
    restart=_restart,
    hold=_hold,
    release=_release,
    is_held=_is_held,
    list_templates=_list_templates,
    put_template=_put_template,
)
