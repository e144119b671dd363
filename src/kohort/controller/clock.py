"""
The clock of the controller, passed in from outside, so that tests and simulations control it.

Timestamps on objects come from ``now``; durations are measured with ``elapsed``,
which never jumps.
"""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Time(Protocol):
    """A clock that code can read and wait by."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""

    def elapsed(self) -> float:
        """Seconds since some moment in the past; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        """Return when the event is set, or after so many seconds, whichever is first."""


class LoopTime:
    """The event loop's clock for durations, and the wall clock for timestamps."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return datetime.now(UTC)

    def elapsed(self) -> float:
        """The event loop's own time in seconds."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        """Return when the event is set, or after so many seconds, whichever is first."""
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass
