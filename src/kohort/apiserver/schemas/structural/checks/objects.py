"""
Checks of objects, maps and lists: their fields and entries, and how many there may be.

The check of a field is made when the first value of that name comes.

Duplicates in a set or a keyed list are found with the other problems but
reported after them, and once for each value however often it comes back.
"""

from collections.abc import Callable
from typing import Any

import orjson

from kohort.apiserver.schemas.structural.checks.problems import (
    PATH,
    Check,
    Found,
    Key,
    Problem,
    invalid,
)
from kohort.apiserver.schemas.structural.node import Schema
from kohort.cluster.fields import FieldErrorType


def entries_check(inner: Check) -> Check:
    """The check of every entry of a list."""

    def check(value: list[Any]) -> Found:
        problems: list[Problem] = []
        for index, entry in enumerate(value):
            found = inner(entry)
            if found:
                for problem in found:
                    problem.segments.append(index)
                problems += found
        return problems or None

    return check


def size_check(schema: Schema) -> Check | None:
    """The check of minItems, maxItems and uniqueItems."""
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    unique = bool(schema.get("uniqueItems"))
    if fewest is None and most is None and not unique:
        return None

    def check(value: list[Any]) -> Found:
        found: list[Problem] = []
        if fewest is not None and len(value) < fewest:
            found.append(invalid(f"should have at least {fewest} items", len(value)))
        if most is not None and len(value) > most:
            found.append(too_many(len(value), most))
        if unique and _repeated(value):
            found.append(invalid("shouldn't contain duplicates", ""))
        return found or None

    return check


def too_many(count: int, most: int) -> Problem:
    """The error for more entries or keys than allowed."""
    unit = "item" if most == 1 else "items"
    return Problem(FieldErrorType.TOO_MANY, f"must have at most {most} {unit}", count)


def set_check(value: list[Any]) -> Found:
    """The check that entries of a list of type set differ."""
    if len(value) < 2:
        return None
    return [_duplicate(index, value[index]) for index in _repeated(value)] or None


def keyed_check(keys: list[str]) -> Check:
    """The check that entries of a list of type map have different keys."""

    def check(value: list[Any]) -> Found:
        for index, entry in enumerate(value):
            if type(entry) is not dict and entry is not None:
                detail = "must be an object for an array of list-type map"
                return [_late(FieldErrorType.INVALID, index, entry, detail)]
        if len(value) < 2:
            return None
        found: list[dict[str, Any]] = []
        for entry in value:
            if type(entry) is dict:
                found.append({key: entry[key] for key in keys if key in entry})
            else:
                found.append({})
        return [_duplicate(index, found[index]) for index in _repeated(found)] or None

    return check


def _duplicate(index: int, value: Any) -> Problem:
    return _late(FieldErrorType.DUPLICATE, index, value, "")


def _late(fault: FieldErrorType, index: int, value: Any, detail: str) -> Problem:
    problem = Problem(fault, detail, value)
    problem.is_late = True
    problem.segments.append(index)
    return problem


def _repeated(values: list[Any]) -> list[int]:
    """The positions of repeated values."""
    seen: dict[bytes, int] = {}
    found: list[int] = []
    for index, value in enumerate(values):
        encoded = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        seen[encoded] = seen.get(encoded, 0) + 1
        if seen[encoded] == 2:
            found.append(index)
    return found


Compile = Callable[[Schema], Check]


def object_check(schema: Schema, root: bool, compile_check: Compile) -> Check | None:
    """The check of an object by a schema: properties, required fields and their number."""
    required: list[str] = schema.get("required") or []
    embedded = bool(schema.get("x-kubernetes-embedded-resource")) and not root
    sized, fields = _size_check(schema), _fields_check(schema, compile_check)
    if not (required or embedded or sized or fields):
        return None

    def check(value: dict[str, Any]) -> Found:
        problems: list[Problem] = []
        if sized is not None:
            problems += sized(value) or ()
        if fields is not None:
            problems += fields(value) or ()
        for key in required:
            if key not in value:
                problems.append(Problem(FieldErrorType.REQUIRED, "", tail=f".{key}"))
        if embedded:
            problems += _embedded_problems(value)
        return problems or None

    return check


def _fields_check(schema: Schema, compile_check: Compile) -> Check | None:
    properties: dict[str, Schema] = schema.get("properties") or {}
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and values and not properties:
        return _values_check(values, compile_check)
    if values is False and not properties:
        return _closed_check
    if not properties:
        return None
    known: dict[str, Check] = {}

    def check(value: dict[str, Any]) -> Found:
        problems: Found = None
        for key, inner in value.items():
            part = known.get(key)
            if part is None:
                if key not in properties:
                    continue
                part = known[key] = compile_check(properties[key])
            found = part(inner)
            if found:
                for problem in found:
                    problem.segments.append(key)
                problems = found if problems is None else problems + found
        return problems

    return check


def _closed_check(value: dict[str, Any]) -> Found:
    return [
        Problem(FieldErrorType.INVALID, f"{PATH}.{key} in body is a forbidden property", key)
        for key in value
    ]


def _values_check(values: Schema, compile_check: Compile) -> Check:
    inner = compile_check(values)

    def check(value: dict[str, Any]) -> Found:
        problems: list[Problem] = []
        for key, entry in value.items():
            found = inner(entry)
            if found:
                for problem in found:
                    problem.segments.append(Key(key))
                problems += found
        return problems or None

    return check


def _size_check(schema: Schema) -> Check | None:
    fewest, most = schema.get("minProperties"), schema.get("maxProperties")
    if fewest is None and most is None:
        return None

    def check(value: dict[str, Any]) -> Found:
        found: list[Problem] = []
        if fewest is not None and len(value) < fewest:
            found.append(invalid(f"should have at least {fewest} properties", len(value)))
        if most is not None and len(value) > most:
            found.append(too_many(len(value), most))
        return found

    return check


def _embedded_problems(value: dict[str, Any]) -> list[Problem]:
    found: list[Problem] = []
    for key in ("apiVersion", "kind"):
        if key not in value:
            problem = Problem(FieldErrorType.REQUIRED, "", tail=f".{key}")
            problem.is_late = True
            found.append(problem)
    return found
