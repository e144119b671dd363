"""
Clocks of the simulated control plane: wall time for timestamps, simulated seconds for delays.

Delays of the simulated components pass at ``speed`` times the wall's pace, can be
paused and stepped; timestamps stay wall time, or ages would be negative. A virtual
clock gives both from one time, which moves only when the simulation advances it. An
``OwnClock`` does the same in a running cluster, so that every run shows the same times.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

SPEED_MAX = 1_000_000  # beyond it, sums of floats lose seconds


class Clock(Protocol):
    """The clock interface of the simulated control plane."""

    def now(self) -> datetime:
        """The time for timestamps of objects."""

    def elapsed(self) -> float:
        """Simulated seconds since the start."""

    def wall_seconds(self, simulated: float) -> float | None:
        """The wall seconds that so many simulated seconds take; None: waiting does not help."""


class WallClock:
    """A clock that follows the wall; simulated delays pass at a speed of their own."""

    def __init__(
        self, wall: Callable[[], datetime], monotonic: Callable[[], float], speed: float = 1.0
    ) -> None:
        assert speed > 0
        self.speed = speed
        self.is_paused = False
        self.on_change: Callable[[], None] = lambda: None
        self._wall = wall
        self._monotonic = monotonic
        self._elapsed = 0.0  # up to the mark
        self._mark = monotonic()

    def now(self) -> datetime:
        """The wall time."""
        return self._wall()

    def elapsed(self) -> float:
        """Simulated seconds since the start."""
        if self.is_paused:
            return self._elapsed
        return self._elapsed + (self._monotonic() - self._mark) * self.speed

    def wall_seconds(self, simulated: float) -> float | None:
        """The wall seconds that so many simulated seconds take."""
        return None if self.is_paused else max(0.0, simulated / self.speed)

    def pause(self) -> None:
        """Stop simulated time until it is resumed or stepped."""
        self._settle()
        self.is_paused = True
        self.on_change()

    def resume(self) -> None:
        """Let simulated time pass again."""
        self._settle()
        self.is_paused = False
        self.on_change()

    def change_speed(self, speed: float) -> None:
        """Change the speed of simulated time."""
        assert speed > 0
        self._settle()
        self.speed = speed
        self.on_change()

    def step(self, seconds: float) -> None:
        """Let so many simulated seconds pass at once."""
        self._settle()
        self._elapsed += seconds
        self.on_change()

    def _settle(self) -> None:
        self._elapsed = self.elapsed()
        self._mark = self._monotonic()


class OwnClock(WallClock):
    """A clock that does not follow the wall: it stands still until stepped or resumed."""

    def __init__(self, start: datetime, monotonic: Callable[[], float], speed: float = 1.0) -> None:
        super().__init__(lambda: start + timedelta(seconds=self.elapsed()), monotonic, speed)
        self.is_paused = True


class VirtualClock:
    """Time that stands still until it is advanced; the same for stamps and delays."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The start time plus the elapsed seconds."""
        return self._start + timedelta(seconds=self._elapsed)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._elapsed

    def wall_seconds(self, simulated: float) -> float | None:
        """Return None: waiting does not advance this clock."""
        return None

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        assert seconds >= 0
        self._elapsed += seconds
