"""A small cluster in which gangs are scheduled: kinds, objects, and shorthand for both."""

from typing import Any

from gang_builders import pod, racks

from kohort.apis.gangs.definitions.coscheduling import POD_GROUP as COSCHEDULING_GROUP
from kohort.apis.gangs.definitions.kai import POD_GROUP as KAI_GROUP
from kohort.apis.gangs.definitions.kai import TOPOLOGY
from kohort.apis.gangs.definitions.koordinator import NETWORK_TOPOLOGY
from kohort.apis.gangs.definitions.koordinator import POD_GROUP as KOORDINATOR_GROUP
from kohort.apis.gangs.definitions.kubernetes import POD_GROUP as NATIVE_GROUP
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, POD_GROUP, QUEUE
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Kind
from kohort.simulator.component import ComponentAction
from kohort.simulator.scheduling.scheduler import Scheduler
from scheduling_views import TinyWorld

VOLCANO_KINDS = (POD_GROUP, QUEUE, HYPER_NODE)
ALL_KINDS = (
    *VOLCANO_KINDS,
    COSCHEDULING_GROUP,
    KOORDINATOR_GROUP,
    NETWORK_TOPOLOGY,
    KAI_GROUP,
    TOPOLOGY,
    NATIVE_GROUP,
)
Raw = dict[str, Any]


class GangWorld(TinyWorld):
    """A world whose scheduler knows gangs."""

    def __init__(self, *nodes: Raw, kinds: tuple[Kind, ...] = ALL_KINDS) -> None:
        self.scheduler = Scheduler()
        self.scheduler.watch_kinds(kinds)
        super().__init__(self.scheduler)
        self._made = 0
        if QUEUE in kinds:
            self.put(QUEUE, {"metadata": {"name": "default"}, "status": {"state": "Open"}})
        for item in nodes:
            self.put(NODE, item)

    def put(self, kind: Kind, obj: Raw):
        meta = obj["metadata"]
        if "creationTimestamp" not in meta:
            self._made += 1
            meta["creationTimestamp"] = (
                f"2026-01-01T00:{self._made // 60:02d}:{self._made % 60:02d}Z"
            )
        return super().put(kind, obj)

    def settle(self, seconds: float = 2.0) -> list[ComponentAction]:
        """Long enough for every pod to get the reason why it waits."""
        return super().settle(seconds)

    def declare(self, *objects: Raw) -> "GangWorld":
        """Put HyperNodes."""
        for obj in objects:
            self.put(HYPER_NODE, obj)
        return self

    def declare_racks(self, *names: list[str]) -> "GangWorld":
        return self.declare(*racks(*names))

    def group(self, name: str, size: int, **spec: Any) -> None:
        """A Volcano PodGroup."""
        body = {"minMember": size, **spec}
        self.put(POD_GROUP, {"metadata": {"name": name}, "spec": body})

    def gang(self, name: str, size: int, gpus: int = 1, **spec: Any) -> dict[str, str]:
        """A group of equal pods; where they stand after the scheduler has come to rest."""
        minimum = spec.pop("minMember", size)
        self.group(name, minimum, **spec)
        for at in range(size):
            self.put(POD, pod(f"{name}-{at}", gpus, group=name))
        self.settle()
        return self.where(name)

    def where(self, name: str) -> dict[str, str]:
        """The nodes of the pods whose name starts so."""
        return {pod: node for pod, node in self.placed().items() if pod.startswith(f"{name}-")}

    def status(self, name: str, kind: Kind = POD_GROUP) -> Raw:
        entry = self.find(kind, "default", name)
        assert entry is not None
        return entry.decode().get("status", {})

    def reason(self, name: str) -> str:
        """The reason that a pod was given."""
        conditions = self.pod(name)["status"].get("conditions", [])
        return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")


def hard(tier: int) -> Raw:
    return {"mode": "hard", "highestTierAllowed": tier}


SOFT = {"mode": "soft"}
