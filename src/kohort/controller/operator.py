"""
The operator: all API controllers of a process, started and stopped together.

It holds no state of its own that matters: what it knows it has read from the
cluster, and it may be killed at any moment.
"""

import asyncio
from collections.abc import Sequence

from kohort.apis.api import Api
from kohort.controller.api_controller import ApiController, ControllerContext
from kohort.controller.caches.informers import Informers, Reports


class Operator:
    """Every API that is served, at work on one cluster."""

    def __init__(
        self, context: ControllerContext, apis: Sequence[Api], reports: Reports | None = None
    ) -> None:
        self.informers = Informers(context.cluster, context.time, context.chance, reports)
        self.ended = asyncio.Event()
        self.controllers = [ApiController(api, self.informers, context) for api in apis]

    async def run(self) -> None:
        """Work until stopped: fill the caches first, then look at workloads."""
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self.informers.run())
                await self.informers.wait_until_ready()
                await asyncio.gather(*(controller.run() for controller in self.controllers))
                watching.cancel()
        finally:
            self.ended.set()

    def stop(self) -> None:
        """Start no more work; what runs may end."""
        for controller in self.controllers:
            controller.queue.stop()
