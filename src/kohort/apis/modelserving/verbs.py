"""
ModelServing as people see it and act on it.

A rollout of groups is held by raising the partition to all groups, one of roles by raising that of
each role; what the user had is remembered in an annotation. A restart is an annotation in every pod
template, as kubectl does it for Deployments.
"""

from typing import Any

import orjson

from kohort.apis.api import Settings, Snapshot, StoredRevision, UserVerbs
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.revision import find_template
from kohort.apis.modelserving.spec import ROLE_ROLLING, at_revision, read_spec, roles_of
from kohort.apis.user_edits import HELD, RESTARTED, put_at
from kohort.cluster.objects import Object, annotations_of, uid_of

_TEMPLATES = ("entryTemplate", "workerTemplate")


def _role_of(index: int) -> str:
    return "entry" if index == 0 else "worker"


def _carrier_of(serving: Object, settings: Settings) -> str:
    return "pods"


def _list_revisions(snapshot: Snapshot) -> tuple[StoredRevision, ...]:
    uid, found = uid_of(snapshot.root), []
    for stored in snapshot.all(labels.CONTROLLER_REVISION):
        template = find_template(stored.decode()) if stored.metadata.controller == uid else None
        if template is not None:
            found.append(
                StoredRevision(
                    number=template.number,
                    key=template.revision,
                    name=stored.metadata.name,
                    created=stored.metadata.creation_timestamp or "",
                    content={"roles": template.roles},
                    has_served=labels.SERVED in stored.metadata.annotations,
                )
            )
    return tuple(sorted(found, key=lambda revision: revision.number))


def _go_back(serving: Object, revision: StoredRevision) -> Object:
    """The roles of a revision, with the counts of now: an undo scales nothing."""
    counts = {role.get("name"): role.get("replicas") for role in roles_of(serving)}
    roles = [
        {**role, "replicas": counts.get(role.get("name"), role.get("replicas", 1))}
        for role in revision.content["roles"]
    ]
    return at_revision(serving, roles)


def _restart(serving: Object, now: str) -> Object:
    roles = []
    for role in roles_of(serving):
        stamped = {
            part: put_at(role[part], now, "metadata", "annotations", RESTARTED)
            for part in _TEMPLATES
            if role.get(part)
        }
        roles.append({**role, **stamped})
    return at_revision(serving, roles)


def _hold(serving: Object, boundary: int) -> Object:
    if read_spec(serving).rollout == ROLE_ROLLING:
        held: Any = {role["name"]: role.get("partition") for role in roles_of(serving)}
        roles = [{**role, "partition": role.get("replicas", 1)} for role in roles_of(serving)]
        paused = at_revision(serving, roles)
    else:
        rolling = _rolling_of(serving)
        held = rolling.get("partition")
        paused = _set_partition(serving, boundary)
    return put_at(paused, orjson.dumps(held).decode(), "metadata", "annotations", HELD)


def _release(serving: Object) -> Object:
    try:
        held = orjson.loads(annotations_of(serving).get(HELD, "null"))
    except orjson.JSONDecodeError:
        held = None
    others = {key: value for key, value in annotations_of(serving).items() if key != HELD}
    released = put_at(serving, others, "metadata", "annotations")
    if read_spec(serving).rollout == ROLE_ROLLING:
        before = held if isinstance(held, dict) else {}
        roles = [
            _without_none({**r, "partition": before.get(r["name"])}) for r in roles_of(serving)
        ]
        return at_revision(released, roles)
    return _set_partition(released, held)


def _is_held(serving: Object) -> bool:
    return HELD in annotations_of(serving)


def _list_templates(serving: Object) -> dict[str, Object]:
    return {
        f"{role['name']}/{part}": role[part]
        for role in roles_of(serving)
        for part in _TEMPLATES
        if role.get(part)
    }


def _put_template(serving: Object, field: str, template: Object) -> Object:
    name, _, part = field.partition("/")
    roles = [
        {**role, part: template} if role.get("name") == name else role for role in roles_of(serving)
    ]
    return at_revision(serving, roles)


def _rolling_of(serving: Object) -> Object:
    strategy: Object = serving["spec"].get("rolloutStrategy") or {}
    found: Object = strategy.get("rollingUpdateConfiguration") or {}
    return found


def _set_partition(serving: Object, value: Any) -> Object:
    strategy: Object = serving["spec"].get("rolloutStrategy") or {}
    rolling = _without_none({**_rolling_of(serving), "partition": value})
    kind = strategy.get("type") or "ServingGroupRollingUpdate"
    changed = {**strategy, "type": kind, "rollingUpdateConfiguration": rolling}
    return put_at(serving, changed, "spec", "rolloutStrategy")


def _without_none(value: Object) -> Object:
    return {key: inner for key, inner in value.items() if inner is not None}


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
