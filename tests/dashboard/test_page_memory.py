"""
The dashboard and the journal keep as much after an hour of rollouts as after most of it.

What is counted are objects that stay alive, in virtual time, so the figures are always the same.
The limits of the feed and of the journal are small ones, so that they are reached.
"""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET as API
from kohort.apiserver.inprocess import InProcessCluster
from kohort.dashboard.feed import Feed
from kohort.dashboard.state import State
from kohort.journal.buffer import Journal
from kohort.simulation.harness import Harness
from kohort.simulation.known import find_simulated
from kohort.simulation.scenario import NAME, Scenario, make_template
from kohort.simulation.virtual_loop import run_virtually

pytestmark = pytest.mark.slow
ROLLOUTS, FIRST_COUNT, SECONDS = 90, 75, 40.0
KEPT = ("kohort.dashboard", "kohort.journal", "kohort.model", "kohort.views")


def count_objects() -> Counter[str]:
    """The objects that are alive, by the package of their class."""
    gc.collect()
    names = (str(type(held).__module__) for held in gc.get_objects())
    return Counter(".".join(n.split(".")[:2]) for n in names if n.startswith(KEPT))


async def read_all(stream: AsyncIterator[bytes]) -> None:
    async for _ in stream:
        pass


def note(journal: Journal, state: State) -> None:
    """Let the journal take in what the operator plans of the same workloads."""
    for held in state.workloads.values():
        picture = held.picture
        if picture.reading is not None and picture.plan is not None:
            reading = picture.reading
            journal.note(API.kind.name, reading.workload, reading.observed, picture.plan)


async def roll(harness: Harness, state: State, journal: Journal) -> list[Counter[str]]:
    """Roll out again and again, and count what is kept when each rollout is over."""
    counts = []
    for number in range(ROLLOUTS):
        image = {"workerTemplate": make_template(f"engine:{number + 2}")}
        await harness.patch(API.kind, NAME, {"spec": {"leaderWorkerTemplate": image}})
        for _ in range(8):
            await asyncio.sleep(SECONDS / 8)
            note(journal, state)
        harness.check_alive()
        if number >= FIRST_COUNT:
            counts.append(count_objects())
    return counts


async def watch_rollouts() -> list[Counter[str]]:
    scenario = Scenario(groups=2, size=1)
    simulated = find_simulated(scenario.api)
    harness = await Harness.open(scenario, simulated)
    harness.start()
    state = State(InProcessCluster(harness.api), apis=(API,), time=harness.time)
    state.feed = Feed(kept_max=100, queue_max=200)
    running = asyncio.create_task(state.run())
    async with aclosing(state.feed.listen("")) as idle, aclosing(state.feed.listen("")) as busy:
        await anext(idle)  # a page that reads nothing more
        reading = asyncio.create_task(read_all(busy))
        try:
            await harness.create(simulated.kind, simulated.make_workload(scenario, True))
            return await roll(harness, state, Journal(workload_max=50))
        finally:
            for task in (reading, running):
                task.cancel()
            await asyncio.gather(reading, running, return_exceptions=True)
            await harness.close()


def test_an_hour_of_rollouts_leaves_no_more_objects_than_most_of_it():
    counts = run_virtually(watch_rollouts)
    assert len(counts) == ROLLOUTS - FIRST_COUNT
    for package in counts[0]:
        held = [count[package] for count in counts]
        assert max(held[-3:]) <= max(held[:-3]), (package, held)
