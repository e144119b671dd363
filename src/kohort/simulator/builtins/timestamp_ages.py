"""
The age of a timestamp on an object, in simulated seconds.

Timestamps are wall time, and simulated time may be stepped, paused or fast, so an age cannot
be computed from the timestamp alone. We keep the simulated time at which each timestamp was
first seen. One that an earlier process wrote is as old as wall time says.
"""

from kohort.simulator.builtins.readiness import seconds_since
from kohort.simulator.component import Moment

_STAMP_SECONDS = 1.0  # the resolution of a timestamp


class Stamps:
    """The simulated time at which each timestamp was first seen."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, float]] = {}

    def age(self, key: str, stamp: str, moment: Moment) -> float:
        """The age of a timestamp in simulated seconds; a new timestamp of a key starts at zero."""
        known = self._seen.get(key)
        if known is None or known[0] != stamp:
            before = seconds_since(stamp, moment)
            began = moment.elapsed - (before if before >= _STAMP_SECONDS else 0.0)
            known = self._seen[key] = (stamp, began)
        return moment.elapsed - known[1]

    def forget(self, *keys: str) -> None:
        """Forget the timestamps of some keys."""
        for key in keys:
            self._seen.pop(key, None)
