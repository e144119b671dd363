"""
This is where the operator works inside the process of an embedded cluster.

It is called, not reached: no sockets, no certificates, and no election, since
nobody else can be there. What it would do in a cluster of its own it does here. If it
fails, it is told to the log and started again: the cluster goes on without it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from random import SystemRandom
from typing import TYPE_CHECKING, Protocol

from kohort.apis.api import Settings
from kohort.apis.served import APIS
from kohort.controller.desk import Office
from kohort.controller.installing import InstallOptions, install_definitions
from kohort.controller.operator import Operator
from kohort.controller.running.measuring import Measures
from kohort.controller.timing import LoopTime
from kohort.simulator.inprocess import InProcessCluster

if TYPE_CHECKING:
    from kohort.simulator.embedded import Embedded


_AGAIN_SECONDS = 1.0
log = logging.getLogger(__name__)


class Runnable(Protocol):
    """What works until it is cancelled."""

    async def run(self) -> None:
        """Work."""


async def keep_running(
    first: Runnable, make: Callable[[], Awaitable[Runnable]], again_seconds: float = _AGAIN_SECONDS
) -> None:
    """Run it, and make another one whenever one fails."""
    running = first
    while True:
        try:
            await running.run()
            return
        except Exception:
            log.exception("the operator failed; it is started again")
        await asyncio.sleep(again_seconds)
        running = await make()


async def make_operator(embedded: "Embedded", settings: Settings) -> Operator:
    """An operator for the cluster, which has the definitions that it needs."""
    cluster = InProcessCluster(embedded.api)
    await install_definitions(cluster, APIS, InstallOptions(ignore_disaggregated=True))
    time = LoopTime()
    measures = Measures(time)
    operator = Operator(Office(cluster, time, SystemRandom(), settings), APIS, measures)
    for desk in operator.desks:
        measures.follow(desk)
    return operator
