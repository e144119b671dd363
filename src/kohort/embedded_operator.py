"""
The operator inside the process of an embedded cluster, for commands and tests.

It calls the API server in its own process, without sockets and certificates, and without leader
election, since there is no other operator. Otherwise it works as in any cluster. If it fails, the
error is logged and the operator starts again; the cluster runs on meanwhile.

The cluster serves one gang scheduler, so the operator need not ask for its kinds: it uses the
newest variant of the dialect whose kinds Kohort defines.

In a cluster with a simulated clock the operator goes by that clock: timestamps come from it, and a
step of the clock wakes the operator as if it had waited. The step waits until its work is done.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from random import SystemRandom
from typing import TYPE_CHECKING, Protocol

from aiohttp import web

from kohort import __version__
from kohort.apis.api import Api, Key, Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.apis.served import APIS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Kind
from kohort.controller.api_controller import ControllerContext
from kohort.controller.clock import LoopTime
from kohort.controller.install import InstallOptions, install_definitions
from kohort.controller.process.gangs import find_known
from kohort.controller.process.measures import Measures
from kohort.controller.process.served_apis import ServedApis
from kohort.controller.queue import WorkQueue
from kohort.journal.entries import JOURNAL_PATH, write_page
from kohort.simulator.clock import OwnClock

if TYPE_CHECKING:
    from kohort.simulator.embedded import Embedded


_AGAIN_SECONDS = 1.0
_LEAST_SECONDS = 1e-6
# The topology tiers of an embedded cluster, for dialects that define tiers by node labels.
TIERS = Tiers((Tier(0, "host", HOST), Tier(1, "rack", RACK), Tier(2, "spine", SPINE)), True)
log = logging.getLogger(__name__)


class Runnable(Protocol):
    """An operator, or a part of one, that runs until it is cancelled."""

    async def run(self) -> None:
        """Run until cancelled."""


async def keep_running(
    first: Runnable, make: Callable[[], Awaitable[Runnable]], again_seconds: float = _AGAIN_SECONDS
) -> None:
    """Run an operator; whenever it fails, make another one and run that."""
    running: Runnable | None = first
    while True:
        try:
            running = running or await make()
            await running.run()
            return
        except Exception:
            log.exception("the operator failed; it is started again")
        running = None
        await asyncio.sleep(again_seconds)


async def make_operator(
    embedded: "Embedded", settings: Settings, apis: Sequence[Api] = APIS
) -> ServedApis:
    """An operator for the embedded cluster; installs the definitions that it needs."""
    cluster = InProcessCluster(embedded.api)
    await install_definitions(cluster, apis, InstallOptions(ignore_unserved=True))
    clock = embedded.clock
    time = ClusterTime(clock) if isinstance(clock, OwnClock) else LoopTime()
    context = ControllerContext(cluster, time, SystemRandom(), settings)
    measures = Measures(time)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        body = write_page(measures.journal.list_entries(), __version__)
        return web.Response(body=body, content_type="application/json")

    embedded.pages[JOURNAL_PATH] = answer
    served = ServedApis(context, apis, measures)
    if isinstance(time, ClusterTime):
        work = embedded.world.neighbour = OperatorWork(served, time)
        time.counts = lambda: work.is_gathering() or not embedded.world.is_leaping
    return served


class ClusterTime(LoopTime):
    """The time of a cluster with a simulated clock, whose steps count as time that has passed."""

    def __init__(self, clock: OwnClock) -> None:
        # Whether seconds of the event loop count now. While the clock leaps, only its own time
        # counts: else a key could be due again and again before the clock moves.
        self.counts: Callable[[], bool] = lambda: True
        self._counted = 0.0
        self._looked_at: float | None = None
        self._clock = clock
        self._stepped = asyncio.Event()
        before = clock.on_change

        def change() -> None:
            before()
            self._stepped.set()

        clock.on_change = change

    def now(self) -> datetime:
        """The time for timestamps of objects: that of the simulated clock."""
        return self._clock.now()

    def elapsed(self) -> float:
        """The event loop's seconds that count, plus the seconds by which the clock was stepped."""
        now = super().elapsed()
        if self._looked_at is not None and self.counts():
            self._counted += now - self._looked_at
        self._looked_at = now
        return self._counted + self._clock.elapsed()

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds, or when the clock has leaped over them."""
        await self.wait(asyncio.Event(), seconds)

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        """Return when the event is set, or after so many seconds, however they passed."""
        if seconds is None:
            await event.wait()
            return
        end = self.elapsed() + seconds
        while not event.is_set() and (left := end - self.elapsed()) > 0:
            self._stepped.clear()
            waits = [asyncio.ensure_future(each.wait()) for each in (event, self._stepped)]
            try:
                await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()


class OperatorWork:
    """The operator's running and due keys, for a clock that must not leap over them."""

    def __init__(self, served: ServedApis, time: LoopTime) -> None:
        self._served = served
        self._time = time

    def is_at_work(self) -> bool:
        """Whether a key runs, or waits because something happened."""
        return any(q.schedule.running or q.schedule.gathering for q in self._list_queues())

    def is_gathering(self) -> bool:
        """Whether a key waits because something happened."""
        return any(q.schedule.gathering for q in self._list_queues())

    def next_seconds(self) -> float | None:
        """After how many seconds the first key is due."""
        dues = [q.schedule.next_due() for q in self._list_queues()]
        first = min((due for due in dues if due is not None), default=None)
        # A shorter step could be lost in rounding, and the clock would stand.
        return None if first is None else max(_LEAST_SECONDS, first - self._time.elapsed())

    def _list_queues(self) -> Iterator[WorkQueue[Key]]:
        for operator in self._served.operators.values():
            for controller in operator.controllers:
                yield controller.queue


def make_settings(gang: str, strategy: str, carrier: str) -> Settings:
    """The operator's settings for a cluster with this gang scheduler."""
    gangs = find_gangs(gang)
    if not gangs:
        return Settings(strategy, carrier, lacks_gangs=True)
    return Settings(strategy, carrier, gangs, TIERS)


def find_gangs(name: str) -> tuple[Dialect, ...]:
    """The dialect of that name, as this cluster serves it; none for an empty name."""
    if not name:
        return ()
    variants = find_known()[name]
    defined = _list_kinds(name)
    served = [v for v in variants if defined.issuperset((*v.kinds, *v.needs))]
    return ((served or variants)[0],)


def _list_kinds(name: str) -> set[Kind]:
    return {
        Kind(
            spec["group"],
            version["name"],
            spec["names"]["kind"],
            spec["names"]["plural"],
            spec["scope"] == "Namespaced",
        )
        for spec in (found["spec"] for found in definitions_of(name))
        for version in spec["versions"]
    }
