"""
The operator: all desks of a process, started and stopped together.

It holds no state of its own that matters: what it knows it has read from the
cluster, and it may be killed at any moment.
"""

import asyncio
from collections.abc import Sequence

from kohort.apis.api import Api
from kohort.controller.caching.informers import Informers, Reports
from kohort.controller.desk import Desk, Office


class Operator:
    """Every API that is served, at work on one cluster."""

    def __init__(self, office: Office, apis: Sequence[Api], reports: Reports | None = None) -> None:
        self.informers = Informers(office.cluster, office.time, office.chance, reports)
        self.desks = [Desk(api, self.informers, office) for api in apis]

    async def run(self) -> None:
        """Work until stopped: fill the caches first, then look at workloads."""
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self.informers.run())
            await self.informers.wait_until_ready()
            await asyncio.gather(*(desk.run() for desk in self.desks))
            watching.cancel()

    def stop(self) -> None:
        """Start no more work; what runs may end."""
        for desk in self.desks:
            desk.queue.stop()
