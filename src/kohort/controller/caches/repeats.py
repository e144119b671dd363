"""
What is done to one object again and again in quick succession is done more and more slowly.

What goes as soon as it is made goes for a reason that we do not see yet, such as an owner that has
gone; and what comes back as soon as it is deleted is made from something that we do not see yet,
such as a template that another client edited while a watch was silent.
"""

from collections.abc import Callable

from kohort.cluster.port import Address

# What was done so often, each time within so many seconds of the last, is done more slowly.
QUICK_MAX = 5
QUICK_SECONDS = 2.0
PAUSE_SECONDS_MAX = 30.0
KEPT_MAX = 10_000


class Repeats:
    """To which objects the same was done, and how often in quick succession."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._done: dict[Address, tuple[int, float]] = {}

    def may_repeat(self, address: Address) -> bool:
        """Whether it is time to do it, once more or for the first time."""
        count, last = self._done.get(address, (0, 0.0))
        return self._elapsed() - last >= _pause_seconds(count)

    def note(self, address: Address) -> None:
        """It was done."""
        now = self._elapsed()
        count, last = self._done.get(address, (0, now))
        is_quick = now - last < QUICK_SECONDS + _pause_seconds(count)
        if len(self._done) >= KEPT_MAX:
            self._done.clear()
        self._done[address] = (count + 1 if is_quick else 1, now)


def _pause_seconds(count: int) -> float:
    if count < QUICK_MAX:
        return 0.0
    return min(float(2 ** (count - QUICK_MAX)), PAUSE_SECONDS_MAX)
