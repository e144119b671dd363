"""Sizes of models, such as 7B: how many parameters a text means, and whether a range has it."""

import re

from kohort.apis.inferenceservice.runtimes import ServingRuntime

_UNITS = {"T": 10**12, "B": 10**9, "M": 10**6}
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


def count_parameters(text: str) -> float:
    """How many parameters a text means; 0 if it means none. Lower case units are none."""
    unit = _UNITS.get(text[-1:], 1)
    number = text[:-1] if text[-1:] in _UNITS else text
    return float(number) * unit if _NUMBER.fullmatch(number) else 0.0


def is_in_range(size: str, runtime: ServingRuntime) -> bool:
    """Whether a runtime serves models of that size; an end that is not said is open."""
    count = count_parameters(size)
    if runtime.size_min and count < count_parameters(runtime.size_min):
        return False
    return not runtime.size_max or count <= count_parameters(runtime.size_max)


def measure_distance(size: str, runtime: ServingRuntime) -> float:
    """How far both ends of a runtime's range are from a size; 0 without a range."""
    count = count_parameters(size)
    ends = [count_parameters(end) for end in (runtime.size_min, runtime.size_max) if end]
    return sum(abs(end - count) for end in ends)
