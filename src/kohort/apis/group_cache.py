"""
The groups of a workload as last read, so that only changed groups are read again.

Facts in caches are replaced and never changed, so a group whose facts are the very same
objects reads the same. This cache holds the facts and compares them by identity, so no
other object can reuse their ids. It may be dropped at any time without harm.
"""

from collections.abc import Callable, Collection
from operator import is_
from typing import Generic, TypeVar

T = TypeVar("T")


class GroupCache(Generic[T]):
    """Groups by number, each with the facts that it was read from."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[object, ...], T]] = {}

    def read(self, number: int, facts: tuple[object, ...], read: Callable[[], T]) -> T:
        """The cached group if it was read from these very facts; otherwise read it now."""
        known = self._known.get(number)
        if known is not None and len(known[0]) == len(facts) and all(map(is_, known[0], facts)):
            return known[1]
        value = read()
        self._known[number] = facts, value
        return value

    def keep(self, numbers: Collection[int]) -> None:
        """Forget all groups with other numbers."""
        if len(self._known) > len(numbers):
            self._known = {n: known for n, known in self._known.items() if n in numbers}
