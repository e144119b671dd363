"""
How many simulated seconds have passed since something was stamped.

Stamps are wall time, so they cannot tell by themselves: a clock that is stepped, paused
or fast leaves them behind. The time at which a stamp was first seen is kept with it. One
that was written by an earlier process is as old as wall time says.
"""

from kohort.simulator.builtins.readiness import seconds_since
from kohort.simulator.component import Moment

_STAMP_SECONDS = 1.0  # what a stamp does not tell apart


class Stamps:
    """When each stamp was first seen."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, float]] = {}

    def age(self, key: str, stamp: str, moment: Moment) -> float:
        """How many simulated seconds old a stamp is; another stamp of the key begins anew."""
        known = self._seen.get(key)
        if known is None or known[0] != stamp:
            before = seconds_since(stamp, moment)
            began = moment.elapsed - (before if before >= _STAMP_SECONDS else 0.0)
            known = self._seen[key] = (stamp, began)
        return moment.elapsed - known[1]

    def forget(self, *keys: str) -> None:
        """Begin anew with the next stamps of some keys."""
        for key in keys:
            self._seen.pop(key, None)
