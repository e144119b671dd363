"""
The APIs of one lease: each runs while its definitions are established.

APIs that watch the same objects in the same way read one cache. When a definition of an API is
deleted, the operator stops that API and drops the caches that no other API reads, and starts it
anew when the definition is back. The other APIs keep running.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from kohort.apis.api import Api
from kohort.cluster.objects import Kind
from kohort.controller.api_controller import ControllerContext
from kohort.controller.caches.informers import SharedWatches
from kohort.controller.health import Probe
from kohort.controller.operator import Operator
from kohort.controller.process.measures import Measures
from kohort.controller.process.presence import Presence

Begin = Callable[[Api], Awaitable[None]]  # runs beside an API when it starts


async def _do_nothing(api: Api) -> None:
    pass


class ServedApis:
    """Runs one operator for each kind while the cluster has its definitions."""

    def __init__(
        self,
        context: ControllerContext,
        apis: Sequence[Api],
        measures: Measures,
        begin: Begin = _do_nothing,
    ) -> None:
        self.operators: dict[Kind, Operator] = {}  # the running ones
        self.probes: dict[Kind, list[Probe]] = {}
        self.undefined: dict[Kind, tuple[str, ...]] = {}  # missing definitions
        self._context = context
        self._apis = tuple(apis)
        self._measures = measures
        self._begin = begin
        self._shared = SharedWatches()
        self._presence = Presence(context.cluster, apis, context.time, context.chance, measures)

    async def run(self) -> None:
        """Run all APIs until each is stopped."""
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._presence.run())
            serving = [group.create_task(self._serve(api)) for api in self._apis]
            await asyncio.gather(*serving)
            watching.cancel()

    async def _serve(self, api: Api) -> None:
        """Run one API whenever its definitions are established, until it is stopped."""
        while True:
            await self._presence.wait_until_known()
            self.undefined[api.kind] = self._presence.find_missing(api)
            await self._presence.wait_until_present(api)
            del self.undefined[api.kind]
            operator = self._make(api)
            work = asyncio.create_task(self._work(api, operator))
            gone = asyncio.create_task(self._presence.wait_until_absent(api))
            try:
                await asyncio.wait([work, gone], return_when=asyncio.FIRST_COMPLETED)
                if work.done():
                    await work
                    return
            finally:
                work.cancel()
                gone.cancel()
                await asyncio.gather(work, gone, return_exceptions=True)
                self._drop(api, operator)

    async def _work(self, api: Api, operator: Operator) -> None:
        async with asyncio.TaskGroup() as group:
            beside = group.create_task(_as_task(self._begin(api)))
            await operator.run()
            beside.cancel()

    def _make(self, api: Api) -> Operator:
        operator = self.operators[api.kind] = Operator(
            self._context, [api], self._measures, self._shared
        )
        time = self._context.time
        self.probes[api.kind] = [Probe(c.queue, time) for c in operator.controllers]
        for controller in operator.controllers:
            self._measures.follow(controller)
        return operator

    def _drop(self, api: Api, operator: Operator) -> None:
        operator.informers.close()
        del self.operators[api.kind], self.probes[api.kind]
        for controller in operator.controllers:
            self._measures.leave(controller)


async def _as_task(work: Awaitable[None]) -> None:
    await work
