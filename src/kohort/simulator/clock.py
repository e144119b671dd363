"""
Two kinds of time: the wall's, for timestamps, and simulated seconds, for delays.

Delays of the simulated parts pass at ``speed`` times the wall's pace, can be
paused and stepped; timestamps stay wall time, or ages would be negative. Under
a virtual clock both are one, and move only when they are told to.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

SPEED_MAX = 1_000_000  # beyond it, adding up loses seconds


class Clock(Protocol):
    """What the simulated control plane knows of time."""

    def now(self) -> datetime:
        """The time that objects are stamped with."""

    def elapsed(self) -> float:
        """Simulated seconds since the start."""

    def wall_seconds(self, simulated: float) -> float | None:
        """How long to wait for so many simulated seconds; None: they do not pass by waiting."""


class WallClock:
    """Time that passes by itself, simulated delays at a pace of their own."""

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
        """The wall's time."""
        return self._wall()

    def elapsed(self) -> float:
        """Simulated seconds since the start."""
        if self.is_paused:
            return self._elapsed
        return self._elapsed + (self._monotonic() - self._mark) * self.speed

    def wall_seconds(self, simulated: float) -> float | None:
        """How long to wait for so many simulated seconds."""
        return None if self.is_paused else max(0.0, simulated / self.speed)

    def pause(self) -> None:
        """Let no simulated delay end until resumed or stepped."""
        self._settle()
        self.is_paused = True
        self.on_change()

    def resume(self) -> None:
        """Let delays pass again."""
        self._settle()
        self.is_paused = False
        self.on_change()

    def change_speed(self, speed: float) -> None:
        """Let delays pass at another pace from now on."""
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


class VirtualClock:
    """Time that stands still until it is advanced; the same for stamps and delays."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The start, and what has passed since."""
        return self._start + timedelta(seconds=self._elapsed)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._elapsed

    def wall_seconds(self, simulated: float) -> float | None:
        """Waiting does not help."""
        return None

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        assert seconds >= 0
        self._elapsed += seconds
