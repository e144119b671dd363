"""
Functions that the API adds to CEL: lists, sets, regular expressions, URLs, addresses, quantities.

The engine has no values of our own types, so a function such as ``quantity`` returns a
map with one special key; two such maps are equal when they mean the same. A quantity
(``1.5Gi``, ``250m``) is kept as an exact fraction, so that ``1`` and ``1000m`` are equal. Named
formats, semantic versions and macros with two variables are missing: the compiler refuses
expressions that use them.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

from cel_expr_python import cel

from kohort.apiserver.schemas.cel import addresses
from kohort.cluster.patterns import BadPatternError, compile_pattern


def is_sorted(values: list[Any]) -> bool:
    """Whether no entry is greater than the next."""
    return all(first <= second for first, second in pairwise(values))


def add_up(values: list[Any]) -> Any:
    """The sum; zero for an empty list."""
    start: Any = timedelta() if values and isinstance(values[0], timedelta) else 0
    return sum(values, start)


def find_least(values: list[Any]) -> Any:
    """The least entry; an empty list has none."""
    if not values:
        raise ValueError("min called on empty list")
    return min(values)


def find_greatest(values: list[Any]) -> Any:
    """The greatest entry; an empty list has none."""
    if not values:
        raise ValueError("max called on empty list")
    return max(values)


def index_of(values: list[Any], wanted: Any) -> int:
    """The first position of a value, or -1."""
    return values.index(wanted) if wanted in values else -1


def last_index_of(values: list[Any], wanted: Any) -> int:
    """The last position of a value, or -1."""
    positions = [index for index, value in enumerate(values) if value == wanted]
    return positions[-1] if positions else -1


def contains_all(values: list[Any], wanted: list[Any]) -> bool:
    """Whether one list holds every entry of another."""
    return all(value in values for value in wanted)


def are_equivalent(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists hold the same entries."""
    return contains_all(first, second) and contains_all(second, first)


def have_common(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists have an entry in common."""
    return any(value in second for value in first)


def find_match(text: str, pattern: str) -> str:
    """The first match of a pattern; empty if there is none."""
    match = _compile_pattern(pattern).search(text)
    return match[0] if match else ""


def find_matches(text: str, pattern: str, limit: int = -1) -> list[str]:
    """The matches of a pattern, as many as allowed."""
    found = [match[0] for match in _compile_pattern(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _compile_pattern(pattern: str) -> Any:
    try:
        return compile_pattern(pattern)
    except BadPatternError as error:
        raise ValueError(f"Illegal regex: {error}") from error


_QUANTITY = "kohort.quantity"
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POWER_MAX = 1_000
_DIGITS_MAX = 12
_TEXT = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))"
    r"(?:(?P<binary>[KMGTPE]i)|(?:[eE](?P<exponent>[+-]?\d+))|(?P<decimal>[numkMGTPE]?))"
)


def _parse_quantity(text: str) -> Fraction:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    if len(match["number"]) > _POWER_MAX:
        raise ValueError("unable to parse quantity's number: it has too many digits")
    number = Fraction(match["number"])
    if match["binary"]:
        return number * (1 << 10 * _BINARY[match["binary"]])
    power = _DECIMAL[match["decimal"] or ""]
    if match["exponent"]:
        # Larger exponents have no use, and their zeros would only cost time.
        power = max(-_POWER_MAX, min(int(match["exponent"][:_DIGITS_MAX]), _POWER_MAX))
    scale: Fraction = Fraction(10) ** power
    return number * scale


def _wrap_quantity(amount: Fraction) -> dict[str, str]:
    return {_QUANTITY: str(amount)}


def _read_quantity(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(value[_QUANTITY])


def make_quantity(text: str) -> dict[str, str]:
    """A quantity from its text."""
    return _wrap_quantity(_parse_quantity(text))


def is_quantity(text: str) -> bool:
    """Whether a text is a quantity."""
    return _TEXT.fullmatch(text) is not None


def is_whole_quantity(value: dict[str, str]) -> bool:
    """Whether a quantity is a whole number that fits in 64 bits."""
    amount = _read_quantity(value)
    return amount.denominator == 1 and -(1 << 63) <= amount < 1 << 63


def quantity_as_integer(value: dict[str, str]) -> int:
    """The quantity as a whole number, if it is one."""
    if not is_whole_quantity(value):
        raise ValueError("cannot convert value to integer")
    return int(_read_quantity(value))


def quantity_as_float(value: dict[str, str]) -> float:
    """The quantity as near as a float comes."""
    return float(_read_quantity(value))


def read_quantity_sign(value: dict[str, str]) -> int:
    """The sign of a quantity: 1, 0 or -1."""
    amount = _read_quantity(value)
    return (amount > 0) - (amount < 0)


def add_quantities(value: dict[str, str], other: Any) -> dict[str, str]:
    """The sum of two quantities, or of one and an integer."""
    return _wrap_quantity(_read_quantity(value) + _read_quantity(other))


def subtract_quantities(value: dict[str, str], other: Any) -> dict[str, str]:
    """The difference of two quantities, or of one and an integer."""
    return _wrap_quantity(_read_quantity(value) - _read_quantity(other))


def compare_quantities(value: dict[str, str], other: dict[str, str]) -> int:
    """How two quantities compare: one, zero or minus one."""
    left, right = _read_quantity(value), _read_quantity(other)
    return (left > right) - (left < right)


def is_quantity_greater(value: dict[str, str], other: dict[str, str]) -> bool:
    """Whether a quantity is greater than another."""
    return _read_quantity(value) > _read_quantity(other)


def is_quantity_less(value: dict[str, str], other: dict[str, str]) -> bool:
    """Whether a quantity is less than another."""
    return _read_quantity(value) < _read_quantity(other)


_BOOL, _INT, _STRING, _DYN = cel.Type.BOOL, cel.Type.INT, cel.Type.STRING, cel.Type.DYN
_LIST, _MAP, _DOUBLE = cel.Type.LIST, cel.Type.MAP, cel.Type.DOUBLE

# Name, result, parameters, implementation; a member's first parameter stands before the dot.
_Row = tuple[str, Any, list[Any], Callable[..., Any]]

_FUNCTIONS: list[_Row] = [
    ("sets.contains", _BOOL, [_LIST, _LIST], contains_all),
    ("sets.equivalent", _BOOL, [_LIST, _LIST], are_equivalent),
    ("sets.intersects", _BOOL, [_LIST, _LIST], have_common),
    ("url", _DYN, [_STRING], addresses.make_url),
    ("isURL", _BOOL, [_STRING], addresses.is_url),
    ("ip", _DYN, [_STRING], addresses.make_ip),
    ("isIP", _BOOL, [_STRING], addresses.is_ip),
    ("ip.isCanonical", _BOOL, [_STRING], addresses.is_canonical),
    ("cidr", _DYN, [_STRING], addresses.make_cidr),
    ("isCIDR", _BOOL, [_STRING], addresses.is_cidr),
    ("quantity", _DYN, [_STRING], make_quantity),
    ("isQuantity", _BOOL, [_STRING], is_quantity),
]

_MEMBERS: list[_Row] = [
    ("isSorted", _BOOL, [_LIST], is_sorted),
    ("sum", _DYN, [_LIST], add_up),
    ("min", _DYN, [_LIST], find_least),
    ("max", _DYN, [_LIST], find_greatest),
    ("indexOf", _INT, [_LIST, _DYN], index_of),
    ("lastIndexOf", _INT, [_LIST, _DYN], last_index_of),
    ("find", _STRING, [_STRING, _STRING], find_match),
    ("findAll", _LIST, [_STRING, _STRING], find_matches),
    ("findAll", _LIST, [_STRING, _STRING, _INT], find_matches),
    *(
        (name, _STRING, [_MAP], implementation)
        for name, implementation in addresses.URL_PARTS.items()
    ),
    ("getQuery", _MAP, [_MAP], addresses.read_query),
    ("family", _INT, [_MAP], addresses.read_ip_version),
    *((name, _BOOL, [_MAP], implementation) for name, implementation in addresses.IP_TESTS.items()),
    ("containsIP", _BOOL, [_MAP, _DYN], addresses.contains_ip),
    ("containsCIDR", _BOOL, [_MAP, _DYN], addresses.contains_cidr),
    ("ip", _DYN, [_MAP], addresses.read_network),
    ("masked", _DYN, [_MAP], addresses.mask),
    ("prefixLength", _INT, [_MAP], addresses.read_prefix),
    ("asInteger", _INT, [_MAP], quantity_as_integer),
    ("asApproximateFloat", _DOUBLE, [_MAP], quantity_as_float),
    ("isInteger", _BOOL, [_MAP], is_whole_quantity),
    ("sign", _INT, [_MAP], read_quantity_sign),
    ("add", _DYN, [_MAP, _DYN], add_quantities),
    ("sub", _DYN, [_MAP, _DYN], subtract_quantities),
    ("compareTo", _INT, [_MAP, _MAP], compare_quantities),
    ("isGreaterThan", _BOOL, [_MAP, _MAP], is_quantity_greater),
    ("isLessThan", _BOOL, [_MAP, _MAP], is_quantity_less),
]


def make_library() -> Any:
    """The functions, as an extension of the engine."""
    return cel.CelExtension("kohort", [*_declare(_FUNCTIONS, _MEMBERS)])


def _declare(functions: list[_Row], members: list[_Row]) -> Iterator[Any]:
    overloads: dict[str, list[Any]] = {}
    for rows, member in ((functions, False), (members, True)):
        for name, result, parameters, implementation in rows:
            known = overloads.setdefault(name, [])
            identity = f"kohort_{name.replace('.', '_')}_{len(known)}"
            known.append(cel.Overload(identity, result, parameters, member, implementation))
    return (cel.FunctionDecl(name, known) for name, known in overloads.items())
