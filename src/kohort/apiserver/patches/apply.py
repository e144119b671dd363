"""
Server-side apply: the server merges a manager's configuration, and updates managedFields.

The configuration is merged over the live object. What the manager applied last
time and leaves out now goes, unless another manager owns it. A field that another
manager owns and that would change is a conflict; with ``force`` the field changes
its owner instead. Two managers that apply the same value share the field.

Defaults are the caller's: they are filled in after this, and have no owner.
"""

from typing import Any

import orjson

from kohort.apiserver.patches.apply_merge import merge_config, take_out
from kohort.apiserver.patches.comparison import compare_objects, list_config
from kohort.apiserver.patches.conformity import find_misfits
from kohort.apiserver.patches.elements import UnnamedEntry, spell_path
from kohort.apiserver.patches.fieldsets import (
    Fields,
    difference,
    intersection,
    list_members,
    remove_below,
    union,
)
from kohort.apiserver.patches.ownership import (
    APPLY,
    UPDATE,
    Changes,
    ManagedFieldsEntry,
    Manager,
    Views,
    identify,
    list_entries,
    make_entry,
    record_update,
    sort_entries,
    strip_untracked,
    track_update,
    write_entries,
)
from kohort.apiserver.schemas.shapes import Shape
from kohort.cluster.errors import BadRequest, Conflict
from kohort.cluster.go_values import PatchFailed
from kohort.cluster.objects import Object, annotations_of, name_of, namespace_of

BEFORE_FIRST_APPLY = "before-first-apply"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ANNOTATIONS_BYTES_MAX = 256 * 1024

__all__ = ["Manager", "apply_patch", "track_update"]


def apply_patch(
    live: Object | None, config: Object, shape: Shape, manager: Manager, *, force: bool = False
) -> Object:
    """
    The object after a manager applied a configuration; it is new if live is None.

    The result is live itself if nothing changes, not even who owns what.
    """
    _check_config(config, shape)
    try:
        return _apply(live, config, shape, manager, force=force)
    except UnnamedEntry as error:
        raise _unfit(config, str(error)) from error


def _apply(
    live: Object | None, config: Object, shape: Shape, manager: Manager, *, force: bool
) -> Object:
    entries = list_entries(live)
    if live is not None and not entries:
        before = Manager(BEFORE_FIRST_APPLY, manager.api_version, manager.time, "", manager.ignored)
        entries = record_update([], {}, live, shape, before)
    merged, owners = _merge(live or {}, config, shape, manager, entries)
    changes = Changes(live or {}, merged, shape, manager)
    conflicts = _find_conflicts(owners, changes)
    if conflicts and manager.name == "kubectl":
        conflicts = _excuse_client_side(conflicts, live or {}, config, shape)
    if conflicts and not force:
        raise _refuse(conflicts)
    if live is None or merged != live:
        owners[0] = make_entry(manager, APPLY, owners[0]["fieldsV1"], manager.time)
    if manager.name == "kubectl":
        merged = _renew_annotation(merged, config)
    return _write(live, merged, _reduce(owners, changes))


def _check_config(config: Object, shape: Shape) -> None:
    metadata = config.get("metadata") or {}
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    misfits = find_misfits(config, shape)
    if misfits:
        raise _unfit(config, misfits)


def _unfit(config: Object, why: str) -> PatchFailed:
    metadata = config.get("metadata")
    named = {"metadata": metadata if isinstance(metadata, dict) else {}}
    where = f"{namespace_of(named)}/{name_of(named)}"
    version = config.get("apiVersion", "")
    kind = f"{version if '/' in version else '/' + version}, Kind={config.get('kind', '')}"
    return PatchFailed(f"failed to create typed patch object ({where}; {kind}): {why}")


def _merge(
    live: Object, config: Object, shape: Shape, manager: Manager, entries: list[ManagedFieldsEntry]
) -> tuple[Object, list[ManagedFieldsEntry]]:
    """The merged object, and the entries with the manager's new claim in its place."""
    wanted = remove_below(list_config(config, shape), manager.ignored)
    claim = make_entry(manager, APPLY, strip_untracked(wanted), "")
    name = identify(claim)
    last: ManagedFieldsEntry | None = None
    others: list[ManagedFieldsEntry] = []
    for entry in entries:
        if identify(entry) == name:
            last = entry
        else:
            others.append(entry)
    if last is not None and last.get("time"):
        claim = make_entry(manager, APPLY, claim["fieldsV1"], last["time"])
    merged = merge_config(live, config, shape)
    if last is not None:
        # The configuration's name and version keep their parent fields owned, too.
        owned: dict[str, Fields] = {manager.api_version: wanted}
        for entry in others:
            version = entry["apiVersion"] if manager.views else manager.api_version
            owned[version] = union(owned.get(version, {}), entry["fieldsV1"])
        merged = _take_out(merged, last, owned, shape, manager)
    return merged, [claim, *others]


def _take_out(
    merged: Object,
    last: ManagedFieldsEntry,
    owned: dict[str, Fields],
    shape: Shape,
    manager: Manager,
) -> Object:
    """The object without fields no longer applied, compared in the version of the last apply."""
    version, views = last["apiVersion"], manager.views
    if views is None or (version == manager.api_version and len(owned) == 1):
        return take_out(merged, last["fieldsV1"], owned[manager.api_version], shape)
    whole = views.see(merged, version)
    if whole is None:
        return merged
    # Metadata is the same in every version, and the configuration keeps what it names there.
    names = {"f:metadata": owned[manager.api_version].get("f:metadata") or {"f:name": {}}}
    kept = union(owned.get(version, {}), names)
    rest = take_out(whole, last["fieldsV1"], kept, views.shape_of(version))
    for other in owned.keys() - {version}:
        rest = _give_back(whole, rest, other, union(owned[other], names), views) or rest
    return views.see(rest, manager.api_version) or merged


def _give_back(
    whole: Object, rest: Object, version: str, owned: Fields, views: Views
) -> Object | None:
    """The rest with fields restored that managers of another version own; None if none was lost."""
    before, after = views.see(whole, version), views.see(rest, version)
    if before is None or after is None:
        return None
    shape = views.shape_of(version)
    _, removed = compare_objects(before, after, shape)
    if not intersection(removed, owned):
        return None
    return views.see(take_out(before, removed, owned, shape), whole["apiVersion"])


def _find_conflicts(
    owners: list[ManagedFieldsEntry], changes: Changes
) -> list[tuple[ManagedFieldsEntry, Fields]]:
    pairs = ((entry, changes.find(entry)) for entry in owners[1:])
    overlaps = ((e, intersection(e["fieldsV1"], found[0])) for e, found in pairs if found)
    return [(entry, fields) for entry, fields in overlaps if fields]


def _refuse(conflicts: list[tuple[ManagedFieldsEntry, Fields]]) -> Conflict:
    conflicts.sort(key=lambda conflict: orjson.dumps(identify(conflict[0])))
    causes = []
    lines = []
    for entry, fields in conflicts:
        who = _describe(entry)
        lines.append(f"conflicts with {who}:")
        for path in map(spell_path, list_members(fields)):
            lines.append(f"- {path}")
            cause = {"reason": "FieldManagerConflict", "message": f"conflict with {who}"}
            causes.append({**cause, "field": path})
    if len(causes) == 1:
        text = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        text = f"{len(causes)} conflicts: " + "\n".join(lines)
    return Conflict(f"Apply failed with {text}", details={"causes": causes})


def _describe(entry: ManagedFieldsEntry) -> str:
    text = orjson.dumps(entry.get("manager", "")).decode()
    if entry.get("subresource"):
        text += f' with subresource "{entry["subresource"]}"'
    return f"{text} using {entry['apiVersion']}" if entry["operation"] == UPDATE else text


def _reduce(owners: list[ManagedFieldsEntry], changes: Changes) -> list[ManagedFieldsEntry]:
    """The applier's entry, and the other entries without the fields that they lost."""
    kept = [owners[0]] if owners[0]["fieldsV1"] else []
    for entry in owners[1:]:
        rest = changes.reduce(entry)
        if rest is not None:
            kept.append(rest)
    return sort_entries(kept)


def _write(live: Object | None, merged: Object, entries: list[ManagedFieldsEntry]) -> Object:
    if live is not None and merged == live and entries == list_entries(live):
        return live
    result = dict(merged)
    write_entries(result, entries)
    return result


def _excuse_client_side(
    conflicts: list[tuple[ManagedFieldsEntry, Fields]], live: Object, config: Object, shape: Shape
) -> list[tuple[ManagedFieldsEntry, Fields]]:
    """
    The conflicts without the fields that kubectl applied on the client before.

    The annotation of a client-side apply names the fields that kubectl set. Those that still
    have the value there are kubectl's own, whichever manager is recorded for them, and cause
    no conflict.
    """
    applied = _read_annotation(live, config.get("apiVersion"))
    if applied is None:
        return conflicts
    try:
        changed, removed = compare_objects(applied, live, shape)
        still = difference(difference(list_config(applied, shape), changed), removed)
    except UnnamedEntry:
        return conflicts
    rest = ((entry, difference(fields, still)) for entry, fields in conflicts)
    return [(entry, fields) for entry, fields in rest if fields]


def _read_annotation(obj: Object, api_version: Any) -> Object | None:
    try:
        applied = orjson.loads(annotations_of(obj).get(LAST_APPLIED) or "null")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(applied, dict) or applied.get("apiVersion") != api_version:
        return None
    return applied


def _renew_annotation(obj: Object, config: Object) -> Object:
    """Keep the annotation of a client-side apply in step, if there is one."""
    annotations = annotations_of(obj)
    if not annotations.get(LAST_APPLIED):
        return obj
    metadata = dict(config.get("metadata") or {})
    if "annotations" in metadata:
        given = metadata["annotations"] or {}
        metadata["annotations"] = {k: v for k, v in given.items() if k != LAST_APPLIED}
    bare = {**config, "metadata": metadata}
    text = orjson.dumps(bare, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    renewed = {**annotations, LAST_APPLIED: text}
    if sum(len(k.encode()) + len(v.encode()) for k, v in renewed.items()) > ANNOTATIONS_BYTES_MAX:
        del renewed[LAST_APPLIED]
    return {**obj, "metadata": {**obj["metadata"], "annotations": renewed}}
