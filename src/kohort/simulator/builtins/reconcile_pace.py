"""
Pacing: how often a controller reconciles a large object.

A reconcile of a set costs time for each of its pods, and while the pods start, each of them
changes several times. Reconciling at every change would cost the square of the pods. So a
large object rests a little after each reconcile; a small one never does, and neither does one
that a user changed.

The cost of a reconcile is real time, so rests are counted in wall time, however fast
the simulated delays pass. A step can only ask for simulated seconds; how many
of them a wall second holds is computed from the last two moments.
"""

from datetime import timedelta

from kohort.simulator.component import Moment

_SMALL = 200
_SECONDS_MAX = 5.0
_SPEED_MAX = 10_000.0


class Pace:
    """The time and the size of the last reconcile of each key."""

    def __init__(self, seconds_per_pod: float = 0.0002) -> None:
        self._seconds_per_pod = seconds_per_pod
        self._last: dict[str, tuple[Moment, int]] = {}

    def rest(self, key: str, moment: Moment) -> float:
        """The simulated seconds until the key should be reconciled again."""
        before = self._last.get(key)
        if before is None or before[1] <= _SMALL:
            return 0.0
        last, size = before
        rest = min(_SECONDS_MAX, size * self._seconds_per_pod)
        passed = (moment.wall - last.wall) / timedelta(seconds=1)
        if passed >= rest:
            return 0.0
        speed = (moment.elapsed - last.elapsed) / passed if passed > 0 else 1.0
        return (rest - passed) * min(max(speed, 1.0), _SPEED_MAX)

    def looked(self, key: str, size: int, moment: Moment) -> None:
        """Note a reconcile of a key."""
        self._last[key] = (moment, size)

    def hurry(self, key: str) -> None:
        """Allow the next reconcile of a key at once."""
        self._last.pop(key, None)
