"""
The two merges of server-side apply: add the configuration, remove fields no longer applied.

Merging never removes: fields of the configuration win, everything else stays.
Lists with keyed entries keep the live order, except that entries which both
have come in the order of the configuration, with its new entries beside them.

Taking out removes a field, with all that is below it, if the manager applied it
last time and the field has no owner now. Objects that come in are not changed.
"""

from typing import Any

from kohort.apiserver.patches.comparison import field_shape, index_entries, is_whole
from kohort.apiserver.patches.elements import MISSING, implied_fields, name_entry
from kohort.apiserver.patches.fieldsets import Fields, is_member
from kohort.apiserver.schemas.shapes import ANY, Shape, Type
from kohort.cluster.objects import Object


def merge_config(live: Object, config: Object, shape: Shape) -> Object:
    """The live object with the configuration over it; the same object if nothing changes."""
    result = live
    for key, value in config.items():
        current = live.get(key, MISSING)
        merged = _merge(current, value, field_shape(shape, key))
        if merged is current:
            continue
        if result is live:
            result = dict(live)
        if merged is None:
            # A null in a configuration unsets the field, but is owned all the same.
            result.pop(key, None)
        else:
            result[key] = merged
    return result


def _merge(current: Any, value: Any, shape: Shape) -> Any:
    if current is MISSING or is_whole(shape, current if value is None else value):
        return current if current is not MISSING and current == value else _settle(value)
    if not value:
        return value if not current and current.__class__ is not value.__class__ else current
    if isinstance(value, dict):
        return merge_config(current, value, shape) if isinstance(current, dict) else value
    if isinstance(current, list):
        return _merge_lists(current, value, shape)
    return value


def _settle(value: Any) -> Any:
    """A value that is new in the object, without its nulls."""
    if isinstance(value, dict):
        return {key: _settle(held) for key, held in value.items() if held is not None}
    if isinstance(value, list):
        return [_settle(entry) for entry in value]
    return value


def _merge_lists(live: list[Any], config: list[Any], shape: Shape) -> list[Any]:
    items = shape.items or ANY
    known = index_entries(live, shape)
    wanted = {name_entry(entry, shape): entry for entry in config}

    def merged(step: str) -> Any:
        entries = known.get(step, [])
        # Entries that share a name in the live object are not merged but replaced.
        return _merge(entries[0] if len(entries) == 1 else MISSING, wanted[step], items)

    result: list[Any] = []
    waiting = list(wanted)
    shared = [step for step in wanted if step in known]
    for entry in live:
        step = name_entry(entry, shape)
        if step not in wanted:
            result.append(entry)
        elif shared and step == shared[0]:
            shared.pop(0)
            cut = waiting.index(step) + 1
            result.extend(merged(name) for name in waiting[:cut])
            waiting = waiting[cut:]
    result.extend(merged(name) for name in waiting)
    is_same = len(result) == len(live) and all(a is b for a, b in zip(result, live, strict=True))
    return live if is_same else result


def take_out(obj: Object, last: Fields, owned: Fields, shape: Shape) -> Object:
    """The object without fields that the last apply had and that have no owner now."""
    result = obj
    implied = implied_fields(shape)
    for key, value in obj.items():
        was = last.get("f:" + key)
        if was is None:
            continue
        is_named = shape.type is Type.OBJECT and key in shape.fields
        rest = _reduce(value, was, owned.get("f:" + key), field_shape(shape, key), is_named)
        if rest is value:
            continue
        if result is obj:
            result = dict(obj)
        if rest is MISSING or (not rest and shape.name and key not in implied):
            del result[key]
        else:
            # What is emptied but still owned ends up as null. In the API's own types
            # that is the same as nothing; in custom ones validation will complain.
            result[key] = rest or implied.get(key)
    return result


def _reduce(value: Any, was: Fields, owned: Fields | None, shape: Shape, is_named: bool) -> Any:
    """The value without its unowned parts: all of it, a part, or MISSING."""
    # A field of a type counts as owned if anything below it is; an entry of a
    # list or map only if it is owned itself.
    was_applied = is_named or is_member(was)
    is_owned = owned is not None and (is_named or is_member(owned))
    if was_applied and not is_owned:
        return MISSING
    if not was or is_whole(shape, value):
        return value
    if isinstance(value, dict):
        return take_out(value, was, owned or {}, shape)
    if isinstance(value, list):
        return _take_out_entries(value, was, owned or {}, shape)
    return value


def _take_out_entries(entries: list[Any], last: Fields, owned: Fields, shape: Shape) -> list[Any]:
    items = shape.items or ANY
    result = []
    is_same = True
    for entry in entries:
        step = name_entry(entry, shape)
        was = last.get(step)
        rest = entry if was is None else _reduce(entry, was, owned.get(step), items, False)
        is_same = is_same and rest is entry
        if rest is not MISSING:
            result.append(rest)
    return entries if is_same else result
