"""
Durations, as Go writes them: ``90s``, ``1m30s``, ``1.5h``, ``250ms``.

Durations of flags, scenario files, annotations and the operator's configuration are read
here. A plain number means seconds, except where a format of Kubernetes requires a unit.
"""

import math
import re
from typing import Any

# The longest duration of Go, whose nanoseconds have 63 bits: 292 years.
SECONDS_MAX = 2**63 / 1e9
_UNITS = {
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ns": 1e-9,
}
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART = re.compile(rf"({_NUMBER})(h|ms|us|µs|μs|ns|m|s)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")
_PLAIN = re.compile(_NUMBER)


def find_seconds(value: Any, *, needs_unit: bool = False) -> float | None:
    """The seconds of a duration, never negative; None if it is no duration."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = math.nan if needs_unit else float(max(-1, min(value, SECONDS_MAX * 2)))
    elif not isinstance(value, str):
        return None
    elif _WHOLE.fullmatch(value):
        found = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(value))
    elif _PLAIN.fullmatch(value) and not needs_unit:
        found = float(value)
    else:
        return None
    return found if 0 <= found < SECONDS_MAX else None


def find_signed_seconds(text: str) -> float | None:
    """The seconds of a duration that may have a sign; all but 0 need a unit. None if it is none."""
    rest = text[1:] if text[:1] in ("-", "+") else text
    found = 0.0 if rest == "0" else find_seconds(rest, needs_unit=True)
    return -found if found is not None and text.startswith("-") else found


def read_seconds(value: Any, *, needs_unit: bool = False) -> float:
    """The seconds of a duration; raises ValueError with an example of a duration."""
    found = find_seconds(value, needs_unit=needs_unit)
    if found is None:
        raise ValueError(f"must be a duration such as 15s or 1m30s, not {value!r}")
    return found
