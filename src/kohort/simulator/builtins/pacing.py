"""
Pacing: how often something large is looked at.

One look at a set costs as much as it has pods, and while its pods start, each
of them changes several times. Looking at every change would cost the square.
So what is large rests a little after each look; what is small never does, and
what a user changed is looked at at once.
"""

from kohort.simulator.steps import Moment

_SMALL = 200
_SECONDS_PER_POD = 0.0005
_SECONDS_MAX = 5.0


class Pace:
    """When each key was last looked at, and how large it was."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, int]] = {}

    def rest(self, key: str, moment: Moment) -> float:
        """How many seconds are left until the key should be looked at again."""
        at, size = self._last.get(key, (0.0, 0))
        if size <= _SMALL:
            return 0.0
        return max(0.0, at + min(_SECONDS_MAX, size * _SECONDS_PER_POD) - moment.elapsed)

    def looked(self, key: str, size: int, moment: Moment) -> None:
        """Note a look."""
        self._last[key] = (moment.elapsed, size)

    def hurry(self, key: str) -> None:
        """Let the next look come at once."""
        self._last.pop(key, None)
