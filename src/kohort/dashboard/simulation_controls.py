"""
The controls of a simulated cluster: its clock, and nodes that fail and recover.

A cluster is simulated if it has the clock of an embedded cluster. The controls do what
``kohort sim clock`` and ``kohort sim node`` do.
"""

from kohort.cluster.errors import BadRequest, ClusterError, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import NODE
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.simulator.clock_page import CLOCK_PATH
from kohort.simulator.node_requests import make_failure, make_recovery

_PATCHES = {"fail": make_failure, "recover": make_recovery}


class SimulationControls:
    """Controls the simulation of one cluster, if it is simulated."""

    def __init__(self, cluster: HttpCluster) -> None:
        self._cluster = cluster

    async def read_clock(self) -> Object | None:
        """The clock; None if the cluster is not simulated."""
        try:
            found = await self._cluster.read_document(CLOCK_PATH)
        except ClusterError:
            return None
        return found if "elapsedSeconds" in found else None

    async def change_clock(self, change: Object) -> Object:
        """Pause, resume, step or speed up the clock."""
        await self._expect_simulation()
        return await self._cluster.send_document(CLOCK_PATH, change)

    async def change_node(self, name: str, verb: str) -> None:
        """Let a node fail or recover."""
        if verb not in _PATCHES:
            raise BadRequest(f"a node can {' or '.join(_PATCHES)}, not {verb!r}")
        await self._expect_simulation()
        await self._cluster.patch(Address(NODE, "", name), _PATCHES[verb]())

    async def _expect_simulation(self) -> None:
        if await self.read_clock() is None:
            raise NotFound("this cluster is not simulated, so it has no such controls")
