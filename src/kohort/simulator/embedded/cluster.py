"""
The embedded cluster: store, API, components and HTTP server, put together and started.

This is the only place that chooses real time, real chance and real sockets. The
same pieces with a virtual clock and a seed are a simulation.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.api import Api as OwnApi
from kohort.cluster.errors import InternalError
from kohort.simulator.admission.conversions import Conversions
from kohort.simulator.admission.inprocess import ApiAdmission, ApiConversions
from kohort.simulator.admission.webhooks import Webhooks
from kohort.simulator.api.api import ApiServer
from kohort.simulator.api.registry import Registry
from kohort.simulator.aside import Threads
from kohort.simulator.builtins import builtin_parts
from kohort.simulator.clock import WallClock
from kohort.simulator.component import Component
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.embedded.domains import Domains
from kohort.simulator.embedded.logs import ContainerLogs
from kohort.simulator.embedded.model_agent import ModelAgent
from kohort.simulator.embedded.queues import DefaultQueue
from kohort.simulator.kubelet import Kubelet
from kohort.simulator.nodes import NodeMake, Nodes
from kohort.simulator.resources.builtin import builtin_resources
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.server.app import create_app
from kohort.simulator.server.auth import TokenAuth
from kohort.simulator.server.control import CLOCK_PATH, ClockPage
from kohort.simulator.server.serve import Server, serve
from kohort.simulator.store.sqlite import StorageError, open_store
from kohort.simulator.store.store import Store
from kohort.simulator.world import World

DATABASE = "cluster.db"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddedOptions:
    """What a cluster is made of."""

    token: str
    tls: ssl.SSLContext | None = None
    ca_text: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    nodes: int = 8
    gpus_per_node: int = 8
    racks: int = 2
    spines: int = 0  # 0: nodes stand under none
    gang: str = ""  # the dialect whose kinds are served; empty: none
    speed: float = 1.0
    data_dir: Path | None = None
    late_events: bool = False  # a fault: watchers hear of a write after its answer
    gates: frozenset[str] = frozenset()
    apis: Sequence[OwnApi] = ()  # those that answer admission in this process
    settings: Settings = DEFAULTS  # and what they are told


class Embedded:
    """A running cluster."""

    def __init__(self, api: ApiServer, world: World, clock: WallClock, server: Server) -> None:
        self.api = api
        self.world = world
        self.clock = clock
        self.port = server.port
        self._server = server
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self._running = asyncio.create_task(world.run())
        # It may have to wait for webhooks, which may be down; nobody else waits for it.
        self._resuming = asyncio.create_task(api.resume())
        self._failures: list[asyncio.Future[None]] = [self._running]

    @classmethod
    async def start(cls, options: EmbeddedOptions) -> "Embedded":
        """Make a cluster, or open the one that is kept, and listen."""
        store = open_store(options.data_dir / DATABASE) if options.data_dir else Store()
        try:
            return await cls._start(options, store)
        except BaseException:
            # Whoever tries again, on another port perhaps, can have the file.
            store.close()
            raise

    @classmethod
    async def _start(cls, options: EmbeddedOptions, store: Store) -> "Embedded":
        clock = WallClock(_now, time.monotonic, options.speed)
        commits = _Commits(store)
        registry = Registry(builtin_resources(options.gates))
        api = ApiServer(store, registry, clock.now, SystemRandom())
        webhooks = Webhooks(store, served=registry.resources, new_uid=api.context.new_uid)
        registry.listeners.append(webhooks.refresh)
        conversions = Conversions(api.context.new_uid)
        api.context.ask_webhook = ApiConversions(options.apis, conversions.ask).ask
        api.context.admission = ApiAdmission(
            options.apis, options.settings, webhooks, api.context.find_objects
        )
        api.settled = commits.settled
        api.context.aside = threads = Threads()
        quick = api.without_waiting()
        make = NodeMake(options.nodes, options.racks, options.gpus_per_node, spines=options.spines)
        await bootstrap(quick, make, options.gang)
        world = World(quick, make_parts(options), clock)
        clock.on_change = world.wake
        world.on_fault = _report
        logs = ContainerLogs(api)
        extra = {CLOCK_PATH: ClockPage(clock, world.leap).answer}
        app = create_app(
            api,
            TokenAuth(options.token),
            logs=logs,
            is_ready=lambda: not commits.failure.done(),
            clock=clock.now,
            extra=extra,
        )
        if options.late_events:
            app.delay_events()
        server = await serve(app, options.tls, options.host, options.port)
        embedded = cls(api, world, clock, server)
        embedded._closing.append(webhooks.close)
        embedded._closing.append(conversions.close)
        embedded._closing.append(threads.stop)
        embedded._failures.append(commits.failure)
        return embedded

    async def fail(self) -> None:
        """Wait for something that ends the cluster by itself, and raise it."""
        done, _ = await asyncio.wait(self._failures, return_when=asyncio.FIRST_COMPLETED)
        for ended in done:
            ended.result()

    async def stop(self) -> None:
        """Close the doors, then the components, then the store."""
        await self._server.stop()
        tasks = (self._running, self._resuming)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for close in self._closing:
            await close()
        ended = [f for f in self._failures if f.done() and not f.cancelled()]
        failed = [f for f in ended if f.exception()]
        with suppress(StorageError) if failed else nullcontext():
            self.api.store.close()


def make_parts(options: EmbeddedOptions) -> Sequence[Component]:
    """The components of the control plane, in the order in which they act."""
    return [
        *builtin_parts(options.ca_text, options.gates),
        Scheduler(stands_in_for=[api.scheduler for api in options.apis if api.scheduler]),
        Kubelet(),
        Nodes(),
        DefaultQueue(),
        ModelAgent(),
        *([Domains()] if options.gang == "volcano" else []),
    ]


class _Commits:
    """
    Writes of one turn of the event loop are committed together; answers wait for that.

    A commit that fails (a full disk) is told to everybody who waits, and ends the
    cluster: what it holds in memory is no longer what it would have after a restart.
    """

    def __init__(self, store: Store) -> None:
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._store = store
        self._waiting: list[asyncio.Future[None]] = []
        store.on_dirty = self._schedule

    def _schedule(self) -> None:
        asyncio.get_running_loop().call_soon(self._commit)

    def _commit(self) -> None:
        error: StorageError | None = None
        try:
            self._store.flush()
        except StorageError as raised:
            error = raised
            self.fail(raised)
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(InternalError(f"the write is not kept: {error}"))

    def fail(self, error: Exception) -> None:
        """End the cluster, with why."""
        if not self.failure.done():
            self.failure.set_exception(error)

    async def settled(self) -> None:
        """Return when everything written so far is committed."""
        if not self._store.is_settled:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future


def _report(component: str, key: str, error: Exception) -> None:
    log.error("%s failed on %s", component, key, exc_info=error)


def _now() -> datetime:
    return datetime.now(UTC)
