"""
Fast decoders for well-formed objects, compiled into one closure for each type.

A reader works in place: quantities and times take their canonical form, empty and missing fields
follow ``implicit_fields``. It raises ``Irregular`` at anything else, and whatever it changed until
then holds all the same. This runs on each write, so the commonest fields, plain strings, are
checked without a call.
"""

from collections.abc import Callable
from typing import Any

from kohort.apiserver.schemas.builtin import MICRO_TIME, QUANTITY, TIME, load_definition
from kohort.apiserver.schemas.decoders.choices import SCHEMA, SCHEMA_CHOICES
from kohort.apiserver.schemas.decoders.implicit_fields import describe_fields
from kohort.apiserver.schemas.decoders.times import (
    canonical_bytes,
    canonical_micro_time,
    canonical_time,
)
from kohort.apiserver.schemas.shapes import Shape, Type
from kohort.cluster.quantities import canonical_quantity

# A reader returns None to keep the value, a new value, or ABSENT to remove it.
Reader = Callable[[Any], Any]
Fill = tuple[str, Callable[[], Any]]
ABSENT: Any = object()
# Marks a string that is removed if it is empty.
_TEXT: Any = object()
_TEXTS = {
    QUANTITY: canonical_quantity,
    TIME: canonical_time,
    MICRO_TIME: canonical_micro_time,
}
_SCALARS: dict[Type, tuple[type, ...]] = {
    Type.STRING: (str,),
    Type.BOOLEAN: (bool,),
    Type.NUMBER: (int, float),
}
_readers: dict[Shape, Reader] = {}


class Irregular(Exception):
    """The object is not well formed; the thorough reader finds the error."""


def compile_reader(shape: Shape) -> Reader:
    """A reader for values of a built-in type."""
    if shape in _readers:
        return _readers[shape]
    if shape.type is not Type.OBJECT:
        _readers[shape] = _compile_value(shape, drops_empty=False)
        return _readers[shape]
    checks: dict[str, Any] = {}
    always: list[Fill] = []
    # Registered before its fields, since a type may contain itself.
    _readers[shape] = _compile_object(checks, always)
    for name, rule in describe_fields(shape).items():
        checks[name] = _compile_field(rule.shape, rule.drops_empty)
        if rule.fill is not None:
            always.append((name, rule.fill))
    return _readers[shape]


def _compile_object(checks: dict[str, Any], always: list[Fill]) -> Reader:
    find = checks.get

    def read(obj: Any) -> None:
        if obj.__class__ is not dict:
            raise Irregular
        changes = None
        for key, value in obj.items():
            check = find(key)
            if check is _TEXT and value and value.__class__ is str:
                continue
            answer = _answer(check, value)
            if answer is not None:
                changes = [(key, answer)] if changes is None else [*changes, (key, answer)]
        if changes is not None:
            _change(obj, changes)
        for key, fill in always:
            if key not in obj:
                obj[key] = fill()

    return read


def _answer(check: Any, value: Any) -> Any:
    if check is None:
        raise Irregular
    if value is None:
        return ABSENT
    if check is not _TEXT:
        return check(value)
    if value.__class__ is str:
        return ABSENT
    raise Irregular


def _change(obj: dict[str, Any], changes: list[tuple[str, Any]]) -> None:
    for key, answer in changes:
        if answer is ABSENT:
            del obj[key]
        else:
            obj[key] = answer


def _compile_field(shape: Shape, drops_empty: bool) -> Any:
    if shape.type is Type.OBJECT:
        return compile_reader(shape)
    return _TEXT if drops_empty and _is_text(shape) else _compile_value(shape, drops_empty)


def _is_text(shape: Shape) -> bool:
    """Whether every string is valid and canonical for this type."""
    return shape.type is Type.STRING and shape.name not in _TEXTS and shape.format != "byte"


def _compile_value(shape: Shape, drops_empty: bool) -> Reader:
    if shape.name in SCHEMA_CHOICES:
        return _compile_choice(SCHEMA_CHOICES[shape.name])
    if shape.name in _TEXTS or shape.format == "byte":
        return _compile_text(_TEXTS.get(shape.name, canonical_bytes))
    if shape.type in _CONTAINERS:
        return _CONTAINERS[shape.type](shape, drops_empty)
    if shape.type is Type.INTEGER:
        return _compile_integer(1 << (31 if shape.format == "int32" else 63), drops_empty)
    if shape.type in _SCALARS:
        return _compile_scalar(_SCALARS[shape.type], drops_empty)
    return _read_any if shape.type is Type.ANY else _read_int_or_string


def _read_any(value: Any) -> None:
    pass


def _read_int_or_string(value: Any) -> None:
    if value.__class__ is not str and not (
        value.__class__ is int and -(1 << 31) <= value < 1 << 31
    ):
        raise Irregular


def _compile_text(write: Callable[[str], str]) -> Reader:
    is_quantity = write is canonical_quantity

    def read(value: Any) -> Any:
        if value.__class__ is not str and not (is_quantity and value.__class__ is int):
            raise Irregular
        try:
            answer = write(str(value))
        except ValueError:
            raise Irregular from None
        return None if answer == value else answer

    return read


def _compile_integer(bound: int, drops_empty: bool) -> Reader:
    def read(value: Any) -> Any:
        if value.__class__ is not int or not -bound <= value < bound:
            raise Irregular
        return ABSENT if drops_empty and not value else None

    return read


def _compile_scalar(types: tuple[type, ...], drops_empty: bool) -> Reader:
    def read(value: Any) -> Any:
        if value.__class__ not in types:
            raise Irregular
        return ABSENT if drops_empty and not value else None

    return read


def _compile_choice(alternative: type) -> Reader:
    read_schema = compile_reader(load_definition(SCHEMA))

    def read(value: Any) -> None:
        if value.__class__ is dict:
            read_schema(value)
        elif alternative is not bool or value.__class__ is not bool:
            # Lists of schemas are not structural, so no definition has them.
            raise Irregular

    return read


def _compile_list(shape: Shape, drops_empty: bool) -> Reader:
    return _compile_entries(shape, list, (enumerate, list.__iter__), drops_empty)


def _compile_map(shape: Shape, drops_empty: bool) -> Reader:
    return _compile_entries(shape, dict, (dict.items, dict.values), drops_empty)


def _compile_entries(
    shape: Shape,
    container: Any,  # the class
    walks: tuple[Callable[[Any], Any], Callable[[Any], Any]],
    drops_empty: bool,
) -> Reader:
    """Read a list or a map; ``walks`` give its entries with their places, and without."""
    assert shape.items is not None
    walk, walk_values = walks
    if _is_text(shape.items):
        return _compile_texts(container, walk_values, drops_empty)
    read_entry = _compile_field(shape.items, drops_empty=False)

    def read(values: Any) -> Any:
        if values.__class__ is not container:
            raise Irregular
        for place, value in walk(values):
            if value is None:
                raise Irregular
            answer = read_entry(value)
            if answer is not None:
                values[place] = answer
        return ABSENT if drops_empty and not values else None

    return read


def _compile_texts(container: type, walk: Callable[[Any], Any], drops_empty: bool) -> Reader:
    def read(values: Any) -> Any:
        if values.__class__ is not container:
            raise Irregular
        for value in walk(values):
            if value.__class__ is not str:
                raise Irregular
        return ABSENT if drops_empty and not values else None

    return read


_CONTAINERS = {Type.LIST: _compile_list, Type.MAP: _compile_map}
