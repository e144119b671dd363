"""
RoleBasedGroup and its set between v1alpha1 and v1alpha2, without loss.

The gang policy and the coordination of v1alpha1 become JSON annotations in v1alpha2, as upstream
has it, beside the live annotations that the operator reads. Fields that upstream loses travel in
annotations of ours, one for each direction. In v1alpha1 we remove a live annotation only if the
JSON implies exactly its value; upstream removes the user's own, too, so that a client which reads
and writes v1alpha1 turns gangs off. An edit wins in whichever version the client made it.
"""

from collections.abc import Callable
from typing import Any

import orjson

from kohort.apis.conversion import ConversionError
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.role_conversion import (
    carry_new,
    carry_old,
    downgrade_role,
    hash_value,
    upgrade_role,
)
from kohort.apis.rolebasedgroup.roles import as_list, as_map, as_objects
from kohort.apis.rolebasedgroup.spec import GANG_TIMEOUT_SECONDS
from kohort.cluster.objects import Object, annotations_of, metadata_of

_ROLES, _NOTES, _TEMPLATE, _LIVE = "roles", "annotations", "groupTemplate", "live"
_TWINS = {"podGroupPolicy": labels.OLD_GANG_POLICY, "coordination": labels.OLD_COORDINATION}


def convert(obj: Object, version: str) -> Object:
    """An object in another version; kinds that are equal in both only change ``apiVersion``."""
    kind = str(obj.get("kind", ""))
    forms: dict[tuple[str, str], Callable[[Object], Object]] = {
        (labels.KIND.name, labels.VERSION): upgrade_group,
        (labels.KIND.name, labels.OLD_VERSION): downgrade_group,
        (labels.SET_KIND.name, labels.VERSION): upgrade_set,
        (labels.SET_KIND.name, labels.OLD_VERSION): downgrade_set,
    }
    if (kind, version) in forms:
        converted = forms[kind, version](obj)
    elif kind in (labels.ADAPTER.name, labels.PROFILE.name):
        converted = obj
    else:
        raise ConversionError(f"{kind} has no version {version}")
    return {**converted, "apiVersion": f"{labels.GROUP}/{version}"}


def upgrade_group(old: Object) -> Object:
    """A RoleBasedGroup of v1alpha1 in v1alpha2."""
    return _carry(old, _upgrade_group(old), _downgrade_group, labels.OLD_KEPT_FIELDS)


def downgrade_group(new: Object) -> Object:
    """A RoleBasedGroup of v1alpha2 in v1alpha1."""
    return _carry(new, _downgrade_group(new), _upgrade_group, labels.KEPT_FIELDS)


def upgrade_set(old: Object) -> Object:
    """A RoleBasedGroupSet of v1alpha1 in v1alpha2, its template with the live annotations, too."""
    return _carry(old, _upgrade_set(old), _downgrade_set, labels.OLD_KEPT_FIELDS)


def downgrade_set(new: Object) -> Object:
    """A RoleBasedGroupSet of v1alpha2 in v1alpha1."""
    return _carry(new, _downgrade_set(new), _upgrade_set, labels.KEPT_FIELDS)


def _upgrade_group(old: Object) -> Object:
    spec, notes, _ = _upgrade(old, as_map(old.get("spec")))
    return _replace(old, notes, spec)


def _downgrade_group(new: Object) -> Object:
    spec, notes = _downgrade(new, as_map(new.get("spec")))
    return _replace(new, notes, spec)


def _upgrade_set(old: Object) -> Object:
    spec = as_map(old.get("spec"))
    inner, notes, live = _upgrade(old, as_map(spec.get("template")))
    kept = as_map(_read_kept(old, labels.KEPT_FIELDS).get(_TEMPLATE))
    template: Object = dict(as_map(kept.get("value")))
    if kept.get("of") != _hash_seen(old):
        former = as_list(kept.get(_LIVE))
        given = {**_without(as_map(template.pop(_NOTES, None)), *former), **live}
        template |= {_NOTES: given} if given else {}
    template["spec"] = inner
    return _replace(old, notes, {**_without(spec, "template"), "groupTemplate": template})


def _downgrade_set(new: Object) -> Object:
    spec = as_map(new.get("spec"))
    inner, notes = _downgrade(new, as_map(as_map(spec.get("groupTemplate")).get("spec")))
    return _replace(new, notes, {**_without(spec, "groupTemplate"), "template": inner})


def _upgrade(old: Object, inner: Object) -> tuple[Object, Object, Object]:
    """The spec and annotations in v1alpha2, and the annotations that each group of a set needs."""
    notes = _visible_notes(old)
    kept = _read_kept(old, labels.KEPT_FIELDS)
    implied = _list_implied(inner, notes)
    for field, twin in _TWINS.items():
        if field in inner:
            notes[twin] = _write(inner[field])
    for key, value in implied.items():
        notes.setdefault(key, value)
    _apply_edits(notes, kept, old)
    roles, carried = _convert_roles(inner, kept, upgrade_role, carry_old)
    live = {**implied, **{k: v for k, v in notes.items() if k == labels.OLD_COORDINATION}}
    return (
        {**_without(inner, *_TWINS), **roles},
        _add_kept(notes, carried, labels.OLD_KEPT_FIELDS),
        live,
    )


def _downgrade(new: Object, inner: Object) -> tuple[Object, Object]:
    """The spec and the annotations in v1alpha1."""
    notes = _visible_notes(new)
    kept = _read_kept(new, labels.OLD_KEPT_FIELDS)
    spec: Object = dict(inner)
    for field, twin in _TWINS.items():
        found = _read(notes.get(twin, ""))
        # Clients with types of their own could read no list that has a field of another type.
        if _fits(field, found):
            spec[field] = found
            del notes[twin]
    for key, value in _list_implied(spec, notes).items():
        if notes.get(key) == value:
            del notes[key]
    _apply_edits(notes, kept, new)
    roles, carried = _convert_roles(inner, kept, downgrade_role, carry_new)
    return {**spec, **roles}, _add_kept(notes, carried, labels.KEPT_FIELDS)


def _fits(field: str, value: Any) -> bool:
    """Whether a value has the form of its field in v1alpha1: an object, or a list of objects."""
    if field == "coordination":
        return isinstance(value, list) and len(as_objects(value)) == len(value)
    return isinstance(value, dict)


def _convert_roles(
    inner: Object,
    kept: Object,
    change: Callable[[Object, Object], Object],
    carry: Callable[[Object, Object], Object],
) -> tuple[Object, Object]:
    """The roles in the other version, and the fields it lacks, which an annotation carries."""
    if "roles" not in inner:
        return {}, {}
    known, moved, carried = as_map(kept.get(_ROLES)), [], {}
    for role in as_objects(inner["roles"]):
        name = str(role.get("name"))
        moved.append(change(role, as_map(known.get(name))))
        needed = carry(role, moved[-1])
        if needed:
            carried[name] = needed
    return {"roles": moved}, {_ROLES: carried} if carried else {}


def _carry(source: Object, made: Object, back: Callable[[Object], Object], key: str) -> Object:
    """The converted object, annotated with all that converting it back would lose."""
    again = back(made)
    kept = _read_kept(made, key)
    wanted, found = _visible_notes(source), _visible_notes(again)
    if wanted != found:
        changes: Object = {k: v for k, v in wanted.items() if found.get(k) != v}
        changes |= {name: None for name in found if name not in wanted}
        kept = {**kept, _NOTES: {"of": _hash_seen(made), "set": changes}}
    given, template = _template_of(source), _template_of(again)
    if given != template:
        live = sorted(as_map(template.get(_NOTES)))  # which go with the fields that imply them
        kept = {**kept, _TEMPLATE: {"of": _hash_seen(made), "value": given, _LIVE: live}}
    notes = _without(annotations_of(made), key)
    return _replace(made, _add_kept(notes, kept, key), as_map(made.get("spec")))


def _template_of(obj: Object) -> Object:
    return _without(as_map(as_map(obj.get("spec")).get("groupTemplate")), "spec")


def _add_kept(notes: Object, kept: Object, key: str) -> Object:
    return {**notes, key: _write(kept)} if kept else notes


def _visible_notes(obj: Object) -> Object:
    return _without(annotations_of(obj), labels.KEPT_FIELDS, labels.OLD_KEPT_FIELDS)


def _list_implied(spec: Object, notes: Object) -> dict[str, str]:
    """The live annotations that v1alpha1's ``podGroupPolicy`` and old topology key imply."""
    implied: dict[str, str] = {}
    policy = spec.get("podGroupPolicy")
    if isinstance(policy, dict):
        implied[labels.GANG] = "true"
        plugins, volcano = policy.get("kubeScheduling"), as_map(policy.get("volcanoScheduling"))
        if isinstance(plugins, dict):
            seconds = plugins.get("scheduleTimeoutSeconds", GANG_TIMEOUT_SECONDS)
            implied[labels.GANG_TIMEOUT] = str(seconds)
        if volcano.get("queue"):
            implied[labels.GANG_QUEUE] = str(volcano["queue"])
        if volcano.get("priorityClassName"):
            implied[labels.GANG_PRIORITY] = str(volcano["priorityClassName"])
    if labels.OLD_EXCLUSIVE_TOPOLOGY in notes:
        implied[labels.EXCLUSIVE_TOPOLOGY] = notes[labels.OLD_EXCLUSIVE_TOPOLOGY]
    return implied


def _hash_seen(obj: Object) -> str:
    """A hash of the annotations and fields that a client may edit; equal in both versions."""
    spec = as_map(obj.get("spec"))
    inner = spec.get("template") or spec
    return hash_value([_visible_notes(obj), *(as_map(inner).get(field) for field in _TWINS)])


def _apply_edits(notes: Object, kept: Object, obj: Object) -> None:
    edits = as_map(kept.get(_NOTES))
    if edits.get("of") != _hash_seen(obj):
        return
    for key, value in as_map(edits.get("set")).items():
        if value is None:
            notes.pop(key, None)
        elif isinstance(value, str):  # the API server fails a whole list for any other value
            notes[key] = value


def _replace(obj: Object, notes: Object, spec: Object) -> Object:
    metadata = _without(metadata_of(obj), "annotations")
    if notes:
        metadata["annotations"] = notes
    return {**obj, "metadata": metadata, "spec": spec}


def _without(obj: Object, *names: str) -> Object:
    return {key: value for key, value in obj.items() if key not in names}


def _read_kept(obj: Object, key: str) -> Object:
    return as_map(_read(annotations_of(obj).get(key, "")))


def _read(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _write(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
