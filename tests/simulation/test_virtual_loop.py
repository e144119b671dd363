"""The virtual event loop: a task may wait until all others have done what they can do now."""

import asyncio
from datetime import timedelta

import pytest

from kohort.simulation.virtual_loop import START, LoopClock, Stuck, VirtualLoop, run_virtually


def get_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def test_rest_waits_for_all_work_of_this_moment_and_for_none_of_a_later_one():
    done: list[str] = []

    async def work() -> None:
        for _ in range(50):
            await asyncio.sleep(0)
        done.append("now")
        await asyncio.sleep(0.001)
        done.append("later")

    async def run() -> None:
        task = asyncio.ensure_future(work())
        await get_loop().rest()
        assert done == ["now"]
        assert get_loop().time() < 0.001
        await task
        assert done == ["now", "later"]

    run_virtually(run)


def test_rest_returns_when_no_task_waits_for_a_time():
    async def run() -> None:
        task = asyncio.ensure_future(asyncio.Event().wait())
        await get_loop().rest()
        assert not task.done()
        task.cancel()

    run_virtually(run)


def test_two_tasks_rest_at_once_and_one_that_was_cancelled_disturbs_neither():
    async def run() -> None:
        loop = get_loop()
        given_up, *others = [asyncio.ensure_future(loop.rest()) for _ in range(3)]
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.gather(*others)
        assert given_up.cancelled()

    run_virtually(run)


def test_after_a_rest_a_loop_without_work_is_stuck_as_before():
    async def run() -> None:
        await get_loop().rest()
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match="no task waits for a time"):
        run_virtually(run)


def test_a_clock_that_begins_later_than_its_loop_begins_at_the_start():
    async def run() -> None:
        await asyncio.sleep(90)
        clock = LoopClock(get_loop(), begun=90)
        await asyncio.sleep(5)
        assert clock.elapsed() == pytest.approx(5, abs=1e-3)
        assert clock.now() - START - timedelta(seconds=5) < timedelta(milliseconds=1)

    run_virtually(run)
