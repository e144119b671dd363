"""
What was read of the parts of a workload last time, so that only changed parts are read.

Facts in caches are replaced and never changed, so a part whose facts are the very
same objects reads the same. Facts are held here and compared by identity: nothing
can take the place of one unnoticed. All of it may be lost without harm.
"""

from collections.abc import Callable, Collection
from operator import is_
from typing import Generic, TypeVar

T = TypeVar("T")


class GroupCache(Generic[T]):
    """Parts by number, each with the facts that it was read from."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[object, ...], T]] = {}

    def read(self, number: int, facts: tuple[object, ...], read: Callable[[], T]) -> T:
        """The part as it was read from these very facts, or read now."""
        known = self._known.get(number)
        if known is not None and len(known[0]) == len(facts) and all(map(is_, known[0], facts)):
            return known[1]
        value = read()
        self._known[number] = facts, value
        return value

    def keep(self, numbers: Collection[int]) -> None:
        """Forget all other parts."""
        if len(self._known) > len(numbers):
            self._known = {n: known for n, known in self._known.items() if n in numbers}
