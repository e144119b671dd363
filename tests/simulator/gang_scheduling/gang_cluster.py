"""A whole API with the kinds of one dialect, nodes in racks, and the scheduler."""

from datetime import UTC, datetime
from random import Random

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulator.clock import VirtualClock
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.embedded.volcano_objects import Domains
from kohort.simulator.nodes import NodeMake
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.world import World


class GangCluster:
    """Two racks of two nodes with eight GPUs each."""

    def __init__(self) -> None:
        self.clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.api = ApiServer(Store(), Registry(builtin_resources()), self.clock.now, Random(1))
        self.world: World | None = None

    async def start(self, dialect: str) -> "GangCluster":
        await bootstrap(self.api, NodeMake(nodes=4, racks=2, spines=1), dialect)
        parts = [Scheduler(), *([Domains()] if dialect == "volcano" else [])]
        self.world = World(self.api, parts, self.clock)
        await self.world.settle()
        return self

    async def create(self, kind: Kind, obj: Object) -> None:
        obj["metadata"].pop("creationTimestamp", None)
        body = {"apiVersion": kind.api_version, "kind": kind.name, **obj}
        namespace = "default" if kind.namespaced else ""
        await self.api.create(self.api.target(kind, namespace), body, WriteOptions())

    async def settle(self) -> None:
        """Long enough for every pod to get the reason why it waits."""
        assert self.world is not None
        await self.world.advance(2)

    def read(self, kind: Kind, name: str) -> Object:
        namespace = "default" if kind.namespaced else ""
        found = self.api.context.find(self.api.target(kind, namespace, name))
        assert found is not None
        return found.decode()

    def placed(self) -> dict[str, str]:
        entries = self.api.store.bucket("pods").entries.values()
        nodes = {entry.name: entry.decode()["spec"].get("nodeName", "") for entry in entries}
        return {name: node for name, node in nodes.items() if node}

    def reason(self, name: str) -> str:
        """The reason that a pod was given."""
        conditions = self.read(kinds.POD, name)["status"].get("conditions", [])
        return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")

    def events(self) -> set[tuple[str, str, str]]:
        """Kinds of objects, reasons of the events about them, and who said so."""
        entries = self.api.store.bucket("events").entries.values()
        found = [entry.decode() for entry in entries]
        return {
            (event["involvedObject"]["kind"], event["reason"], event["source"]["component"])
            for event in found
        }
