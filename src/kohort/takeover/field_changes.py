"""
Which fields an action would change in the object as it is stored; pure.

A path is written as people write it, with the name of an item where items have names:
``spec.template.spec.containers[engine].image``. Preconditions are no changes, and neither is the
removal of a default, which the API server sets again. Values of variables are not shown, since they
may be secret.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.apis.carriers.desired import find_dropped
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Kind, Object, metadata_of
from kohort.cluster.port import PatchType

_PRECONDITIONS = ("metadata.uid", "metadata.resourceVersion")
_SHOWN_MAX = 60
# Defaults that we do not write. The API server counts them among the fields of the client that
# created the object, so they are in what we take over from a former controller.
_DEFAULTS = {
    SERVICE: {"spec.internalTrafficPolicy": "Cluster", "spec.sessionAffinity": "None"},
}
_TEMPLATES = ("template", "Template", "roles", "components")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field, and its values as texts; a value that is too long or may be secret is empty."""

    path: str
    old: str = ""
    new: str = ""


def list_changes(action: Action, live: Object) -> tuple[FieldChange, ...]:
    """The fields that a patch would change; a create or a delete is about the whole object."""
    if isinstance(action, Create | Delete):
        return ()
    if isinstance(action.patch, list):
        written = [change for change in action.patch if change["op"] != "test"]
        found = [FieldChange(_read_pointer(change["path"])) for change in written]
    elif action.form is PatchType.APPLY:
        found = list(_compare("", live, action.patch, is_whole=False))
        defaults = _DEFAULTS.get(action.address.kind, {})
        dropped = _list_dropped(action.patch, live, action.manager)
        found += [change for change in dropped if defaults.get(change.path) != change.old]
    else:
        is_whole = action.form is PatchType.MERGE
        found = list(_compare("", live, action.patch, is_whole=is_whole))
    kept = tuple(change for change in found if change.path not in _PRECONDITIONS)
    # A write that changes no value still makes us a manager of its fields.
    return kept or (FieldChange("metadata.managedFields"),)


def see_prepared(action: Patch, live: Object) -> Object:
    """The object after a patch that makes fields of another manager ours."""
    assert isinstance(action.patch, list)
    given = next(c["value"] for c in action.patch if c["path"] == "/metadata/managedFields")
    return {**live, "metadata": {**metadata_of(live), "managedFields": given}}


def _list_dropped(wanted: Object, live: Object, manager: str) -> Iterator[FieldChange]:
    """The fields of ours that an apply without them removes."""
    for names in find_dropped(wanted, live, manager):
        path: str = ""
        held: Any = live
        for name in names:
            path, held = _join(path, name), (held or {}).get(name)
        if held is not None:
            yield FieldChange(path, _show(path, held))


def list_wanted_changes(live: Object, wanted: Object) -> tuple[FieldChange, ...]:
    """The wanted fields that the live object lacks or has with another value."""
    return tuple(_compare("", live, wanted, is_whole=False))


def restarts_pods(kind: Kind, action: Action, changes: tuple[FieldChange, ...]) -> bool:
    """Whether the object's pods would restart: it is deleted, or its template changes."""
    if isinstance(action, Create):
        return False
    if isinstance(action, Delete) or action.disrupts:
        return True
    if kind.name == "Pod":
        return any(change.path.startswith("spec.") for change in changes)
    paths = (change.path for change in changes if change.path.startswith("spec."))
    return any(word in path for path in paths for word in _TEMPLATES)


def _compare(
    path: str, live: Any, wanted: Any, *, is_whole: bool, is_item: bool = False
) -> Iterator[FieldChange]:
    """The differences of two values; a whole list loses items, and its items fields."""
    held = {} if live is None else live
    if isinstance(wanted, dict) and isinstance(held, dict):
        for name, value in wanted.items():
            if name in held or value is not None:
                below = {"is_whole": is_whole, "is_item": is_item}
                yield from _compare(_join(path, name), held.get(name), value, **below)
        for name in (name for name in held if is_item and name not in wanted):
            below_path = _join(path, name)
            yield FieldChange(below_path, _show(below_path, held[name]))
    elif isinstance(wanted, list) and isinstance(live, list):
        yield from _compare_lists(path, live, wanted, is_whole=is_whole)
    elif wanted != live and not (wanted == [] and live is None):
        yield FieldChange(path, _show(path, live), _show(path, wanted))


def _compare_lists(
    path: str, live: list[Any], wanted: list[Any], *, is_whole: bool
) -> Iterator[FieldChange]:
    held, asked = _by_name(live), _by_name(wanted)
    for name, value in asked.items():
        below = {"is_whole": is_whole, "is_item": is_whole}
        yield from _compare(f"{path}[{name}]", held.get(name), value, **below)
    for name in (name for name in held if is_whole and name not in asked):
        yield FieldChange(f"{path}[{name}]", _show(path, held[name]), "")


def _by_name(items: list[Any]) -> dict[str, Any]:
    """Items by name, or by number where they have none or share one."""
    for key in ("name", "type", "uid"):
        named = {str(item[key]): item for item in items if isinstance(item, dict) and key in item}
        if items and len(named) == len(items):
            return named
    return {str(number): item for number, item in enumerate(items)}


def _join(path: str, name: str) -> str:
    part = f"[{name}]" if "." in name or "/" in name else name
    return f"{path}{'' if not path or part.startswith('[') else '.'}{part}"


def _show(path: str, value: Any) -> str:
    if value is None or isinstance(value, dict | list) or ".env[" in path or ".data" in path:
        return ""
    text = str(value)
    return text if len(text) <= _SHOWN_MAX else ""


def _read_pointer(pointer: str) -> str:
    """A JSON pointer as a path."""
    words = (word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")[1:])
    path = ""
    for word in words:
        path = f"{path}[{word}]" if word.isdigit() else _join(path, word)
    return path
