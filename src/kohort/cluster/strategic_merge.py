"""
Strategic merge patches: merge patches that know which lists are keyed, and by what.

The shape says of each list whether a patch joins it or replaces it, and by
which field its entries are told apart. Keys that begin with a dollar sign are
directives of the patch and never reach the object:

    $patch: delete | replace        in an object, or in an entry of a list
    $retainKeys: [names]            drops all other keys of the object
    $deleteFromPrimitiveList/x      takes scalars out of the list x
    $setElementOrder/x              says in what order the list x ends up

The object that comes in is not changed. Order is part of the contract: entries
that the patch names come in the patch's order, the others keep their places
relative to them as far as that is possible.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kohort.cluster.errors import BadRequest, Invalid
from kohort.cluster.go_values import PatchFailed, spell
from kohort.cluster.objects import Object

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_DELETE_PREFIX = "$deleteFromPrimitiveList"
_ORDER_PREFIX = "$setElementOrder"
_DROP = object()
_MAP = "map"


class MergeShape(Protocol):
    """The facts about a type that a merge needs: its fields, and how its lists are merged."""

    @property
    def type(self) -> str:
        """The JSON type; `map` where all values have the shape of ``items``."""

    @property
    def name(self) -> str:
        """The name of the type in messages."""

    @property
    def fields(self) -> Mapping[str, "MergeShape"]:
        """The shapes of fields."""

    @property
    def items(self) -> "MergeShape | None":
        """The shape of the entries of a list, or of the values of a map."""

    @property
    def merge(self) -> bool:
        """Whether a patch merges into this list instead of replacing it."""

    @property
    def merge_key(self) -> str:
        """The field that identifies an entry of the list."""


@dataclass(frozen=True, slots=True)
class MergeType:
    """A MergeShape as a plain value."""

    name: str = ""
    fields: Mapping[str, "MergeType"] = field(default_factory=dict)
    items: "MergeType | None" = None
    merge: bool = False
    merge_key: str = ""
    type: str = "object"


ANY: MergeShape = MergeType()


def apply_strategic_patch(obj: Object, patch: Any, shape: MergeShape) -> Object:
    """The object with the patch merged in along the shape."""
    if patch is None:
        return obj
    if not isinstance(patch, dict):
        found = {list: "array", str: "string", bool: "bool"}.get(type(patch), "number")
        raise BadRequest(
            f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )
    return _merge_object(obj, patch, shape)


def _merge_object(old: Object, patch: Object, shape: MergeShape) -> Object:
    if _PATCH in patch:
        return _follow_directive(patch)
    result = dict(old)
    if _RETAIN in patch:
        _retain_keys(result, patch)
    ordered = _apply_orders(result, patch, shape)
    for key, value in patch.items():
        if key == _RETAIN or key in ordered or key.startswith(_ORDER_PREFIX):
            continue
        if key.startswith(_DELETE_PREFIX):
            _delete_scalars(result, _list_name(key, "primitive list"), value)
        else:
            _merge_field(result, key, value, shape)
    return result


def _follow_directive(patch: Object) -> Object:
    directive = patch[_PATCH]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    raise _unknown_directive(directive, patch)


def _unknown_directive(directive: Any, patch: Object) -> PatchFailed:
    return PatchFailed(f"unknown patch type: {spell(directive)} in map: {spell(patch)}")


def _retain_keys(result: Object, patch: Object) -> None:
    names = patch[_RETAIN]
    if not isinstance(names, list):
        raise _bad_format("retainKeys")
    for key, value in patch.items():
        is_directive = key == _RETAIN or key.startswith((_DELETE_PREFIX, _ORDER_PREFIX))
        if value is not None and not is_directive and key not in names:
            raise _bad_format("retainKeys")
    for key in [key for key in result if key not in names]:
        del result[key]


def _bad_format(what: str) -> BadRequest:
    return BadRequest(f"invalid patch format of {what}")


def _list_name(key: str, what: str) -> str:
    name = key.partition("/")[2]
    if not name:
        raise _bad_format(what)
    return name


def _delete_scalars(result: Object, name: str, values: Any) -> None:
    if values is None:
        result.pop(name, None)
        return
    current = result.get(name)
    if isinstance(current, list) and isinstance(values, list):
        result[name] = [entry for entry in current if entry not in values]


def _merge_field(result: Object, key: str, value: Any, shape: MergeShape) -> None:
    if value is None:
        result.pop(key, None)
        return
    current = result.get(key)
    inner = _field_shape(shape, key)
    merged: Any
    if isinstance(current, dict) and isinstance(value, dict):
        merged = _merge_object(current, value, inner)
    elif isinstance(current, list) and isinstance(value, list):
        merged = _merge_list(current, value, inner)
    else:
        merged = _strip(value)
    if merged is _DROP:
        result.pop(key, None)
    else:
        result[key] = merged


def _field_shape(shape: MergeShape, key: str) -> MergeShape:
    if shape.type == _MAP:
        return shape.items or ANY
    return shape.fields.get(key, ANY)


def _strip(value: Any) -> Any:
    """A patch without its directives, for a place where there is nothing to merge with."""
    if isinstance(value, dict):
        if _PATCH in value:
            return _DROP
        kept = {
            key: _strip(held)
            for key, held in value.items()
            if held is not None and not _is_directive(key)
        }
        return {key: held for key, held in kept.items() if held is not _DROP}
    if isinstance(value, list):
        return [entry for entry in map(_strip, value) if entry is not _DROP]
    return value


def _is_directive(key: str) -> bool:
    return key == _RETAIN or key.startswith((_DELETE_PREFIX, _ORDER_PREFIX))


def _merge_list(old: list[Any], patch: list[Any], shape: MergeShape) -> list[Any]:
    if not shape.merge:
        return patch
    if not old and not patch:
        return old
    if not _holds_objects(old, patch):
        joined = list(dict.fromkeys([*old, *patch]))
        return _put_in_order(joined, patch, old, "")
    if not shape.merge_key:
        raise PatchFailed(f"cannot merge lists without merge key for {shape.name}")
    old, patch = _follow_entry_directives(old, patch, shape.merge_key)
    merged = _merge_entries(old, patch, shape)
    return _put_in_order(merged, patch, old, shape.merge_key)


def _holds_objects(*lists: list[Any]) -> bool:
    kinds = {type(entry) for entries in lists for entry in entries}
    if dict in kinds and len(kinds) > 1:
        raise PatchFailed(f"list element types are not identical: {spell(list(lists))}")
    if list in kinds:
        raise Invalid("the server rejected our request due to an error in our request", details={})
    return dict in kinds


def _key_of(entry: Object, merge_key: str) -> Any:
    if merge_key not in entry:
        raise PatchFailed(f"map: {spell(entry)} does not contain declared merge key: {merge_key}")
    return entry[merge_key]


def _follow_entry_directives(
    old: list[Object], patch: list[Object], merge_key: str
) -> tuple[list[Object], list[Object]]:
    plain = [entry for entry in patch if _PATCH not in entry]
    is_replaced = False
    for entry in patch:
        directive = entry.get(_PATCH)
        if directive == "delete":
            gone = _key_of(entry, merge_key)
            old = [held for held in old if held.get(merge_key) != gone]
        elif directive == "replace":
            is_replaced = True
        elif directive == "merge":
            raise PatchFailed("merging lists cannot yet be specified in the patch")
        elif _PATCH in entry:
            raise _unknown_directive(directive, entry)
    return (plain, []) if is_replaced else (old, plain)


def _merge_entries(old: list[Object], patch: list[Object], shape: MergeShape) -> list[Object]:
    merged = list(old)
    places: dict[Any, int] = {}
    for place, entry in enumerate(merged):
        places.setdefault(entry.get(shape.merge_key), place)
    for entry in patch:
        key = _key_of(entry, shape.merge_key)
        if isinstance(key, dict | list):
            # No other entry equals this one; the schema check reports the bad key later.
            merged.append(_strip(entry))
            continue
        place = places.get(key, -1)
        if place < 0:
            places[key] = len(merged)
            # A null key counts as a key, unlike a missing one.
            merged.append({**_strip(entry), shape.merge_key: key})
        else:
            merged[place] = _merge_object(merged[place], entry, shape.items or ANY)
    return merged


def _put_in_order(
    merged: list[Any], patch_order: list[Any], old_order: list[Any], merge_key: str
) -> list[Any]:
    def name(entry: Any) -> Any:
        key = _key_of(entry, merge_key) if merge_key else entry
        return repr(key) if isinstance(key, dict | list) else key

    wanted = _places(patch_order, name)
    lived = _places(old_order, name)
    named = sorted((e for e in merged if name(e) in wanted), key=lambda e: wanted[name(e)])
    others = [entry for entry in merged if name(entry) not in wanted]
    others.sort(key=lambda entry: lived.get(name(entry), len(lived)))
    return _interleave(others, named, lambda entry: lived.get(name(entry), -1))


def _places(order: list[Any], name: Callable[[Any], Any]) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for place, entry in enumerate(order):
        places.setdefault(name(entry), place)
    return places


def _interleave(others: list[Any], named: list[Any], place: Callable[[Any], int]) -> list[Any]:
    """Put each of the others before the first named entry that once stood behind it."""
    result: list[Any] = []
    waiting = 0
    for entry in named:
        while waiting < len(others) and 0 <= place(others[waiting]) < place(entry):
            result.append(others[waiting])
            waiting += 1
        result.append(entry)
    return result + others[waiting:]


def _apply_orders(result: Object, patch: Object, shape: MergeShape) -> set[str]:
    """Merge the lists whose order the patch sets; returns their names."""
    done: set[str] = set()
    for key, order in patch.items():
        if not key.startswith(_ORDER_PREFIX):
            continue
        if not isinstance(order, list):
            raise PatchFailed(f"expected a []interface {{}}, but received a {_go_type(order)}")
        name = _list_name(key, "setElementOrder list")
        inner = _field_shape(shape, name)
        current, change = result.get(name), patch.get(name)
        if current is None and change is None:
            continue
        result[name] = _merge_ordered(current, change, order, inner)
        done.add(name)
    return done


def _go_type(value: Any) -> str:
    names = {dict: "map[string]interface {}", str: "string", bool: "bool", int: "int64"}
    return names.get(type(value), "%!s(<nil>)" if value is None else "float64")


def _merge_ordered(current: Any, change: Any, order: list[Any], shape: MergeShape) -> list[Any]:
    merge_key = shape.merge_key
    _check_order(change or [], order, merge_key)
    if change is None:
        merged = current
    elif current is None:
        merged = _strip(change)
    else:
        merged = _merge_list(current, change, shape)
    return _put_in_order(merged, order, current or [], merge_key)


def _check_order(change: list[Any], order: list[Any], merge_key: str) -> None:
    if not change or not order:
        return
    plain = [e for e in change if not (isinstance(e, dict) and _PATCH in e)]
    wanted = iter(_key_of(entry, merge_key) if merge_key else entry for entry in order)
    for entry in plain:
        key = _key_of(entry, merge_key) if merge_key else entry
        if key not in wanted:
            raise PatchFailed(
                f"The order in patch list:\n{spell(change)}\n"
                f" doesn't match {_ORDER_PREFIX} list:\n{spell(order)}\n"
            )
