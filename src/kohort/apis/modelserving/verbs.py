"""
How users see a ModelServing and act on it.

A pause raises the partition to all groups, or in a rollout by role that of each role, and stores
the user's values in an annotation. Roles that roll with their groups are paused with
them.
"""

from functools import partial
from typing import Any

from kohort.apis.api import StoredRevision, UserVerbs
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.revision import find_template
from kohort.apis.modelserving.spec import ROLE_ROLLING, at_revision, read_spec, roles_of
from kohort.apis.user_edits import (
    HELD,
    forget_held,
    list_own_revisions,
    put_at,
    recall_held,
    remember_held,
)
from kohort.cluster.objects import Object, annotations_of

_TEMPLATES = ("entryTemplate", "workerTemplate")
_LIMITS = ("maxUnavailable", "partition")  # of a rollout, which no revision is made of


def _role_of(index: int) -> str:
    return "entry" if index == 0 else "worker"


def _read_revision(revision: Object) -> tuple[int, str, Object] | None:
    template = find_template(revision)
    if template is None:
        return None
    return template.number, template.revision, {"roles": template.roles}


def _list_roles(serving: Object) -> tuple[str, ...]:
    return tuple(str(role["name"]) for role in roles_of(serving))


def _go_back(serving: Object, revision: StoredRevision, role: str) -> Object:
    """
    The roles of a revision, with the current counts, budgets and partitions.

    An undo scales nothing. The partition that a role had when the revision was stored would keep
    what the user wants to go.
    """
    kept = {held.get("name"): held for held in roles_of(serving)}
    counts = {name: held.get("replicas") for name, held in kept.items()}
    then = {
        held.get("name"): {
            **{key: value for key, value in held.items() if key not in _LIMITS},
            **{k: v for k, v in kept.get(held.get("name"), {}).items() if k in _LIMITS},
            "replicas": counts.get(held.get("name"), held.get("replicas", 1)),
        }
        for held in revision.content["roles"]
    }
    if not role:
        return at_revision(serving, list(then.values()))
    return at_revision(serving, list({**kept, role: then.get(role, kept[role])}.values()))


def _hold(serving: Object, boundary: int, role: str) -> Object:
    if not _rolls_by_role(serving):
        paused = _set_partition(serving, boundary)
        return remember_held(paused, _rolling_of(serving).get("partition"))
    held, roles = _recall_roles(serving), []
    for own in roles_of(serving):
        is_meant = role in ("", own["name"]) and own["name"] not in held
        if is_meant:
            held[own["name"]] = own.get("partition")
        roles.append({**own, "partition": own.get("replicas", 1)} if is_meant else own)
    return remember_held(at_revision(serving, roles), held)


def _release(serving: Object, role: str) -> Object:
    if not _rolls_by_role(serving):
        return _set_partition(forget_held(serving), recall_held(serving))
    held = _recall_roles(serving)
    roles = [
        _without_none({**own, "partition": held.pop(own["name"])})
        if role in ("", own["name"]) and own["name"] in held
        else own
        for own in roles_of(serving)
    ]
    released = at_revision(serving, roles)
    return remember_held(released, held) if role and held else forget_held(released)


def _finish(serving: Object, role: str) -> Object:
    if not _rolls_by_role(serving):
        return _set_partition(forget_held(serving), None)
    roles = [
        {key: value for key, value in own.items() if key != "partition"}
        if role in ("", own["name"])
        else own
        for own in roles_of(serving)
    ]
    held = {name: kept for name, kept in _recall_roles(serving).items() if role not in ("", name)}
    finished = at_revision(serving, roles)
    return remember_held(finished, held) if held else forget_held(finished)


def _rolls_by_role(serving: Object) -> bool:
    return read_spec(serving).rollout == ROLE_ROLLING


def _recall_roles(serving: Object) -> dict[str, Any]:
    """The partitions that roles had before the pause, by role name."""
    held = recall_held(serving)
    return dict(held) if isinstance(held, dict) else {}


def _list_held(serving: Object) -> tuple[str, ...]:
    if HELD not in annotations_of(serving):
        return ()
    return tuple(_recall_roles(serving)) or ("",)


def _list_templates(serving: Object, role: str) -> dict[str, Object]:
    return {
        f"{own['name']}/{part}": own[part]
        for own in roles_of(serving)
        for part in _TEMPLATES
        if own.get(part) and role in ("", own["name"])
    }


def _count_pods(serving: Object, role: str) -> dict[str, int]:
    sizes = {own.name: own.size for own in read_spec(serving).roles}
    return {
        field: 1 if field.endswith(f"/{_TEMPLATES[0]}") else sizes[field.partition("/")[0]] - 1
        for field in _list_templates(serving, role)
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
    list_revisions=partial(list_own_revisions, served=labels.SERVED, read=_read_revision),
    go_back=_go_back,
    hold=_hold,
    release=_release,
    finish=_finish,
    list_held=_list_held,
    list_templates=_list_templates,
    put_template=_put_template,
    count_pods=_count_pods,
    list_roles=_list_roles,
)
