"""
Figures: what a scenario found out, and how it compares with what was promised.

Wall-clock figures of a busy machine say little, so a scenario gives the CPU time
of the measured process beside them wherever it can.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal is met, if there is one."""
        if self.at_least is not None:
            return "met" if self.value >= self.at_least else "MISSED"
        if self.at_most is not None:
            return "met" if self.value <= self.at_most else "MISSED"
        return ""

    def as_json(self, scenario: str) -> dict[str, Any]:
        """The figure as one line of a results file."""
        return {"scenario": scenario, **asdict(self), "verdict": self.verdict}


def show_table(scenario: str, figures: Iterable[Figure]) -> str:
    """The figures of one scenario as lines of a table."""
    lines = [scenario]
    for figure in figures:
        value = f"{figure.value:,.{_digits(figure.value)}f}"
        lines.append(
            f"  {figure.name:<46}{value:>12} {figure.unit:<10}{_goal(figure):<12}"
            f"{figure.verdict:<8}{figure.note}".rstrip()
        )
    return "\n".join(lines)


def _goal(figure: Figure) -> str:
    if figure.at_least is not None:
        return f">= {figure.at_least:,g}"
    return f"<= {figure.at_most:,g}" if figure.at_most is not None else ""


def _digits(value: float) -> int:
    size = abs(value)
    if size >= 100:
        return 0
    return 1 if size >= 10 else 2
