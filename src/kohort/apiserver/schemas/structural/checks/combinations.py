"""
Checks that combine others: anyOf, oneOf, allOf and not.

When no alternative holds, the API reports the one that came furthest, counted
in checks that passed. Counting costs, so it is done after the fact and only
for a value that has already failed.
"""

from collections.abc import Callable
from typing import Any

import orjson

from kohort.apiserver.schemas.structural.checks.problems import PATH, Check, Found, loose
from kohort.apiserver.schemas.structural.node import Schema

Compile = Callable[[Schema], Check]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def combined_check(schema: Schema, compile_check: Compile) -> Check | None:
    """The check of allOf, anyOf, oneOf and not, in the order in which the API reports them."""
    parts = [
        make(schema[keyword], compile_check)
        for keyword, make in (
            ("anyOf", _any_check),
            ("oneOf", _one_check),
            ("allOf", _all_check),
            ("not", _not_check),
        )
        if schema.get(keyword)
    ]
    if not parts:
        return None

    def check(value: Any) -> Found:
        problems = [problem for part in parts for problem in part(value) or ()]
        for problem in problems:
            problem.sheltered = len(problem.segments)
        return problems or None

    return check


def _any_check(schemas: list[Schema], compile_check: Compile) -> Check:
    if schemas == _INT_OR_STRING:
        return _int_or_string_check(compile_check)
    checks = [compile_check(schema) for schema in schemas]

    def check(value: Any) -> Found:
        failures: list[Found] = []
        for part in checks:
            found = part(value)
            if not found:
                return None
            failures.append(found)
        text = f'"{PATH}" must validate at least one schema (anyOf)'
        return [loose(text), *(_furthest(schemas, failures, value) or ())]

    return check


def _int_or_string_check(compile_check: Compile) -> Check:
    """The fast check of the anyOf that every int-or-string has."""
    integer = compile_check(_INT_OR_STRING[0])

    def check(value: Any) -> Found:
        if type(value) is str or type(value) is int:
            return None
        found = integer(value)
        if not found:
            return None
        return [loose(f'"{PATH}" must validate at least one schema (anyOf)'), *found]

    return check


def _one_check(schemas: list[Schema], compile_check: Compile) -> Check:
    checks = [compile_check(schema) for schema in schemas]

    def check(value: Any) -> Found:
        failures = [part(value) for part in checks]
        valid = sum(1 for found in failures if not found)
        if valid == 1:
            return None
        text = f'"{PATH}" must validate one and only one schema (oneOf). '
        if valid:
            return [loose(f"{text}Found {valid} valid alternatives")]
        best = _furthest(schemas, failures, value)
        return [loose(f"{text}Found none valid"), *(best or ())]

    return check


def _all_check(schemas: list[Schema], compile_check: Compile) -> Check:
    checks = [compile_check(schema) for schema in schemas]

    def check(value: Any) -> Found:
        failures = [found for part in checks if (found := part(value))]
        if not failures:
            return None
        ending = ". None validated" if len(failures) == len(checks) else ""
        problems = [problem for found in failures for problem in found]
        return [*problems, loose(f'"{PATH}" must validate all the schemas (allOf){ending}')]

    return check


def _not_check(schema: Schema, compile_check: Compile) -> Check:
    inner = compile_check(schema)

    def check(value: Any) -> Found:
        if inner(value):
            return None
        return [loose(f'"{PATH}" must not validate the schema (not)')]

    return check


def _furthest(schemas: list[Schema], failures: list[Found], value: Any) -> Found:
    scores = [_count_passed(schema, value) for schema in schemas]
    return failures[scores.index(max(scores))]


def _count_passed(schema: Schema, value: Any) -> int:
    """How many of the alternatives pass, counted as the API counts."""
    score = 0
    if schema.get("type"):
        score += 2 if type(value) in _TYPES.get(schema["type"], ()) else 1
    if type(value) is dict:
        for key, inner in (schema.get("properties") or {}).items():
            if key in value:
                score += 5 + _count_passed(inner, value[key])
    elif type(value) is list and isinstance(schema.get("items"), dict):
        score += sum(5 + _count_passed(schema["items"], entry) for entry in value)
    return score


def to_json(value: Any) -> str:
    """A value as messages quote it."""
    return orjson.dumps(value).decode()
