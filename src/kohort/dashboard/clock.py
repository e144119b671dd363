"""
The time of a cluster, by which the dashboard judges workloads and its pages show ages.

Objects carry the stamps of their cluster's clock. That is the wall clock, unless the clock of the
API server is a minute or more from this machine's, by the date of its answers, or the cluster is
simulated with a clock of its own, which stands, leaps, and runs at a rate of its own. Between two
readings the time follows that rate. A reading that agrees with it but for its rounding and its
way here changes nothing, so that pages need not be told.
"""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kohort.cluster.objects import Object
from kohort.cluster.server_time import is_far, read_time
from kohort.controller.clock import LoopTime
from kohort.views.ages import find_time

_WAY_SECONDS = 0.5  # the longest that a reading takes on its way, unless the machine is busy
_ROUNDING_SECONDS = 1.0


class _Reading(NamedTuple):
    now: datetime
    elapsed: float  # of the event loop, when the clock was read
    rate: float  # seconds of the clock in a second; 0: it stands
    is_own: bool  # of a simulation; False: the clock of the API server's machine


class ClusterClock(LoopTime):
    """The event loop's clock for durations, and the cluster's clock for timestamps."""

    def __init__(self) -> None:
        self._reading: _Reading | None = None  # None: the cluster has the wall clock

    def now(self) -> datetime:
        """The time of the cluster, in UTC."""
        if self._reading is None:
            return super().now()
        passed = (self.elapsed() - self._reading.elapsed) * self._reading.rate
        return self._reading.now + timedelta(seconds=passed)

    @property
    def is_own(self) -> bool:
        """Whether the cluster is simulated with a clock of its own."""
        return self._reading is not None and self._reading.is_own

    @property
    def rate(self) -> float:
        """How many seconds of the cluster pass in a second."""
        return 1.0 if self._reading is None else self._reading.rate

    def describe(self) -> Object:
        """The time and its rate, as a page needs them."""
        return {"now": self.now().isoformat(timespec="milliseconds"), "rate": self.rate}

    def take(self, told: Object | None, date: str = "") -> bool:
        """
        Take a reading of the cluster's clock; whether the time is another now.

        ``told`` is the clock of a simulation, ``date`` the date of the server's answer; without
        either, the server did not answer.
        """
        if told is None and not date:
            return False
        before, after = self._reading, self._read(told or {}, date)
        if before and after and before.rate == after.rate:
            slack = (_WAY_SECONDS * after.rate + _ROUNDING_SECONDS) if after.rate else 0.0
            if abs(after.now - self.now()) <= timedelta(seconds=slack):
                return False
        self._reading = after
        return before != after

    def _read(self, told: Object, date: str) -> _Reading | None:
        now = find_time(told.get("now"))
        if told.get("isOwn") and now is not None:
            rate = 0.0 if told.get("isPaused") else float(told.get("speed") or 1.0)
            return _Reading(now.astimezone(UTC), self.elapsed(), rate, is_own=True)
        here = super().now()
        if not is_far(date, here):
            return None
        return _Reading(read_time(date, here), self.elapsed(), 1.0, is_own=False)
