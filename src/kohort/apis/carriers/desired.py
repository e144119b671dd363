"""
Objects that should exist, and no others: Services, ConfigMaps, budgets, autoscalers.

Missing objects are created, different ones applied, and those of ours that are no longer
desired deleted by uid. Only fields that we write are compared: defaults of the API server and
fields of other clients stay, but a field that we own and no longer want is removed. An object of
another owner is never touched.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kohort.apis.facts import Whole
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.differences import list_differences
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Address, PatchType


@dataclass(frozen=True, slots=True)
class DesiredObjects:
    """All objects of one kind that a workload should have."""

    kind: Kind
    objects: tuple[Object, ...]
    manager: str  # our field manager
    ignored: tuple[str, ...] = ()  # dotted paths that other clients may set, such as spec.replicas
    # We write numbers of other clients back as we read them: a newer one must make it fail.
    is_guarded: bool = False
    # Field managers of a former controller: we take over their fields before we change them.
    former: tuple[str, ...] = ()
    # Dotted paths of maps that the API server replaces whole, such as spec.selector.
    atomic: tuple[str, ...] = ()
    # Dotted paths of our own marks: to write nothing but these, we take over no fields.
    marks: tuple[str, ...] = ()


def render_desired(
    owner: Object, desired: DesiredObjects, held: Iterable[Whole]
) -> Iterator[Action]:
    """The actions that turn the existing objects into the desired ones."""
    uid, by_name = uid_of(owner), {found.metadata.name: found for found in held}
    wanted = {name_of(obj): obj for obj in desired.objects}
    for name, obj in wanted.items():
        found = by_name.get(name)
        if found is None:
            yield Create(
                desired.kind, namespace_of(obj), obj, f"{desired.kind.name} {name} is missing"
            )
        elif found.metadata.controller == uid and not found.metadata.is_leaving:
            yield from _bring(desired, obj, found.decode())
    for name, found in by_name.items():
        if (
            name not in wanted
            and found.metadata.controller == uid
            and not found.metadata.is_leaving
        ):
            why = f"{desired.kind.name} {name} is wanted no more"
            namespace = found.metadata.namespace
            yield Delete(desired.kind, namespace, name, found.metadata.uid, why=why)


def apply_made(action: Action, manager: str) -> Action:
    """A create turned into an apply, so that the API server records our fields from the start."""
    if not isinstance(action, Create):
        return action
    address = Address(action.kind, action.namespace, name_of(action.obj))
    made = Patch(address, action.obj, PatchType.APPLY, manager, force=True, why=action.why)
    return replace(made, makes=True, then=action.then)


def _bring(desired: DesiredObjects, wanted: Object, found: Object) -> Iterator[Action]:
    differences = find_changes(wanted, found, desired.manager, desired.ignored, desired.atomic)
    if not differences:
        return
    address = Address(desired.kind, namespace_of(wanted), name_of(wanted))
    metadata = {**wanted["metadata"], "uid": uid_of(found)}
    if desired.is_guarded:
        metadata["resourceVersion"] = found["metadata"]["resourceVersion"]
    body = {**wanted, "metadata": metadata}
    why = f"{', '.join(differences[:3])} differ"
    apply = Patch(address, body, PatchType.APPLY, desired.manager, force=True, why=why)
    adoption = [] if set(differences) <= set(desired.marks) else _adopt_fields(desired, found)
    if adoption:
        why = f"fields of {desired.kind.name} {address.name} were a former controller's"
        apply = Patch(address, adoption, PatchType.JSON, desired.manager, why=why, prepares=apply)
    yield apply


def _adopt_fields(desired: DesiredObjects, found: Object) -> list[Object]:
    """
    The patch that makes fields of a former controller ours; empty if it owns none.

    An apply removes only fields that the same manager applied before. Without this patch, a
    variable that the former controller wrote and the user has removed would stay for ever.
    """
    metadata = found["metadata"]
    entries: list[Object] = metadata.get("managedFields") or []
    theirs = [e for e in entries if e.get("manager") in desired.former and not e.get("subresource")]
    if not theirs:
        return []
    ours = [e for e in entries if _is_applied(e, desired.manager)]
    fields: Object = {}
    for entry in (*ours, *theirs):
        fields = _merge_fields(fields, entry.get("fieldsV1") or {})
    whole = {**theirs[0], "manager": desired.manager, "operation": "Apply", "fieldsV1": fields}
    kept = [e for e in entries if e not in theirs and e not in ours]
    return [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": [*kept, whole]},
    ]


def _is_applied(entry: Object, manager: str) -> bool:
    return entry.get("manager") == manager and entry.get("operation") == "Apply"


def _merge_fields(one: Object, other: Object) -> Object:
    merged = dict(one)
    for key, below in other.items():
        held = merged.get(key)
        is_nested = isinstance(held, dict) and isinstance(below, dict)
        merged[key] = _merge_fields(held, below) if is_nested else below  # type: ignore[arg-type]
    return merged


def find_changes(
    wanted: Object,
    found: Object,
    manager: str,
    ignored: tuple[str, ...] = (),
    atomic: tuple[str, ...] = (),
) -> list[str]:
    """The paths that an apply would change, as far as we can tell before it."""
    owned = _find_owned(found, manager)
    dropped = (".".join(names) for names in _find_dropped((), wanted, owned))
    compared = (*_list_changed(wanted, found, atomic), *dropped)
    paths = dict.fromkeys(compared)
    return [path for path in paths if not path.startswith(ignored)] if ignored else list(paths)


def has_changed(wanted: Any, found: Any) -> bool:
    """Whether a stored field lacks what is wanted; where nothing is, it should be empty."""
    if wanted is None:
        return found not in (None, "", [], {})
    return any(True for _ in _list_changed(wanted, found))


def _list_changed(wanted: Any, found: Any, atomic: tuple[str, ...] = ()) -> Iterator[str]:
    for path, ours, theirs in list_differences(wanted, found, atomic=atomic):
        if not (ours in ({}, [], None) and not theirs):
            yield path


def _find_owned(found: Object, manager: str) -> Object:
    entries = found["metadata"].get("managedFields") or ()
    for entry in entries:
        if _is_applied(entry, manager):
            fields: Object = entry.get("fieldsV1") or {}
            return fields
    return {}


def list_owners(found: Object, *names: str) -> list[str]:
    """The field managers that own the field at the end of these names."""
    owners = []
    for entry in found["metadata"].get("managedFields") or ():
        fields: Any = entry.get("fieldsV1") or {}
        for name in names:
            fields = fields.get(f"f:{name}") if isinstance(fields, dict) else None
        if fields is not None:
            owners.append(str(entry.get("manager")))
    return owners


def find_dropped(wanted: Object, found: Object, manager: str) -> Iterator[tuple[str, ...]]:
    """The fields that an apply would remove, each as the names on the way to it."""
    return _find_dropped((), wanted, _find_owned(found, manager))


def _find_dropped(
    path: tuple[str, ...], wanted: Object, owned: Object
) -> Iterator[tuple[str, ...]]:
    """Fields that we applied last time and that the desired object no longer has."""
    for key, below in owned.items():
        if not key.startswith("f:") or (path == ("metadata",) and key in ("f:uid",)):
            continue
        name = key[2:]
        if name not in wanted:
            yield (*path, name)
        elif isinstance(wanted[name], dict) and isinstance(below, dict):
            yield from _find_dropped((*path, name), wanted[name], below)
