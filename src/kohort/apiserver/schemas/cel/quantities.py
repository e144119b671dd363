"""
Quantities: amounts such as ``1.5Gi`` or ``250m``, and the functions on them.

A quantity is kept as an exact fraction, so that ``1`` and ``1000m`` are equal.
"""

import re
from fractions import Fraction
from typing import Any

_QUANTITY = "kohort.quantity"
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POWER_MAX = 1_000
_DIGITS_MAX = 12
_TEXT = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))"
    r"(?:(?P<binary>[KMGTPE]i)|(?:[eE](?P<exponent>[+-]?\d+))|(?P<decimal>[numkMGTPE]?))"
)


def _parse(text: str) -> Fraction:
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


def _wrap(amount: Fraction) -> dict[str, str]:
    return {_QUANTITY: str(amount)}


def _read(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(value[_QUANTITY])


def make_quantity(text: str) -> dict[str, str]:
    """A quantity from its text."""
    return _wrap(_parse(text))


def is_quantity(text: str) -> bool:
    """Whether a text is a quantity."""
    return _TEXT.fullmatch(text) is not None


def is_integer(value: dict[str, str]) -> bool:
    """Whether a quantity is a whole number that fits in 64 bits."""
    amount = _read(value)
    return amount.denominator == 1 and -(1 << 63) <= amount < 1 << 63


def as_integer(value: dict[str, str]) -> int:
    """The quantity as a whole number, if it is one."""
    if not is_integer(value):
        raise ValueError("cannot convert value to integer")
    return int(_read(value))


def as_float(value: dict[str, str]) -> float:
    """The quantity as near as a float comes."""
    return float(_read(value))


def read_sign(value: dict[str, str]) -> int:
    """The sign of a quantity: 1, 0 or -1."""
    amount = _read(value)
    return (amount > 0) - (amount < 0)


def add(value: dict[str, str], other: Any) -> dict[str, str]:
    """The sum of two quantities, or of one and an integer."""
    return _wrap(_read(value) + _read(other))


def subtract(value: dict[str, str], other: Any) -> dict[str, str]:
    """The difference of two quantities, or of one and an integer."""
    return _wrap(_read(value) - _read(other))


def compare(value: dict[str, str], other: dict[str, str]) -> int:
    """How two quantities compare: one, zero or minus one."""
    return (_read(value) > _read(other)) - (_read(value) < _read(other))


def is_greater(value: dict[str, str], other: dict[str, str]) -> bool:
    """Whether a quantity is greater than another."""
    return _read(value) > _read(other)


def is_less(value: dict[str, str], other: dict[str, str]) -> bool:
    """Whether a quantity is less than another."""
    return _read(value) < _read(other)
