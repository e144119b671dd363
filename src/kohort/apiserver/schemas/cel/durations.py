"""
Durations in CEL, such as ``1h30m`` or ``250ms``.
"""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"[-+]?(?:{_PART.pattern})+|[-+]?0")


def parse_duration(text: str) -> float | None:
    """The duration in seconds; None if the text is no duration."""
    if not _WHOLE.fullmatch(text):
        return None
    total = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return -total if text.startswith("-") else total
