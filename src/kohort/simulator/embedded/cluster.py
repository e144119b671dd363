"""
The embedded cluster: an API server, and the components that act on it, joined and started.

It runs on real time and real sockets. The same components with a virtual clock and a seed are
a simulation.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.api import Api as OwnApi
from kohort.apiserver.assembly import AssembledServer
from kohort.apiserver.server.app import Page
from kohort.apiserver.store.sqlite import open_store
from kohort.apiserver.store.store import Store
from kohort.simulator.api_admission import ApiAdmission, ApiConversions
from kohort.simulator.builtins import builtin_parts
from kohort.simulator.clock import OwnClock, WallClock
from kohort.simulator.clock_page import CLOCK_PATH, ClockPage
from kohort.simulator.component import Component
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.embedded.logs import ContainerLogs
from kohort.simulator.embedded.model_agent import ModelAgent
from kohort.simulator.embedded.volcano_objects import DefaultQueue, Domains
from kohort.simulator.kubelet import Kubelet
from kohort.simulator.nodes import NodeMake, Nodes
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.stages import KubeletStages
from kohort.simulator.world import World

DATABASE = "cluster.db"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddedOptions:
    """The options of an embedded cluster."""

    token: str
    tls: ssl.SSLContext | None = None
    ca_text: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    nodes: int = 8
    gpus_per_node: int = 8
    racks: int = 2
    spines: int = 0  # 0: no spines
    gang: str = ""  # the dialect whose kinds are served; empty: none
    speed: float = 1.0
    data_dir: Path | None = None
    late_events: bool = False  # a fault: watch events of a write come after its response
    gates: frozenset[str] = frozenset()
    apis: Sequence[OwnApi] = ()  # APIs whose webhooks answer in this process
    settings: Settings = DEFAULTS  # the settings for these webhooks
    starts_at: datetime | None = None  # start of an OwnClock, without jitter; None: wall time


class Embedded:
    """A running cluster."""

    def __init__(
        self, server: AssembledServer, world: World, clock: WallClock, pages: dict[str, Page]
    ) -> None:
        self.api = server.api
        self.pages = pages  # paths that no Kubernetes API has, behind the same token
        self.world = world
        self.clock = clock
        self.port = server.port
        self._server = server
        self._running = asyncio.create_task(world.run())

    @classmethod
    async def start(cls, options: EmbeddedOptions) -> "Embedded":
        """Create a cluster, or open the stored one, and listen."""
        store = open_store(options.data_dir / DATABASE) if options.data_dir else Store()
        try:
            return await cls._start(options, store)
        except BaseException:
            # Close the store, so that another attempt can open the file.
            store.close()
            raise

    @classmethod
    async def _start(cls, options: EmbeddedOptions, store: Store) -> "Embedded":
        clock = _make_clock(options)
        server = AssembledServer(store, clock.now, options.gates)
        api = server.api
        api.context.ask_webhook = ApiConversions(options.apis, server.conversions.ask).ask
        api.context.admission = ApiAdmission(
            options.apis, options.settings, server.webhooks, api.context.find_objects
        )
        quick = api.without_waiting()
        make = NodeMake(options.nodes, options.racks, options.gpus_per_node, spines=options.spines)
        await bootstrap(quick, make, options.gang)
        world = World(quick, make_parts(options), clock)
        clock.on_change = world.wake
        world.on_fault = _report
        pages: dict[str, Page] = {CLOCK_PATH: ClockPage(clock, world.leap).answer}
        app = server.make_app(options.token, logs=ContainerLogs(api, _stages(options)), extra=pages)
        if isinstance(clock, OwnClock):
            app.tell_date(clock.now)
        if options.late_events:
            app.delay_events()
        await server.listen(app, options.tls, options.host, options.port)
        return cls(server, world, clock, pages)

    async def fail(self) -> None:
        """Wait until a part of the cluster fails, and raise its error."""
        failures = (self._running, self._server.commits.failure)
        done, _ = await asyncio.wait(failures, return_when=asyncio.FIRST_COMPLETED)
        for ended in done:
            ended.result()

    async def stop(self) -> None:
        """Stop listening, then the components, then close the store."""
        await self._server.stop_listening()
        self._running.cancel()
        ended = await asyncio.gather(self._running, return_exceptions=True)
        failed = isinstance(ended[0], Exception)
        await self._server.close(is_failed=failed)


def make_parts(options: EmbeddedOptions) -> Sequence[Component]:
    """The components of the control plane, in the order in which they act."""
    return [
        *builtin_parts(options.ca_text, options.gates),
        Scheduler(stands_in_for=[api.scheduler for api in options.apis if api.scheduler]),
        Kubelet(_stages(options)),
        Nodes(),
        DefaultQueue(),
        ModelAgent(),
        *([Domains()] if options.gang == "volcano" else []),
    ]


def _make_clock(options: EmbeddedOptions) -> WallClock:
    if options.starts_at is None:
        return WallClock(_now, time.monotonic, options.speed)
    return OwnClock(options.starts_at, time.monotonic, options.speed)


def _stages(options: EmbeddedOptions) -> KubeletStages:
    return KubeletStages() if options.starts_at is None else KubeletStages().without_jitter()


def _report(component: str, key: str, error: Exception) -> None:
    log.error("%s failed on %s", component, key, exc_info=error)


def _now() -> datetime:
    return datetime.now(UTC)
