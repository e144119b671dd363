"""
Sets of fields: those of an object, and those that differ between two states of it.

The walk follows the shape: objects and maps field by field, keyed lists entry
by entry, and everything that is owned as a whole stops it. Subtrees that are
equal are not entered, so an update costs what it changes.

A container that appears or goes counts as a field of its own besides what it
holds. One that was there before does not, and the parts that the API's own
types always carry were always there.
"""

from typing import Any

from kohort.apiserver.patches.elements import MISSING, implied_fields, name_entry
from kohort.apiserver.patches.fieldsets import LEAF, SELF, Fields
from kohort.apiserver.schemas.shapes import ANY, ListType, Shape, Type
from kohort.cluster.objects import Object

UNTYPED = Shape(Type.ANY, preserves_unknown=True)
"""The shape where a schema allows any value: objects are granular, lists are atomic."""

_OBJECT, _MAP, _LIST, _ANY = Type.OBJECT, Type.MAP, Type.LIST, Type.ANY
_ATOMIC = ListType.ATOMIC

Difference = tuple[Fields, Fields]


def is_whole(shape: Shape, value: Any) -> bool:
    """Whether a value of this shape is atomic: it has one set of owners, not one for each part."""
    kind = shape.type
    if kind is _OBJECT or kind is _MAP:
        return shape.atomic
    if kind is _LIST:
        return shape.list_type is _ATOMIC
    return not (kind is _ANY and shape.preserves_unknown and isinstance(value, dict))


def field_shape(shape: Shape, key: str) -> Shape:
    """The shape of one field of an object or map."""
    if shape.type is _MAP:
        return shape.items or ANY
    found = shape.fields.get(key)
    if found is not None:
        return found
    return UNTYPED if shape.preserves_unknown else ANY


def list_paths(value: Any, shape: Shape) -> Fields:
    """The set of all fields in a value, the value itself included."""
    if not value or is_whole(shape, value):
        return LEAF
    if value.__class__ is dict and shape.type is not _LIST:
        return _list_fields(value, shape)
    if value.__class__ is list and shape.type is _LIST:
        return _list_entries(value, shape)
    return LEAF


def _list_fields(value: Object, shape: Shape) -> Fields:
    node: Fields = {SELF: LEAF}
    find = shape.fields.get
    for key, held in value.items():
        # Most fields are scalars, and what they are does not matter.
        if held.__class__ is not dict and held.__class__ is not list:
            node["f:" + key] = LEAF
        else:
            node["f:" + key] = list_paths(held, find(key) or field_shape(shape, key))
    return node


def _list_entries(value: list[Any], shape: Shape) -> Fields:
    node: Fields = {SELF: LEAF}
    items = shape.items or ANY
    for entry in value:
        step = name_entry(entry, shape)
        # Entries that share a name are owned as one.
        node[step] = LEAF if step in node else list_paths(entry, items)
    return node


def list_config(value: Any, shape: Shape) -> Fields:
    """The fields that an applied configuration owns: its leaves, and entries of lists and maps."""
    if not value or is_whole(shape, value):
        return LEAF
    node: Fields = {}
    if isinstance(value, dict):
        for key, held in value.items():
            inner = field_shape(shape, key)
            claimed = list_config(held, inner)
            if _claims_nothing(held, inner):
                continue
            is_entry = shape.type is not _OBJECT or key not in shape.fields
            node["f:" + key] = {SELF: LEAF, **claimed} if is_entry and claimed else claimed
        return node
    items = shape.items or ANY
    for entry in value:
        claimed = list_config(entry, items)
        node[name_entry(entry, shape)] = {SELF: LEAF, **claimed} if claimed else LEAF
    return node


def _claims_nothing(value: Any, shape: Shape) -> bool:
    # An empty list whose entries may have several owners claims nothing.
    return value.__class__ is list and not value and not is_whole(shape, value)


def compare_objects(old: Object, new: Object, shape: Shape) -> Difference:
    """The fields that appear or change from old to new, and those that go."""
    changed: Fields = {}
    removed: Fields = {}
    implied = implied_fields(shape)
    for key, value in new.items():
        before = old.get(key, MISSING)
        if before is MISSING and key in implied:
            before = implied[key]
        if before is MISSING:
            changed["f:" + key] = list_paths(value, field_shape(shape, key))
        elif before is not value and before != value:
            difference = _compare(before, value, field_shape(shape, key))
            _add(changed, removed, "f:" + key, difference)
    if len(old) > len(new) or not old.keys() <= new.keys():
        for key in old.keys() - new.keys():
            inner = field_shape(shape, key)
            if key not in implied:
                removed["f:" + key] = list_paths(old[key], inner)
            elif old[key] != implied[key]:
                _add(changed, removed, "f:" + key, _compare(old[key], implied[key], inner))
    return changed, removed


def _add(
    changed: Fields, removed: Fields, step: str, difference: tuple[Fields | None, Fields | None]
) -> None:
    if difference[0] is not None:
        changed[step] = difference[0]
    if difference[1] is not None:
        removed[step] = difference[1]


def _compare(before: Any, after: Any, shape: Shape) -> tuple[Fields | None, Fields | None]:
    """The fields in which two existing values differ; None if they do not."""
    if (not before and not after) or (is_whole(shape, before) and is_whole(shape, after)):
        return LEAF, None
    before_kind, after_kind = (before or after).__class__, (after or before).__class__
    if before_kind is not after_kind or before_kind not in {dict, list}:
        return list_paths(after, shape), list_paths(before, shape)
    if before_kind is dict:
        changed, removed = compare_objects(before or {}, after or {}, shape)
    else:
        changed, removed = _compare_lists(before or [], after or [], shape)
    return changed or None, removed or None


def _compare_lists(before: list[Any], after: list[Any], shape: Shape) -> Difference:
    changed: Fields = {}
    removed: Fields = {}
    items = shape.items or ANY
    old, new = index_entries(before, shape), index_entries(after, shape)
    for step, entries in new.items():
        previous = old.get(step)
        if previous is None:
            changed[step] = _list_group(entries, items)
        elif previous != entries:
            _add(changed, removed, step, _compare_groups(previous, entries, items))
    for step, entries in old.items():
        if step not in new:
            removed[step] = _list_group(entries, items)
    return changed, removed


def _compare_groups(
    before: list[Any], after: list[Any], items: Shape
) -> tuple[Fields | None, Fields | None]:
    if len(before) == 1 and len(after) == 1:
        return _compare(before[0], after[0], items)
    if len(before) > 1 and len(after) > 1:
        return LEAF, None
    return _list_group(after, items), _list_group(before, items)


def _list_group(entries: list[Any], items: Shape) -> Fields:
    return list_paths(entries[0], items) if len(entries) == 1 else LEAF


def index_entries(entries: list[Any], shape: Shape) -> dict[str, list[Any]]:
    """The entries of a list by key; several where keys repeat."""
    found: dict[str, list[Any]] = {}
    for entry in entries:
        found.setdefault(name_entry(entry, shape), []).append(entry)
    return found
