"""
Validation: a schema turned into closures, one table of checks for each JSON type.

Whether a type is right is decided when the schema is read, so a scalar that has
only a type costs one dictionary look-up. Inner schemas are read when a value
first leads to them, because most of a pod template is never used. The order of
checks is the order in which the API reports them.
"""

import math
from types import NoneType
from typing import Any

from kohort.apiserver.schemas.structural.checks import combinations, objects, scalars
from kohort.apiserver.schemas.structural.checks.formats import find_format
from kohort.apiserver.schemas.structural.checks.problems import (
    Check,
    Found,
    Problem,
    type_problem,
)
from kohort.apiserver.schemas.structural.node import Schema
from kohort.cluster.fields import FieldErrorType

Table = dict[type, tuple[Check, ...]]

_NAMES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    NoneType: "null",
}
# The API's names for formats of values that are no strings.
_SEEN_FORMATS = {"integer": "int64", "number": "float64"}


def compile_check(schema: Schema, *, root: bool = False) -> Check:
    """One check of a whole schema, at all depths of a value."""
    table: Table = {kind: tuple(_parts(schema, kind, root)) for kind in _NAMES}
    if not any(table.values()):
        return _accept

    def check(value: Any) -> Found:
        problems: Found = None
        for part in table[type(value)]:
            found = part(value)
            if found:
                problems = found if problems is None else problems + found
        return problems

    return check


def lazy_check(schema: Schema) -> Check:
    """As ``compile_check``, but compiled when the first value comes."""
    compiled: Check | None = None

    def check(value: Any) -> Found:
        nonlocal compiled
        if compiled is None:
            compiled = compile_check(schema)
        return compiled(value)

    return check


def _accept(value: Any) -> Found:
    return None


def _parts(schema: Schema, kind: type, root: bool) -> list[Check]:
    found = [_type_check(schema, kind)]
    if kind is not NoneType:
        found.append(combinations.combined_check(schema, compile_check))
        found += _kind_checks(schema, kind)
    enum = schema.get("enum")
    if enum:
        found.append(_enum_check(enum))
    if kind is dict:
        found.append(objects.object_check(schema, root, compile_check))
    if kind is list and schema.get("x-kubernetes-list-type") == "set":
        found.append(objects.set_check)
    elif kind is list and schema.get("x-kubernetes-list-type") == "map":
        found.append(objects.keyed_check(schema.get("x-kubernetes-list-map-keys") or []))
    return [part for part in found if part is not None]


def _kind_checks(schema: Schema, kind: type) -> list[Check | None]:
    if kind is str:
        format_ = _format_of(schema)
        return [scalars.string_check(schema), scalars.format_check(format_) if format_ else None]
    if kind is int or kind is float:
        return [scalars.number_check(schema)]
    if kind is list:
        items = schema.get("items")
        entries = objects.entries_check(lazy_check(items)) if isinstance(items, dict) else None
        return [entries, objects.size_check(schema)]
    return []


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types that a value may have; none named means any."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


def _format_of(schema: Schema) -> str:
    """The format, if it is one that the API checks for this type."""
    name: str = schema.get("format") or ""
    types = types_of(schema)
    if not types or types == ("string",):
        return name if find_format(name) else ""
    if types == ("integer",):
        return name if name in ("int32", "int64") else ""
    if types == ("number",):
        return name if name in ("float", "double") else ""
    return ""


def _type_check(schema: Schema, kind: type) -> Check | None:
    expected, seen = types_of(schema), _NAMES[kind]
    format_ = _format_of(schema)
    if kind is NoneType:
        allowed = not expected or bool(schema.get("nullable"))
        return None if allowed else _wrong_type(",".join(expected), seen)
    fits = seen in expected or (seen == "integer" and "number" in expected)
    if fits or not (expected or format_):
        return None
    if kind is float and "integer" in expected:
        return _whole_check(format_ or ",".join(expected), "float64" if format_ else "number")
    return _misfit_check(expected, format_, kind)


def _misfit_check(expected: tuple[str, ...], format_: str, kind: type) -> Check | None:
    seen = _NAMES[kind]
    if format_ and kind is not str and kind is not list:
        return _wrong_type(format_, _SEEN_FORMATS.get(seen, ""))
    # As in the API, a list passes the check of a string with a format.
    if format_ and not {"number", "integer"} & set(expected):
        return None
    return _wrong_type(",".join(expected), seen)


def _wrong_type(expected: str, seen: str) -> Check:
    return lambda value: [type_problem(expected, seen)]


def _whole_check(expected: str, seen: str) -> Check:
    return lambda value: None if scalars.is_whole(value) else [type_problem(expected, seen)]


def _enum_check(enum: list[Any]) -> Check:
    texts = [entry if isinstance(entry, str) else combinations.to_json(entry) for entry in enum]
    detail = "supported values: " + ", ".join(combinations.to_json(text) for text in texts)
    plain = {entry for entry in enum if isinstance(entry, str)}

    def check(value: Any) -> Found:
        if type(value) is str:
            allowed = value in plain
        else:
            # The API truncates a float to an integer before it compares.
            cut = int(value) if type(value) is float and math.isfinite(value) else value
            is_flag = isinstance(value, bool)
            allowed = any(
                (value == entry or (type(entry) is int and cut == entry))
                and is_flag == isinstance(entry, bool)
                for entry in enum
                if entry is not None
            )
        return None if allowed else [Problem(FieldErrorType.NOT_SUPPORTED, detail, value)]

    return check
