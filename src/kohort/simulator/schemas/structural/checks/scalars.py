"""
Checks of strings and numbers: length, pattern, format, bounds, multiples.

Each maker looks at a schema once and returns a closure, or None if the schema
asks for nothing. A string breaks at most one of length and pattern, a number
may break several bounds, because the API reports them so.
"""

import math
from typing import Any

import orjson

from kohort.cluster.fields import Fault
from kohort.simulator.schemas.cel.patterns import compile_pattern
from kohort.simulator.schemas.structural.checks.formats import find_format
from kohort.simulator.schemas.structural.checks.problems import (
    PATH,
    Check,
    Found,
    Problem,
    invalid,
    loose,
    type_problem,
)
from kohort.simulator.schemas.structural.node import Schema

_INTEGER_BITS = {"int32": 31, "int64": 63}
_LONG = 1 << 63
_EXACT = 1 << 53
_FLOAT32_MAX = 3.4028234663852886e38


def string_check(schema: Schema) -> Check | None:
    """Length and pattern."""
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    pattern = schema.get("pattern")
    if longest is None and shortest is None and not pattern:
        return None
    search = compile_pattern(pattern).search if pattern else None

    def check(value: str) -> Found:
        if longest is not None and len(value) > longest:
            unit = "byte" if longest == 1 else "bytes"
            return [Problem(Fault.TOO_LONG, f"may not be more than {longest} {unit}")]
        if shortest is not None and len(value) < shortest:
            return [invalid(f"should be at least {shortest} chars long", value)]
        if search is not None and search(value) is None:
            return [invalid(f"should match '{pattern}'", value)]
        return None

    return check


def format_check(name: str) -> Check | None:
    """The format of a string."""
    holds = find_format(name)
    if holds is None:
        return None

    def check(value: str) -> Found:
        if holds(value):
            return None
        shown = orjson.dumps(value).decode()
        detail = f"{PATH} in body must be of type {name}: {shown}"
        return [Problem(Fault.TYPE_INVALID, detail, value)]

    return check


def number_check(schema: Schema) -> Check | None:
    """Range of the format, multiples, and both bounds."""
    type_, format_ = schema.get("type"), schema.get("format") or ""
    factor = schema.get("multipleOf")
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = bool(schema.get("exclusiveMinimum")), bool(schema.get("exclusiveMaximum"))
    bits = _INTEGER_BITS.get(format_, 63) if type_ == "integer" else 0
    single = type_ == "number" and format_ == "float"
    range_text = _range_text(str(type_), format_ if format_ in ("int32", "int64", "float") else "")

    def check(value: float) -> Found:
        found: list[Problem] = []
        if bits and isinstance(value, int) and not -_LONG <= value < _LONG:
            # The API has read such a number as a float before it gets here.
            found.append(type_problem(format_ or "integer", "float64" if format_ else "number"))
        if (bits and not _is_in_range(value, bits)) or (single and abs(value) > _FLOAT32_MAX):
            found.append(loose(range_text))
        if factor is not None and not _is_multiple(value, factor):
            found.append(invalid(f"should be a multiple of {_bound(factor, value)}", show(value)))
        if low is not None and (value < low or (above and value == low)):
            words = "greater than" if above else "greater than or equal to"
            found.append(invalid(f"should be {words} {_bound(low, value)}", show(value)))
        if high is not None and (value > high or (below and value == high)):
            words = "less than" if below else "less than or equal to"
            found.append(invalid(f"should be {words} {_bound(high, value)}", show(value)))
        return found or None

    asks = bits or single or factor is not None or low is not None or high is not None
    return check if asks else None


def show(value: float) -> Any:
    """A number as texts print it: a whole float has no fraction."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return int(value) if whole else value


def is_whole(value: float) -> bool:
    """Whether a float passes for an integer: whole, and small enough to be exact."""
    return value.is_integer() and abs(value) < _EXACT


def _is_in_range(value: float, bits: int) -> bool:
    whole = isinstance(value, int) or value.is_integer()
    return whole and -(1 << bits) <= value < (1 << bits)


def _range_text(type_: str, format_: str) -> str:
    kind = f"{type_} with format {format_}" if format_ else f"{type_} (default format)"
    return f"Checked value must be of type {kind} in {PATH}"


def _bound(bound: float, value: float) -> str:
    """A bound as the API prints it, which cuts it to an integer beside an integer."""
    if isinstance(value, int):
        return str(int(bound))
    return str(show(bound))


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and float(factor).is_integer():
        return value % int(factor) == 0
    quotient = value / factor if factor >= 1 else 1 / factor * value
    return math.isclose(quotient, round(quotient), rel_tol=1e-9, abs_tol=1e-9)
