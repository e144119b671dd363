"""The page of nodes of a large cluster: little is sent, and requests are answered meanwhile."""

import asyncio
from typing import Any, cast

import orjson
import pytest
from still_cluster import NODES, PODS, make_cluster

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET as API
from kohort.cluster.errors import BadRequest
from kohort.dashboard.answers import Answers
from kohort.dashboard.state import State
from kohort.dashboard.turns import SLICE_SECONDS
from kohort.simulation.virtual_loop import run_virtually
from kohort.views.plain import to_plain

ANSWER_BYTES_MAX = 100_000
_STEP_SECONDS = SLICE_SECONDS / 20  # what each look at the clock costs below


async def open_answers() -> tuple[Answers, asyncio.Task[None]]:
    state = State(cast(Any, make_cluster()), apis=(API,))
    running = asyncio.create_task(state.run())
    await state.is_ready.wait()
    return Answers(state), running


async def close(running: asyncio.Task[None]) -> None:
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def test_the_first_answer_is_small():
    async def run() -> bytes:
        answers, running = await open_answers()
        page = await answers.show_nodes({})
        await close(running)
        return orjson.dumps(to_plain(page))

    text = run_virtually(run)
    page = orjson.loads(text)
    assert (page["matching"], page["cluster"]["gpus"]) == (NODES, NODES * 8)
    assert len(text) < ANSWER_BYTES_MAX


def test_others_have_their_turn_after_each_slice_of_a_first_visit():
    async def run() -> tuple[int, int]:
        answers, running = await open_answers()
        loop, turns, looks = asyncio.get_running_loop(), 0, 0
        passed = loop.time

        def read_clock() -> float:
            nonlocal looks
            looks += 1
            return passed() + looks * _STEP_SECONDS

        async def take_turns() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        waiting = asyncio.create_task(take_turns())
        loop.time = read_clock  # type: ignore[method-assign]
        await answers.show_nodes({})
        first, turns = turns, 0
        await answers.show_nodes({})
        loop.time = passed  # type: ignore[method-assign]
        waiting.cancel()
        await close(running)
        return first, turns

    first, second = run_virtually(run)
    assert first >= PODS / (SLICE_SECONDS / _STEP_SECONDS) / 2
    assert second < 10  # what was read is not read again


def test_a_number_of_nodes_that_is_none_is_refused():
    async def run() -> None:
        answers, running = await open_answers()
        try:
            await answers.show_nodes({"hosts": "all"})
        finally:
            await close(running)

    with pytest.raises(BadRequest, match="hosts must be a number"):
        run_virtually(run)
