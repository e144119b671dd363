"""
An event loop in virtual time; its caller may choose the order in which ready callbacks run.

When no task has anything to do, time moves to the next moment that a task waits
for; no real time passes. A task may wait for the moment before time moves: then all others
have done what they can do now. In a real process, too, callbacks that are ready at one moment may
run in any order, so a simulation draws one from its seed. The loop serves no sockets.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from selectors import SelectorKey, SelectSelector
from typing import Any, TypeVar

T = TypeVar("T")

START = datetime(2026, 1, 1, tzinfo=UTC)
Mix = Callable[[list[Any]], None]


# A turn takes a moment, as work does: so a wait that rounding made too short ends, too.
TURN_SECONDS = 1e-7
# More turns than this within so short a time, and a task runs in circles.
TURNS_MAX, CIRCLE_SECONDS = 20_000, 0.01


class Stuck(Exception):
    """No task can ever run again, or tasks run for ever without time passing."""


class _Leaper(SelectSelector):
    """Instead of waiting for files, lets time pass at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.resting: list[asyncio.Future[None]] = []  # those who wait until all others wait

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Nothing is ever readable; time passes."""
        if timeout != 0 and self.resting:
            resting, self.resting = self.resting, []
            for each in resting:
                if not each.done():
                    each.set_result(None)
            return []
        if timeout is None:
            raise Stuck("no task waits for a time, and none has anything to do")
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when all wait."""

    def __init__(self, mix: Mix | None = None) -> None:
        self._leaper = _Leaper()
        super().__init__(self._leaper)
        self._mix = mix
        self._moment = -1.0
        self._turns = 0

    def time(self) -> float:
        """Seconds since the start."""
        return self._leaper.now

    async def rest(self) -> None:
        """Return when no other task has anything to do before time moves."""
        waiter = self.create_future()
        self._leaper.resting.append(waiter)
        await waiter

    def _run_once(self) -> None:
        self._leaper.now += TURN_SECONDS
        self._turns += 1
        if self.time() > self._moment + CIRCLE_SECONDS:
            self._moment, self._turns = self.time(), 0
        if self._turns > TURNS_MAX:
            raise Stuck("a task runs in circles while no time passes")
        ready = self._ready  # type: ignore[attr-defined]
        if self._mix is not None and len(ready) > 1:
            handles = list(ready)
            self._mix(handles)
            ready.clear()
            ready.extend(handles)
        super()._run_once()  # type: ignore[misc]


class LoopClock:
    """The clock of the simulated control plane: the loop's time, for stamps and for delays.

    A cluster that begins later than its loop counts from the moment ``begun``.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, begun: float = 0.0) -> None:
        self._loop = loop
        self._begun = begun

    def now(self) -> datetime:
        """The start, and what has passed since."""
        return START + timedelta(seconds=self.elapsed())

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._loop.time() - self._begun

    def wall_seconds(self, simulated: float) -> float | None:
        """Simulated seconds are the loop's."""
        return max(0.0, simulated)


def run_virtually(work: Callable[[], Coroutine[Any, Any, T]], mix: Mix | None = None) -> T:
    """Run something to its end, at once."""
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(mix)) as runner:
        return runner.run(work())
