"""Sizes of models, such as 7B: parsing, and whether a runtime's range includes a size."""

import re

from kohort.apis.inferenceservice.runtimes import ServingRuntime

_UNITS = {"T": 10**12, "B": 10**9, "M": 10**6}
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


def count_parameters(text: str) -> float:
    """The number of parameters in a text such as 7B; 0 if invalid, as with lower case units."""
    unit = _UNITS.get(text[-1:], 1)
    number = text[:-1] if text[-1:] in _UNITS else text
    return float(number) * unit if _NUMBER.fullmatch(number) else 0.0


def is_in_range(size: str, runtime: ServingRuntime) -> bool:
    """Whether a runtime serves models of this size; a missing bound is open."""
    count = count_parameters(size)
    if runtime.size_min and count < count_parameters(runtime.size_min):
        return False
    return not runtime.size_max or count <= count_parameters(runtime.size_max)


def measure_distance(size: str, runtime: ServingRuntime) -> float:
    """The sum of a size's distances to both bounds of a runtime's range; 0 without a range."""
    count = count_parameters(size)
    ends = [count_parameters(end) for end in (runtime.size_min, runtime.size_max) if end]
    return sum(abs(end - count) for end in ends)
