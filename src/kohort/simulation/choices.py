"""
One stream of decisions: everything random in a simulation is drawn from here.

A stream begins with a seed, or with the list of numbers that an earlier one took:
the same beginning gives the same answers. ``fork`` makes a stream of its own for
one purpose, so that a decision more in one place changes nothing in another.
"""

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Decisions, taken one after the other, and remembered."""

    def __init__(self, seed: int | str = 0, recorded: Sequence[int] | None = None) -> None:
        self.seed = seed
        self.taken: list[int] = []
        self._random = Random(seed)
        self._recorded = None if recorded is None else list(recorded)

    def fork(self, purpose: str) -> "Choices":
        """A stream of its own, which begins with the same seed."""
        return Choices(f"{self.seed}/{purpose}")

    def below(self, count: int) -> int:
        """A whole number from 0 on; a record that has ended answers 0."""
        assert count > 0
        if self._recorded is None:
            number = self._random.randrange(count)
        else:
            place = len(self.taken)
            number = self._recorded[place] % count if place < len(self._recorded) else 0
        self.taken.append(number)
        return number

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.below(len(options))]

    def happens(self, percent: int) -> bool:
        """Whether something that happens so often happens now."""
        return self.below(100) < percent

    def between(self, low: float, high: float) -> float:
        """A number of hundredths within limits."""
        steps = max(1, round((high - low) * 100))
        return round(low + self.below(steps + 1) / 100, 2)

    def mix(self, items: MutableSequence[T]) -> None:
        """Put items into another order."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
