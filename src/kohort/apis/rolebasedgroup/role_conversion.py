"""
Conversion of one role between v1alpha1 and v1alpha2, and the fields that the other version lacks.

Conversion moves a role field by field, as upstream does. Fields that v1alpha1 lacks travel in an
annotation: pod management order, restart delays, labels of adapters and components. Defaults are
left out, so most objects need no annotation. If a role has a form that this module does not expect,
the annotation holds the whole role and a hash of the result, and counts until a client edits the
result. A client's edit of a visible field wins over the annotation.
"""

from copy import deepcopy
from hashlib import sha1
from typing import Any

import orjson

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import BASE_DELAY_SECONDS, MAX_DELAY_SECONDS, PARALLEL, as_map
from kohort.apis.rolebasedgroup.roles import as_objects as _as_objects
from kohort.cluster.objects import Object

_ONLY_OLD = (
    "workload",
    "template",
    "templateRef",
    "templatePatch",
    "leaderWorkerSet",
    "components",
    "restartPolicy",
)
_ONLY_NEW = (
    "podManagementPolicy",
    "standalonePattern",
    "leaderWorkerPattern",
    "customComponentsPattern",
)
_OWN_SET = {"apiVersion": labels.INSTANCE_SET.api_version, "kind": labels.INSTANCE_SET.name}
_PATCHES = {
    "patchLeaderTemplate": "leaderTemplatePatch",
    "patchWorkerTemplate": "workerTemplatePatch",
}
_WHOLE, _OF = "whole", "of"


def upgrade_role(old: Object, carried: Object) -> Object:
    """A role of v1alpha1 in v1alpha2, with the fields that the annotation holds for it."""
    if _WHOLE in carried:
        whole = _find_whole(old, carried)
        return _upgrade(old, {}) if whole is None else whole
    return _upgrade(old, carried)


def downgrade_role(new: Object, carried: Object) -> Object:
    """A role of v1alpha2 in v1alpha1, with the fields that the annotation holds for it."""
    whole = _find_whole(new, carried)
    return _downgrade(new) if whole is None else whole


def _find_whole(role: Object, carried: Object) -> Object | None:
    """The whole role that the annotation holds for an unchanged one, if it is one of that name."""
    whole = carried.get(_WHOLE)
    if not isinstance(whole, dict) or whole.get("name") != role.get("name"):
        return None
    return deepcopy(whole) if carried.get(_OF) == hash_value(role) else None


def carry_new(new: Object, old: Object) -> Object:
    """The fields to keep in an annotation so that v1alpha1 converts back to the same v1alpha2."""
    carried = _list_carried(new)
    if _upgrade(old, carried) == new:
        return carried
    return {_WHOLE: new, _OF: hash_value(old)}


def carry_old(old: Object, new: Object) -> Object:
    """The fields to keep in an annotation so that v1alpha2 converts back to the same v1alpha1."""
    return {} if _downgrade(new) == old else {_WHOLE: old, _OF: hash_value(new)}


def hash_value(value: Any) -> str:
    """A hash by which an edit of a value is noticed."""
    data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return sha1(data, usedforsecurity=False).hexdigest()


def _upgrade(old: Object, carried: Object) -> Object:
    new = deepcopy({key: value for key, value in old.items() if key not in _ONLY_OLD})
    _upgrade_workload(new, old, carried)
    if "podManagementPolicy" not in carried:
        new["podManagementPolicy"] = PARALLEL
    elif carried["podManagementPolicy"] is not None:
        new["podManagementPolicy"] = carried["podManagementPolicy"]
    adapter = new.get("scalingAdapter")
    if isinstance(adapter, dict) and "adapterLabels" in carried:
        adapter["labels"] = deepcopy(carried["adapterLabels"])
    pattern, name = _upgrade_pattern(old, carried)
    new[name] = pattern
    return new


def _upgrade_workload(new: Object, old: Object, carried: Object) -> None:
    workload = as_map(old.get("workload"))
    version, kind = workload.get("apiVersion"), workload.get("kind")
    is_implied = workload == _OWN_SET and not carried.get("namesWorkload")
    if version and kind and not is_implied:
        noted = {**as_map(new.get("annotations")), labels.WORKLOAD_TYPE: f"{version}/{kind}"}
        new["annotations"] = noted


def _upgrade_pattern(old: Object, carried: Object) -> tuple[Object, str]:
    pair = old.get("leaderWorkerSet")
    source = _upgrade_source(old)
    if isinstance(pair, dict):
        moved = {_PATCHES.get(str(k), str(k)): deepcopy(held) for k, held in pair.items()}
        if "sharedServiceSelection" in carried:
            moved["sharedServiceSelection"] = carried["sharedServiceSelection"]
        return {**moved, **source, **_upgrade_restart(old, carried)}, "leaderWorkerPattern"
    if old.get("components"):
        listed = [_upgrade_component(each, carried) for each in _as_objects(old["components"])]
        restart = _upgrade_restart(old, carried)
        return {"components": listed, **restart}, "customComponentsPattern"
    return source, "standalonePattern"


def _upgrade_source(old: Object) -> Object:
    source: Object = {}
    if "template" in old:
        source["template"] = deepcopy(old["template"])
    reference = old.get("templateRef")
    if isinstance(reference, dict):
        moved = deepcopy(reference)
        if "templatePatch" in old:
            moved["patch"] = deepcopy(old["templatePatch"])
        source["templateRef"] = moved
    return source


def _upgrade_restart(old: Object, carried: Object) -> Object:
    kind = old.get("restartPolicy")
    kept = as_map(carried.get("restart"))
    if kept and kind == _raw_type(kept):
        return deepcopy(kept)
    delays: Object = {
        "baseDelaySeconds": BASE_DELAY_SECONDS,
        "maxDelaySeconds": MAX_DELAY_SECONDS,
        **as_map(kept.get("restartPolicyConfig")),
    }
    delays.pop("type", None)
    return {"restartPolicyConfig": {"type": kind, **delays}} if kind else {}


def _upgrade_component(component: Object, carried: Object) -> Object:
    more = as_map(as_map(carried.get("components")).get(str(component.get("name"))))
    return {**deepcopy(component), **deepcopy(more)}


def _downgrade(new: Object) -> Object:
    old = deepcopy({key: value for key, value in new.items() if key not in _ONLY_NEW})
    _downgrade_workload(old)
    adapter = old.get("scalingAdapter")
    if isinstance(adapter, dict):
        adapter.pop("labels", None)
    if isinstance(new.get("leaderWorkerPattern"), dict):
        _downgrade_pair(old, new["leaderWorkerPattern"])
    elif isinstance(new.get("customComponentsPattern"), dict):
        pattern = new["customComponentsPattern"]
        dropped = ("labels", "annotations")
        old["components"] = [
            deepcopy({key: value for key, value in each.items() if key not in dropped})
            for each in _as_objects(pattern.get("components"))
        ]
        _downgrade_restart(old, pattern)
    else:
        _downgrade_source(old, as_map(new.get("standalonePattern")))
    return old


def _downgrade_workload(old: Object) -> None:
    notes = as_map(old.get("annotations"))
    version, _, kind = str(notes.pop(labels.WORKLOAD_TYPE, "")).rpartition("/")
    if not notes:
        old.pop("annotations", None)
    old["workload"] = {"apiVersion": version, "kind": kind} if version and kind else dict(_OWN_SET)


def _downgrade_pair(old: Object, pattern: Object) -> None:
    names = {new: old_name for old_name, new in _PATCHES.items()}
    pair = {}
    for key in ("size", *names):
        if key in pattern:
            pair[names.get(key, key)] = deepcopy(pattern[key])
    old["leaderWorkerSet"] = pair
    _downgrade_source(old, pattern)
    _downgrade_restart(old, pattern)


def _downgrade_source(old: Object, pattern: Object) -> None:
    if "template" in pattern:
        old["template"] = deepcopy(pattern["template"])
    reference = pattern.get("templateRef")
    if isinstance(reference, dict):
        moved = deepcopy(reference)
        if "patch" in moved:
            old["templatePatch"] = moved.pop("patch")
        old["templateRef"] = moved


def _downgrade_restart(old: Object, pattern: Object) -> None:
    kind = _raw_type(pattern)
    if kind:
        old["restartPolicy"] = kind


def _raw_type(pattern: Object) -> Any:
    return as_map(pattern.get("restartPolicyConfig")).get("type") or pattern.get("restartPolicy")


def _list_carried(new: Object) -> Object:
    carried: Object = {}
    if new.get("podManagementPolicy") != PARALLEL:
        carried["podManagementPolicy"] = new.get("podManagementPolicy")
    marks = as_map(new.get("scalingAdapter")).get("labels")
    if marks is not None:
        carried["adapterLabels"] = marks
    own = f"{_OWN_SET['apiVersion']}/{_OWN_SET['kind']}"
    if as_map(new.get("annotations")).get(labels.WORKLOAD_TYPE) == own:
        carried["namesWorkload"] = True
    pattern = as_map(new.get("leaderWorkerPattern") or new.get("customComponentsPattern"))
    if "sharedServiceSelection" in pattern:
        carried["sharedServiceSelection"] = pattern["sharedServiceSelection"]
    restart = {k: pattern[k] for k in ("restartPolicy", "restartPolicyConfig") if k in pattern}
    if restart and restart != _upgrade_restart({"restartPolicy": _raw_type(pattern)}, {}):
        carried["restart"] = restart
    components = {
        str(each.get("name")): more
        for each in _as_objects(pattern.get("components"))
        if (more := {key: each[key] for key in ("labels", "annotations") if key in each})
    }
    if components:
        carried["components"] = components
    return carried
