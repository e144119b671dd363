"""
This is where the operator works inside the process of an embedded cluster.

It is called, not reached: no sockets, no certificates, and no election, since
nobody else can be there. What it would do in a cluster of its own it does here.
"""

from random import SystemRandom
from typing import TYPE_CHECKING

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
