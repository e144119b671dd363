"""
This is where the operator works inside the process of an embedded cluster, for commands and tests.

It is called, not reached: no sockets, no certificates, and no election, since
nobody else can be there. What it would do in a cluster of its own it does here. If it
fails, it is told to the log and started again: the cluster goes on without it.

The cluster is made for one dialect of gangs, so nothing has to be asked of it: of the variants
of a scheduler the newest is spoken that the kinds which we define can serve.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from random import SystemRandom
from typing import TYPE_CHECKING, Protocol

from kohort.apis.api import Api, Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.apis.served import APIS
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Kind
from kohort.controller.api_controller import ControllerContext
from kohort.controller.clock import LoopTime
from kohort.controller.install import InstallOptions, install_definitions
from kohort.controller.process.gangs import find_known
from kohort.controller.process.measures import Measures
from kohort.controller.process.served_apis import ServedApis
from kohort.simulator.inprocess import InProcessCluster

if TYPE_CHECKING:
    from kohort.simulator.embedded import Embedded


_AGAIN_SECONDS = 1.0
# What a tier is in an embedded cluster, for dialects that know tiers by labels of nodes.
TIERS = Tiers((Tier(0, "host", HOST), Tier(1, "rack", RACK), Tier(2, "spine", SPINE)), True)
log = logging.getLogger(__name__)


class Runnable(Protocol):
    """What works until it is cancelled."""

    async def run(self) -> None:
        """Work."""


async def keep_running(
    first: Runnable, make: Callable[[], Awaitable[Runnable]], again_seconds: float = _AGAIN_SECONDS
) -> None:
    """Run it, and make another one whenever one fails, or cannot be made."""
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
    """An operator for the cluster, which has the definitions that it needs."""
    cluster = InProcessCluster(embedded.api)
    await install_definitions(cluster, apis, InstallOptions(ignore_unserved=True))
    time = LoopTime()
    context = ControllerContext(cluster, time, SystemRandom(), settings)
    return ServedApis(context, apis, Measures(time))


def make_settings(gang: str, strategy: str, carrier: str) -> Settings:
    """What the operator of a cluster with that gang scheduler is told."""
    gangs = find_gangs(gang)
    return Settings(strategy, carrier, gangs, TIERS) if gangs else Settings(strategy, carrier)


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
