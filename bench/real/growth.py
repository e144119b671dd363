"""Fitting: whether something grows as its cause does."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Fit:
    """A straight line, how well it fits, and the power of growth: 1 is linear, 2 is square."""

    base: float
    slope: float
    share: float  # of the variance that the line explains
    power: float


def fit_line(points: Points) -> Fit:
    """The line of least squares, and the slope of the logarithms."""
    base, slope = _fit(points)
    mean = sum(y for _, y in points) / len(points)
    total = sum((y - mean) ** 2 for _, y in points)
    left = sum((y - base - slope * x) ** 2 for x, y in points)
    _, power = _fit([(math.log(x), math.log(max(y, 1e-3))) for x, y in points])
    return Fit(base, slope, 1 - left / total if total else 1.0, power)


def _fit(points: Points) -> tuple[float, float]:
    count = len(points)
    x_mean, y_mean = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    width = sum((x - x_mean) ** 2 for x, _ in points)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points) / width if width else 0.0
    return y_mean - slope * x_mean, slope
