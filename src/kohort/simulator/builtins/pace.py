"""
Pacing: how often something large is looked at.

One look at a set costs as much as it has pods, and while its pods start, each
of them changes several times. Looking at every change would cost the square.
So what is large rests a little after each look; what is small never does, and
what a user changed is looked at at once.

What a look costs is real time, so rests are counted in wall time, however fast
the simulated delays pass. A step can only ask for simulated seconds; how many
of them a wall second holds is read off the moments themselves.
"""

from datetime import timedelta

from kohort.simulator.component import Moment

_SMALL = 200
_SECONDS_MAX = 5.0
_SPEED_MAX = 10_000.0


class Pace:
    """When each key was last looked at, and how large it was."""

    def __init__(self, seconds_per_pod: float = 0.0002) -> None:
        self._seconds_per_pod = seconds_per_pod
        self._last: dict[str, tuple[Moment, int]] = {}

    def rest(self, key: str, moment: Moment) -> float:
        """How many simulated seconds are left until the key should be looked at again."""
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
        """Note a look."""
        self._last[key] = (moment, size)

    def hurry(self, key: str) -> None:
        """Let the next look come at once."""
        self._last.pop(key, None)
