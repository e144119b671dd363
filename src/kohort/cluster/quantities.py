"""
This is where quantities are read and written: amounts such as 500m, 1Gi or 12e6.

A quantity has many spellings, and a real server answers with one of them, so
what was written and what is read back may differ as text though never as a
value. What cannot be read raises ``ValueError`` with the text that a client of
a real server sees.

Amounts are counted in billionths, the finest step the API knows, as plain
integers: sums are exact, and a finer amount rounds away from zero.
"""

import re

from kohort.cluster.answer_caches import keep_answers

NANOS = 10**9

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIXES = ("", *_BINARY)
_BINARY_MAX = (2**63 - 1) * NANOS
_FINEST = -9
# A number with more digits may not fit 64 bits, so its text is always made canonical.
_DIGITS_MAX = 18
# Larger exponents have no use, and their numbers would take long to write.
_EXPONENT_MAX = 4096
# Python refuses to parse numbers with more digits.
_DIGITS_READ_MAX = 4096

# Possessive groups do not backtrack: else a long text would be matched again at each digit.
_QUANTITY = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?[0-9]*+)")
_EXPONENT = re.compile(r"[eE]([-+]?[0-9]+)")
_BAD_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_TOO_LONG = f"quantities of more than {_DIGITS_READ_MAX} digits are not supported"
_BAD_SUFFIX = "unable to parse quantity's suffix"


def canonical_quantity(text: str) -> str:
    """The quantity as a real server writes it: 1000m is 1, 0.5 is 500m, 1024Mi is 1Gi."""
    return _read_quantity(text)[1]


def parse_quantity(value: str | int | float) -> int:
    """The quantity in billionths."""
    return _read_quantity(str(value))[0]


def whole_units(value: str | int | float) -> int:
    """The quantity in units, rounded up: bytes of memory, devices."""
    return -(-parse_quantity(value) // NANOS)


def milli_units(value: str | int | float) -> int:
    """The quantity in thousandths, rounded up: what processor time is counted in."""
    return -(-parse_quantity(value) // 10**6)


def write_quantity(nanos: int, *, is_binary: bool = False) -> str:
    """A count of billionths as text; in powers of 1024 if asked for and if that is exact."""
    if is_binary and nanos % NANOS == 0 and abs(nanos) >= 1024 * NANOS:
        units, power = nanos // NANOS, 0
        while units % 1024 == 0 and power < len(_BINARY):
            units, power = units // 1024, power + 1
        return f"{units}{_BINARY_SUFFIXES[power]}"
    # Beyond exa a real server writes no suffix at all, and so another amount; we keep the amount.
    mantissa, exponent = _drop_thousands(nanos, exponent_max=18)
    return f"{mantissa}{_DECIMAL_SUFFIXES[exponent]}"


@keep_answers(4096)
def _read_quantity(text: str) -> tuple[int, str]:
    """The value in billionths and the canonical text."""
    match = _QUANTITY.fullmatch(text) if text else None
    if match is None:
        raise ValueError(_BAD_QUANTITY)
    sign = -1 if match[1] == "-" else 1
    whole, fraction, suffix = match[2].lstrip("0"), match[3] or "", match[4]
    digits = (whole or "0") + fraction
    if len(digits) > _DIGITS_READ_MAX:
        raise ValueError(_TOO_LONG)
    if suffix in _BINARY:
        return _read_binary(text, sign * int(digits), len(fraction), _BINARY[suffix])
    exponent = _read_exponent(suffix)
    scale = exponent - len(fraction)
    nanos = sign * _shift(int(digits), scale - _FINEST)
    # A real server keeps such a text, even +1 or 1.500, which are not canonical.
    is_kept = len(digits) <= _DIGITS_MAX and scale >= _FINEST and scale % 3 == 0
    if is_kept and digits[0] != "0" and not digits.endswith("000"):
        return nanos, text
    if suffix in _DECIMAL:
        return nanos, write_quantity(nanos)
    mantissa, exponent = _drop_thousands(nanos)
    return nanos, f"{mantissa}e{exponent}" if exponent else str(mantissa)


def _read_binary(text: str, digits: int, places: int, power: int) -> tuple[int, str]:
    if not places and digits & 7 and len(str(abs(digits))) + 3 * power <= 14:
        return digits * 1024**power * NANOS, text
    nanos = _shift(abs(digits) * 1024**power, -_FINEST - places)
    nanos = min(nanos, _BINARY_MAX) * (-1 if digits < 0 else 1)
    return nanos, write_quantity(nanos, is_binary=True)


def _read_exponent(suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    match = _EXPONENT.fullmatch(suffix)
    exponent = int(match[1]) if match and len(match[1]) <= _DIGITS_READ_MAX else None
    if exponent is None or abs(exponent) > _EXPONENT_MAX:
        raise ValueError(_BAD_SUFFIX)
    return exponent


def _shift(digits: int, places: int) -> int:
    """The number times a power of ten, rounded up."""
    power: int = 10 ** abs(places)
    return digits * power if places >= 0 else -(-digits // power)


def _drop_thousands(nanos: int, exponent_max: int = _EXPONENT_MAX) -> tuple[int, int]:
    mantissa, exponent = nanos, _FINEST
    while mantissa and mantissa % 1000 == 0 and exponent < exponent_max:
        mantissa, exponent = mantissa // 1000, exponent + 3
    return (mantissa, exponent) if mantissa else (0, 0)
