"""
Path elements of FieldsV1: ``f:``, ``k:``, ``v:`` keys, and their form in messages.

Entries of a keyed list are named by their keys in the order of the alphabet, so
that an entry has one name. A key that is left out counts as its default, where
there is one: a port without a protocol is the TCP port.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import orjson

from kohort.apiserver.schemas.builtin import find_go_fields, load_definition
from kohort.apiserver.schemas.shapes import ListType, Shape, Type
from kohort.cluster.answer_caches import keep_answers
from kohort.cluster.objects import Object

MISSING: Any = object()
"""Marks a missing value where null is a value."""

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_ZEROES: dict[Type, Any] = {
    Type.STRING: "",
    Type.INTEGER: 0,
    Type.NUMBER: 0,
    Type.BOOLEAN: False,
    Type.OBJECT: {},
}
_NOTHING: Object = {}


class UnnamedEntry(Exception):
    """A list entry without the keys that identify it."""


def implied_fields(shape: Shape) -> Object:
    """
    The fields that an object of this shape has even when they are not written.

    The API's own types are structures: a part that is not a pointer is always
    there, if only empty. Custom objects are what was written and no more.
    """
    return _read_implied(shape.name) if shape.name else _NOTHING


@cache
def _read_implied(name: str) -> Object:
    found = {}
    for field, go in find_go_fields(name).items():
        shape = load_definition(name).fields.get(field)
        if shape is None:
            continue
        is_part = shape.type is Type.OBJECT and not go.is_pointer
        if go.omits_zero if is_part else go.omits_empty:
            continue
        found[field] = None if go.is_pointer else _ZEROES.get(shape.type)
    return found


def name_entry(entry: Any, shape: Shape) -> str:
    """The step that leads to an entry of a list with this shape."""
    if shape.list_type is ListType.SET:
        if entry is None:
            raise UnnamedEntry(
                "associative list without keys has an element that's an explicit null"
            )
        if isinstance(entry, dict):
            raise UnnamedEntry("associative list without keys has an element that's a map type")
        if isinstance(entry, list):
            raise UnnamedEntry("not supported: associative list with lists as elements")
        return f"v:{_encode(entry)}"
    if not isinstance(entry, dict):
        what = "a null element" if entry is None else "non-map elements"
        raise UnnamedEntry(f"associative list with keys may not have {what}")
    keys = shape.list_keys
    if len(keys) == 1:
        value = entry.get(keys[0], MISSING)
        if value.__class__ is str:
            return _name_by_text(keys[0])(value)
    return _name_by_keys(entry, shape)


@lru_cache(maxsize=256)
def _name_by_text(key: str) -> Callable[[str], str]:
    # Cached, since the same few keys occur in almost every object of a kind.
    return keep_answers(1_024)(lambda value: f'k:{{"{key}":{_encode(value)}}}')


def _name_by_keys(entry: Object, shape: Shape) -> str:
    found = {}
    for key in sorted(shape.list_keys):
        value = entry.get(key, MISSING)
        if value is MISSING:
            value = _default_key(shape, key)
        if value is not MISSING:
            found[key] = value
    if not found:
        names = " ".join(f'"{key}"' for key in shape.list_keys)
        raise UnnamedEntry(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return f"k:{_encode(found)}"


def _default_key(shape: Shape, key: str) -> Any:
    items = shape.items
    if items is None:
        return MISSING
    inner = items.fields.get(key)
    if inner is not None and inner.default is not None:
        return inner.default
    implied = implied_fields(items).get(key)
    return MISSING if implied is None else implied


def _encode(value: Any) -> str:
    return orjson.dumps(value).decode().translate(_ESCAPES)


def spell_path(steps: tuple[str, ...]) -> str:
    """A path as messages show it: ``.spec.containers[name="c"].image``."""
    return "".join(map(spell_step, steps))


def spell_step(step: str) -> str:
    """One step as messages show it."""
    kind, text = step[:2], step[2:]
    if kind == "f:":
        return f".{text}"
    if kind == "k:":
        keys = orjson.loads(text)
        return f"[{','.join(f'{key}={orjson.dumps(keys[key]).decode()}' for key in sorted(keys))}]"
    return f"[={text}]" if kind == "v:" else f"[{text}]"
