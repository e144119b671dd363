"""
Quantities: amounts of resources, as people write them and as the API writes them back.

``1000m`` and ``1`` are one amount, and the API keeps the second: whole numbers
with the largest suffix that loses nothing. Binary amounts stay binary. Amounts
are whole numbers of billionths here, which is the finest that the API knows.
"""

import re
from functools import lru_cache
from typing import Any

NANO = 10**9

_PATTERN = re.compile(
    r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([numkMGTPE]|[KMGTPE]i)?|[eE]([+-]?\d+))\Z", re.ASCII
)
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_EXPONENTS = {suffix: exponent for exponent, suffix in _DECIMAL.items()}


class BadQuantity(ValueError):
    """The text is no quantity."""


@lru_cache(maxsize=4096)
def read_quantity(text: str) -> int:
    """The amount in billionths; finer ones are rounded up."""
    return _read(text)[0]


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The quantity as the API writes it."""
    nano, style = _read(text)
    if nano == 0:
        return "0"
    if style == "binary" and abs(nano) >= 1024 * NANO and nano % NANO == 0:
        return _write_binary(nano // NANO)
    return _write_decimal(nano, style == "exponent")


def canonicalise(amounts: dict[str, Any]) -> None:
    """Rewrite the quantities of a resource list in place; what is none stays, to be refused."""
    for name, value in amounts.items():
        text = value if isinstance(value, str) else str(value)
        try:
            amounts[name] = canonical(text)
        except BadQuantity:
            amounts[name] = text


def _read(text: str) -> tuple[int, str]:
    match = _PATTERN.match(text)
    if match is None:
        raise BadQuantity(text)
    sign, digits, suffix, exponent = match.groups()
    whole, _, fraction = digits.partition(".")
    mantissa = int((whole or "0") + fraction)
    if suffix and suffix.endswith("i"):
        scaled = mantissa * 1024 ** _BINARY.index(suffix) * NANO
        power, style = -len(fraction), "binary"
    else:
        scaled = mantissa
        power = 9 - len(fraction) + (int(exponent) if exponent else _EXPONENTS[suffix or ""])
        style = "exponent" if exponent else "decimal"
    nano = scaled * 10**power if power >= 0 else -(-scaled // 10**-power)
    return (-nano if sign == "-" else nano), style


def _write_binary(value: int) -> str:
    step = 0
    while value % 1024 == 0 and step < len(_BINARY) - 1:
        value //= 1024
        step += 1
    return f"{value}{_BINARY[step]}"


def _write_decimal(nano: int, with_exponent: bool) -> str:
    exponent = -9
    while nano % 1000 == 0 and exponent < 18:
        nano //= 1000
        exponent += 3
    if with_exponent:
        return f"{nano}e{exponent}" if exponent else str(nano)
    return f"{nano}{_DECIMAL[exponent]}"
