"""
Inside: the cluster in this process, without sockets, and how late its event loop is.

A stall is measured by a task that wants to run every few milliseconds: how late it
comes, by the wall and by the CPU time that this process used meanwhile. On a
machine that others use too, only the second is Kohort's own.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from random import Random

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.process.memory import settle_memory
from kohort.simulator.embedded import Embedded, EmbeddedOptions

_TICK_SECONDS = 0.005


class Stalls:
    """The longest time for which the event loop served no request."""

    def __init__(self) -> None:
        self.wall = 0.0
        self.cpu = 0.0
        self._late: list[float] = []

    async def watch(self) -> None:
        """Look every few milliseconds, until cancelled."""
        wall, cpu = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            new_wall, new_cpu = time.perf_counter(), time.thread_time()
            self.wall = max(self.wall, new_wall - wall - _TICK_SECONDS)
            self.cpu = max(self.cpu, new_cpu - cpu)
            wall, cpu = new_wall, new_cpu


async def make_api() -> ApiServer:
    """An API with the built-in kinds and a namespace, and nothing that acts."""
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: datetime.now(UTC), Random(1))
    from kohort.apiserver.api.requests import WriteOptions
    from kohort.cluster import kinds

    body = {"metadata": {"name": "default"}}
    await api.create(api.target(kinds.NAMESPACE), body, WriteOptions(manager="bench"))
    return api


@asynccontextmanager
async def embedded(nodes: int, speed: float) -> AsyncIterator[Embedded]:
    """A whole cluster in this process."""
    options = EmbeddedOptions(token="bench", nodes=nodes, speed=speed, racks=max(1, nodes // 50))
    running = await Embedded.start(options)
    settle_memory()
    try:
        yield running
    finally:
        await running.stop()


async def wait_until(holds: Callable[[], bool], seconds_max: float) -> float:
    """Wait for something to hold; returns for how long."""
    began = time.perf_counter()
    while not holds():
        if time.perf_counter() - began > seconds_max:
            raise TimeoutError("it took too long")
        await asyncio.sleep(0.1)
    return time.perf_counter() - began
