"""Long work of the dashboard lets other tasks have their turn."""

import asyncio
import itertools

from kohort.dashboard.turns import SLICE_SECONDS, take_turns
from kohort.simulation.virtual_loop import run_virtually


def work(seconds: float, items: int) -> list[int]:
    """The items that were done whenever another task had its turn."""

    async def run() -> list[int]:
        loop, turns, done = asyncio.get_running_loop(), list[int](), 0

        async def take_turn() -> None:
            while True:
                await asyncio.sleep(0)
                turns.append(done)

        waiting = asyncio.create_task(take_turn())
        passed = loop.time
        spent = 0.0
        loop.time = lambda: passed() + spent  # type: ignore[method-assign]
        async for _ in take_turns(range(items)):
            spent += seconds
            done += 1
        waiting.cancel()
        return turns

    return run_virtually(run)


def test_short_work_yields_no_turn():
    assert work(SLICE_SECONDS / 100, 10) == []


def test_others_have_their_turn_after_each_slice():
    turns = work(SLICE_SECONDS, 6)
    assert len(turns) >= 2
    assert all(later - earlier <= 2 for earlier, later in itertools.pairwise(turns))
