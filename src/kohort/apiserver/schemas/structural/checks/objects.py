"""
Checks of objects and maps: their fields, which are required, and how many there may be.

The check of a field is made when the first value of that name comes.
"""

from collections.abc import Callable
from typing import Any

from kohort.apiserver.schemas.structural.checks import lists
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
            found.append(lists.too_many(len(value), most))
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
