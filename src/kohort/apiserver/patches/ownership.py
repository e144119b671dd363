"""
Field ownership: the entries of ``metadata.managedFields``.

An entry is one manager doing one thing (Apply or Update) in one version and on
one subresource. Updates own what they last changed; what they remove has no
owner any more. The time of an entry moves only when its manager changed
something. Fields that the server itself keeps (names, versions, uids) have no
owner, nor have those that a request cannot change, such as the status in a
write to the object itself.

A change is compared in the version of each entry, if the server knows what an object
is there; otherwise entries of another version are read as if their fields had the same
names. An entry of a version that is gone goes with it.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

from kohort.apiserver.patches.comparison import compare_objects
from kohort.apiserver.patches.elements import MISSING, UnnamedEntry
from kohort.apiserver.patches.fieldsets import (
    LEAF,
    SELF,
    Fields,
    difference,
    find_fault,
    make_fields,
    remove_below,
    union,
)
from kohort.apiserver.schemas.shapes import Shape
from kohort.cluster.objects import Object

APPLY = "Apply"
UPDATE = "Update"
UPDATE_ENTRIES_MAX = 10
ANCIENT = "ancient-changes"

_FORMAT = "FieldsV1"
_UNTRACKED_METADATA = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)
_UNTRACKED = make_fields(
    [("f:apiVersion",), ("f:kind",), *(("f:metadata", f"f:{f}") for f in _UNTRACKED_METADATA)]
)

ManagedFieldsEntry = Object


class Views(Protocol):
    """The interface that shows an object in other versions of its kind."""

    def see(self, obj: Object, api_version: str) -> Object | None:
        """The object in a version; None if that version is no longer served."""

    def shape_of(self, api_version: str) -> Shape:
        """The shape of objects in a served version."""


@dataclass(frozen=True, slots=True)
class Manager:
    """The field manager of a request: its name, version and time, and fields to ignore."""

    name: str
    api_version: str
    time: str  # RFC 3339 in UTC; entries are written without a time if it is empty
    subresource: str = ""
    ignored: Fields = field(default_factory=dict)  # such as make_fields([("f:status",)])
    views: Views | None = None  # None: all versions have the same fields


STATUS_FIELDS = make_fields([("f:status",)])


def track_update(new: Object, old: Object | None, shape: Shape, manager: Manager) -> None:
    """Write the managed fields of an object that was created or updated; old is None if created."""
    live = list_entries(old)
    given = (new.get("metadata") or {}).get("managedFields", MISSING)
    entries = live if manager.subresource else choose_entries(given, live)
    if entries or old is None:
        try:
            entries = record_update(entries, old or {}, new, shape, manager)
        except UnnamedEntry:
            entries = []
    write_entries(new, entries)


def record_update(
    entries: list[ManagedFieldsEntry], old: Object, new: Object, shape: Shape, manager: Manager
) -> list[ManagedFieldsEntry]:
    """The entries after a manager turned one state of an object into another."""
    changes = Changes(old, new, shape, manager)
    if not changes.changed and not changes.removed:
        return entries
    entries = [entry for entry in map(changes.reduce, entries) if entry]
    if changes.changed:
        entries = _own(entries, changes.changed, manager)
        entries = _limit_updates(entries)
    return sort_entries(entries)


class Changes:
    """The fields that a write changed and removed, in the version of each manager's entry."""

    def __init__(self, old: Object, new: Object, shape: Shape, manager: Manager) -> None:
        self._states = (old, new)
        self._manager = manager
        self.changed, self.removed = compare_tracked(old, new, shape, manager.ignored)
        self._others: dict[str, tuple[Fields, Fields] | None] = {}

    def find(self, entry: ManagedFieldsEntry) -> tuple[Fields, Fields] | None:
        """The changed and removed fields in an entry's version; None if it is no longer served."""
        version, manager = entry["apiVersion"], self._manager
        if manager.views is None or version == manager.api_version or not self._states[0]:
            return self.changed, self.removed
        if version not in self._others:
            self._others[version] = self._compare(version, manager.views)
        return self._others[version]

    def _compare(self, version: str, views: Views) -> tuple[Fields, Fields] | None:
        old, new = (views.see(state, version) for state in self._states)
        if old is None or new is None:
            return None
        return compare_tracked(old, new, views.shape_of(version), self._manager.ignored)

    def reduce(self, entry: ManagedFieldsEntry) -> ManagedFieldsEntry | None:
        """The entry without the fields that it lost; None if no field is left."""
        found = self.find(entry)
        if found is None:
            return None
        return with_fields(entry, difference(difference(entry["fieldsV1"], found[0]), found[1]))


def compare_tracked(
    old: Object, new: Object, shape: Shape, ignored: Fields
) -> tuple[Fields, Fields]:
    """The changed and removed fields, except those that have no owner or are ignored."""
    old, new = _without(old, ignored), _without(new, ignored)
    changed, removed = compare_objects(old, new, shape)
    return strip_untracked(remove_below(changed, ignored)), remove_below(removed, ignored)


def strip_untracked(fields: Fields) -> Fields:
    """The set without the fields that never have an owner."""
    metadata = fields.get("f:metadata")
    if metadata is not None and SELF in metadata:
        # The metadata field itself has no owner either.
        rest = {step: node for step, node in metadata.items() if step != SELF}
        fields = {**fields, "f:metadata": rest}
    stripped = difference(fields, _UNTRACKED)
    if stripped.get("f:metadata") == LEAF:
        stripped = {step: node for step, node in stripped.items() if step != "f:metadata"}
    return stripped


def _without(obj: Object, ignored: Fields) -> Object:
    """Remove ignored parts before the comparison, which then need not walk them."""
    parts = [step[2:] for step, node in ignored.items() if not node and step[2:] in obj]
    metadata = obj.get("metadata")
    if not parts and not metadata:
        return obj
    result = {key: value for key, value in obj.items() if key not in parts}
    if metadata and "metadata" not in parts and "managedFields" in metadata:
        rest = {key: value for key, value in metadata.items() if key != "managedFields"}
        result["metadata"] = rest
    return result


def list_entries(obj: Object | None) -> list[ManagedFieldsEntry]:
    """The entries of a stored object."""
    if obj is None:
        return []
    found: list[ManagedFieldsEntry] = (obj.get("metadata") or {}).get("managedFields") or []
    return found


def choose_entries(given: Any, live: list[ManagedFieldsEntry]) -> list[ManagedFieldsEntry]:
    """
    The entries that an update starts from.

    A client may change them, and an empty list, or one empty entry, resets them.
    A client that leaves them out, or gets them wrong, does not know them.
    """
    if given is MISSING or given is None or given is live or given == live:
        return live
    if not isinstance(given, list):
        return live
    if not given or given == [{}]:
        return []
    if not all(map(_is_well_formed, given)):
        return live
    unique = {identify(entry): entry for entry in given}
    return sort_entries(list(unique.values()))


def _is_well_formed(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("operation") in {APPLY, UPDATE}
        and bool(entry.get("apiVersion"))
        and entry.get("fieldsType") == _FORMAT
        and not find_fault(entry.get("fieldsV1") or {})
    )


def write_entries(obj: Object, entries: list[ManagedFieldsEntry]) -> None:
    """Put the entries into the object's metadata, which is copied."""
    given = obj.get("metadata") or {}
    metadata = {key: value for key, value in given.items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = entries
    obj["metadata"] = metadata


def identify(entry: ManagedFieldsEntry) -> tuple[str, str, str, str]:
    """The identity of an entry: that of an applier does not depend on the version."""
    operation = entry["operation"]
    version = "" if operation == APPLY else entry["apiVersion"]
    return entry.get("manager", ""), operation, version, entry.get("subresource", "")


def make_entry(
    manager: Manager, operation: str, fields: Fields, time: str | None
) -> ManagedFieldsEntry:
    """A new entry, with its keys in the order of a real server."""
    entry: ManagedFieldsEntry = {
        "manager": manager.name or "unknown",
        "operation": operation,
        "apiVersion": manager.api_version,
    }
    # A real server loses the time of writes to the scale subresource.
    if time and manager.subresource != "scale":
        entry["time"] = time
    entry["fieldsType"] = _FORMAT
    entry["fieldsV1"] = fields
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry


def sort_entries(entries: list[ManagedFieldsEntry]) -> list[ManagedFieldsEntry]:
    """The entries in their order: appliers first, then by time."""
    return sorted(entries, key=_order) if len(entries) > 1 else entries


def _order(entry: ManagedFieldsEntry) -> tuple[str, str, str, str, str]:
    return (
        entry["operation"],
        entry.get("time") or "",
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )


def with_fields(entry: ManagedFieldsEntry, fields: Fields) -> ManagedFieldsEntry | None:
    """The entry with these fields; None if there are none."""
    if fields is entry["fieldsV1"]:
        return entry
    return {**entry, "fieldsV1": fields} if fields else None


def _own(
    entries: list[ManagedFieldsEntry], fields: Fields, manager: Manager
) -> list[ManagedFieldsEntry]:
    added = make_entry(manager, UPDATE, fields, manager.time)
    name = identify(added)
    for place, entry in enumerate(entries):
        if identify(entry) == name:
            added["fieldsV1"] = union(entry["fieldsV1"], fields)
            return [*entries[:place], added, *entries[place + 1 :]]
    return [*entries, added]


def _limit_updates(entries: list[ManagedFieldsEntry]) -> list[ManagedFieldsEntry]:
    """Fold the oldest updates of each version into one, as long as there are too many."""
    updates = sorted((e for e in entries if e["operation"] == UPDATE), key=_order)
    excess = len(updates) - UPDATE_ENTRIES_MAX
    if excess <= 0:
        return entries
    kept = [entry for entry in entries if entry["operation"] != UPDATE]
    buckets: dict[str, ManagedFieldsEntry] = {}
    for entry in updates:
        version = entry["apiVersion"]
        if excess > 0 and version in buckets:
            buckets[version] = _fold(buckets[version], entry)
            excess -= 1
        elif excess > 0:
            buckets[version] = entry
        else:
            kept.append(entry)
    return [*kept, *buckets.values()]


def _fold(older: ManagedFieldsEntry, newer: ManagedFieldsEntry) -> ManagedFieldsEntry:
    manager = Manager(ANCIENT, newer["apiVersion"], "")
    fields = union(older["fieldsV1"], newer["fieldsV1"])
    return make_entry(manager, UPDATE, fields, newer.get("time"))
