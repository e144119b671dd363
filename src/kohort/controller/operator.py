"""
The operator: all API controllers of a process, started and stopped together.

The operator keeps all state that matters in the cluster, so its process may be killed
at any moment.
"""

import asyncio
from collections.abc import Sequence

from kohort.apis.api import Api
from kohort.controller.api_controller import ApiController, ControllerContext
from kohort.controller.caches.informers import Informers, Reports, SharedWatches


class Operator:
    """The API controllers that work on one cluster, with their shared caches."""

    def __init__(
        self,
        context: ControllerContext,
        apis: Sequence[Api],
        reports: Reports | None = None,
        shared: SharedWatches | None = None,
    ) -> None:
        self.informers = Informers(context.cluster, context.time, context.chance, reports, shared)
        self.ended = asyncio.Event()
        self.controllers = [ApiController(api, self.informers, context) for api in apis]

    async def run(self) -> None:
        """Fill the caches, then reconcile workloads until stopped."""
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self.informers.run())
                await self.informers.wait_until_ready()
                await asyncio.gather(*(controller.run() for controller in self.controllers))
                watching.cancel()
        finally:
            self.ended.set()

    def stop(self) -> None:
        """Start no more reconciles; those that run may end."""
        for controller in self.controllers:
            controller.queue.stop()
