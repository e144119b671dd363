"""
Checks of strings and numbers: length, pattern, format, bounds, multiples.

Each maker looks at a schema once and returns a closure, or None if the schema
asks for nothing. A string breaks at most one of length and pattern, a number
may break several bounds, because the API reports them so.
"""

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from kohort.apiserver.schemas.structural.checks.formats import find_format
from kohort.apiserver.schemas.structural.checks.problems import (
    PATH,
    Check,
    Found,
    Problem,
    invalid,
    loose,
    type_problem,
)
from kohort.apiserver.schemas.structural.node import Schema
from kohort.cluster.fields import FieldErrorType, show
from kohort.cluster.patterns import compile_pattern

_INTEGER_BITS = {"int32": 31, "int64": 63}
_LONG = 1 << 63
_EXACT = 1 << 53
_FLOAT32_MAX = 3.4028234663852886e38


def string_check(schema: Schema) -> Check | None:
    """The check of minLength, maxLength and pattern."""
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    pattern = schema.get("pattern")
    if longest is None and shortest is None and not pattern:
        return None
    search = compile_pattern(pattern).search if pattern else None

    def check(value: str) -> Found:
        if longest is not None and len(value) > longest:
            unit = "byte" if longest == 1 else "bytes"
            return [Problem(FieldErrorType.TOO_LONG, f"may not be more than {longest} {unit}")]
        if shortest is not None and len(value) < shortest:
            return [invalid(f"should be at least {shortest} chars long", value)]
        if search is not None and search(value) is None:
            return [invalid(f"should match '{pattern}'", value)]
        return None

    return check


def format_check(name: str) -> Check | None:
    """The check of a string's format."""
    holds = find_format(name)
    if holds is None:
        return None

    def check(value: str) -> Found:
        if holds(value):
            return None
        shown = orjson.dumps(value).decode()
        detail = f"{PATH} in body must be of type {name}: {shown}"
        return [Problem(FieldErrorType.TYPE_INVALID, detail, value)]

    return check


def number_check(schema: Schema) -> Check | None:
    """The check of a number: format's range, multipleOf, minimum and maximum."""
    parts = [
        part
        for part in (_range_check(schema), _multiple_check(schema), *_bound_checks(schema))
        if part is not None
    ]
    if not parts:
        return None

    def check(value: float) -> Found:
        return [problem for part in parts for problem in part(value) or ()] or None

    return check


def _range_check(schema: Schema) -> Check | None:
    type_, format_ = schema.get("type"), schema.get("format") or ""
    bits = _INTEGER_BITS.get(format_, 63) if type_ == "integer" else 0
    single = type_ == "number" and format_ == "float"
    text = _range_text(str(type_), format_ if format_ in ("int32", "int64", "float") else "")
    if not bits and not single:
        return None

    def check(value: float) -> Found:
        if bits and isinstance(value, int) and not -_LONG <= value < _LONG:
            # The API has decoded such a number as a float before this check.
            wrong = type_problem(format_ or "integer", "float64" if format_ else "number")
            return [wrong, loose(text)]
        if (bits and not _is_in_range(value, bits)) or (single and abs(value) > _FLOAT32_MAX):
            return [loose(text)]
        return None

    return check


def _bound_checks(schema: Schema) -> Iterator[Check]:
    if schema.get("minimum") is not None:
        exclusive = bool(schema.get("exclusiveMinimum"))
        words = "greater than" if exclusive else "greater than or equal to"
        yield _bound_check(schema["minimum"], operator.gt if exclusive else operator.ge, words)
    if schema.get("maximum") is not None:
        exclusive = bool(schema.get("exclusiveMaximum"))
        words = "less than" if exclusive else "less than or equal to"
        yield _bound_check(schema["maximum"], operator.lt if exclusive else operator.le, words)


def _bound_check(limit: float, holds: Callable[[Any, Any], bool], words: str) -> Check:
    def check(value: float) -> Found:
        # For an integer value the API truncates the bound to an integer.
        bound = int(limit) if isinstance(value, int) else float(limit)
        return None if holds(value, bound) else [invalid(f"should be {words} {show(bound)}", value)]

    return check


def _multiple_check(schema: Schema) -> Check | None:
    factor = schema.get("multipleOf")
    if factor is None:
        return None

    def check(value: float) -> Found:
        bound = int(factor) if isinstance(value, int) else float(factor)
        if bound <= 0:
            words = f"factor MultipleOf declared for {PATH} must be positive: {show(bound)}"
            return [Problem(FieldErrorType.INVALID, words, bound)]
        if _is_multiple(value, bound):
            return None
        return [invalid(f"should be a multiple of {show(bound)}", value)]

    return check


def is_whole(value: float) -> bool:
    """Whether a float passes for an integer: whole, and small enough to be exact."""
    return value.is_integer() and abs(value) < _EXACT


def _is_in_range(value: float, bits: int) -> bool:
    whole = isinstance(value, int) or value.is_integer()
    return whole and -(1 << bits) <= value < (1 << bits)


def _range_text(type_: str, format_: str) -> str:
    kind = f"{type_} with format {format_}" if format_ else f"{type_} (default format)"
    return f"Checked value must be of type {kind} in {PATH}"


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int):
        return value % factor == 0
    quotient = value / factor if factor >= 1 else 1 / factor * value
    near = math.isclose(quotient, round(quotient), rel_tol=1e-9, abs_tol=1e-9)
    return abs(quotient) < _EXACT and near
