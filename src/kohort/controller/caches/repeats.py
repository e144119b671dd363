"""
Backoff for objects that the operator creates, or deletes, again and again in quick succession.

An object that vanishes right after we create it does so for a reason that our caches do not show
yet, such as a deleted owner. An object that comes back right after we delete it is made from
something that our caches do not show yet, such as a template that another client edited while a
watch was silent.
"""

from collections.abc import Callable

from kohort.cluster.port import Address

# So many repeats, each within so many seconds of the last, start the backoff.
QUICK_MAX = 5
QUICK_SECONDS = 2.0
PAUSE_SECONDS_MAX = 30.0
KEPT_MAX = 10_000


class Repeats:
    """How often the same action was done to each object in quick succession."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._done: dict[Address, tuple[int, float]] = {}

    def may_repeat(self, address: Address) -> bool:
        """Whether the backoff allows the action on this object now."""
        count, last = self._done.get(address, (0, 0.0))
        return self._elapsed() - last >= _pause_seconds(count)

    def note(self, address: Address) -> None:
        """Note that the action was done to this object."""
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
