"""
Ganging: what a session costs in which 100 gangs of 16 are placed by network topology.

Steps are taken as the world takes them, but nothing is written: the figure is the cost
of the decisions, on clusters of three sizes. Racks have 16 nodes, spines 8 racks, and
each node is a domain of its own, as in ``kohort up``. Half of the gangs are held in
one rack, a quarter go as near as there is room, a quarter anywhere; one member of each
asks for less than the others.
"""

import time
from datetime import UTC, datetime

import orjson

from bench.figures import Figure
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, POD_GROUP, QUEUE
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.node_labels import RACK as RACK_LABEL
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import BindRequest, Moment
from kohort.simulator.nodes import NodeMake, make_node
from kohort.simulator.scheduling.scheduler import GANGS, Scheduler
from kohort.simulator.world.component_runner import Cache, Caches

_NOW = datetime(2025, 1, 1, tzinfo=UTC)
_STAMP = "2025-01-01T00:00:00Z"
RACK_SIZE, SPINE_SIZE = 16, 8
GANG_COUNT, GANG_SIZE = 100, 16
EXCLUSIVE_COUNT = 50
TOPOLOGIES: tuple[Object | None, ...] = (
    {"mode": "hard", "highestTierAllowed": 1},
    {"mode": "hard", "highestTierAllowed": 2},
    {"mode": "soft"},
    None,
)


def measure(quick: bool) -> list[Figure]:
    """A session on clusters of three sizes, and one in which nothing fits."""
    figures = []
    for nodes in (100, 1_000) if quick else (100, 1_000, 5_000):
        goal = 1.0 if nodes == 1_000 else None
        bench = _Bench(nodes)
        bench.load(min(GANG_COUNT, nodes * 8 // GANG_SIZE))
        title = f"a session of {len(bench.gangs)} gangs of 16, {nodes:,} nodes"
        figures.append(Figure(title, bench.run(is_placed=True), "s of CPU", at_most=goal))
    bench = _Bench(1_000)
    bench.load(GANG_COUNT, gpus=9)
    took = bench.run(is_placed=False)
    figures.append(Figure("the same where none fits, 1,000 nodes", took, "s of CPU"))
    bench = _Bench(1_000)
    bench.load(EXCLUSIVE_COUNT, is_exclusive=True)
    title = f"{EXCLUSIVE_COUNT} gangs of 16, a rack for each, 1,000 nodes"
    figures.append(Figure(title, bench.run(is_placed=True), "s of CPU"))
    return figures


class _Bench:
    """A scheduler that has heard of nodes and domains."""

    def __init__(self, nodes: int) -> None:
        self.scheduler, self.view = Scheduler(), Caches()
        self.scheduler.watch_kinds((POD_GROUP, QUEUE, HYPER_NODE))
        for kind in self.scheduler.kinds:
            self.view.by_kind[kind] = Cache(kind)
        self._rv = 0
        self.gangs: list[str] = []
        self._put(QUEUE, {"metadata": {"name": "default"}})
        make = NodeMake(nodes, max(1, nodes // RACK_SIZE), 8)
        names = []
        for index in range(nodes):
            node = make_node(index, make, _STAMP)
            names.append(node["metadata"]["name"])
            self._put(NODE, node)
        self._declare(names)

    def _declare(self, nodes: list[str]) -> None:
        racks: list[str] = []
        for at in range(0, len(nodes), RACK_SIZE):
            racks.append(f"rack-{at // RACK_SIZE}")
            for node in nodes[at : at + RACK_SIZE]:
                self._put(HYPER_NODE, _hypernode(node, 0, "Node", [node]))
            self._put(HYPER_NODE, _hypernode(racks[-1], 1, "HyperNode", nodes[at : at + RACK_SIZE]))
        for at in range(0, len(racks), SPINE_SIZE):
            inner = racks[at : at + SPINE_SIZE]
            self._put(HYPER_NODE, _hypernode(f"spine-{at // SPINE_SIZE}", 2, "HyperNode", inner))

    def load(self, gangs: int, gpus: int = 1, *, is_exclusive: bool = False) -> None:
        """Let groups and their pods come."""
        for number in range(gangs):
            name = f"gang-{number:03d}"
            self.gangs.append(name)
            spec: Object = {"minMember": GANG_SIZE}
            topology = TOPOLOGIES[number % len(TOPOLOGIES)]
            if topology and not is_exclusive:
                spec["networkTopology"] = topology
            self._put(POD_GROUP, {"metadata": {"name": name}, "spec": spec})
            for member in range(GANG_SIZE):
                pod = _pod(f"{name}-{member}", name, gpus if member else 0)
                self._put(POD, _keep_apart(pod, name) if is_exclusive else pod)

    def run(self, *, is_placed: bool) -> float:
        """Steps until nothing is left to do; the answer is their CPU time."""
        moment = Moment(_NOW, 0.0)
        began, placed = time.process_time(), 0
        step = self.scheduler.step(GANGS, self.view, moment)
        while True:
            placed += sum(isinstance(action, BindRequest) for action in step.actions)
            if step.after is None:
                break
            step = self.scheduler.step(GANGS, self.view, moment)
        took = time.process_time() - began
        assert placed == (len(self.gangs) * GANG_SIZE if is_placed else 0), f"{placed} placed"
        return took

    def _put(self, kind: Kind, obj: Object) -> None:
        self._rv += 1
        metadata = obj["metadata"]
        metadata.update(uid=f"uid-{self._rv}", resourceVersion=str(self._rv))
        if kind.namespaced:
            metadata["namespace"] = "default"
        metadata.setdefault("creationTimestamp", _STAMP)
        key = (metadata.get("namespace", ""), metadata["name"])
        entry = StoredObject.make(key, self._rv, obj, {}, orjson.dumps(obj))
        self.scheduler.observe(kind, None, entry, self.view)


def _hypernode(name: str, tier: int, kind: str, members: list[str]) -> Object:
    chosen = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
    return {"metadata": {"name": name}, "spec": {"tier": tier, "members": chosen}}


def _pod(name: str, group: str, gpus: int) -> Object:
    requests = {"cpu": "1", "memory": "4Gi"}
    if gpus:
        requests["nvidia.com/gpu"] = str(gpus)
    return {
        "metadata": {
            "name": name,
            "labels": {},
            "annotations": {"scheduling.k8s.io/group-name": group},
        },
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "image": "m", "resources": {"requests": requests}}],
        },
        "status": {"phase": "Pending"},
    }


def _keep_apart(pod: Object, group: str) -> Object:
    """With its own group in a rack, and with no other."""
    others = [
        {"key": "group", "operator": "Exists"},
        {"key": "group", "operator": "NotIn", "values": [group]},
    ]
    near = {"labelSelector": {"matchLabels": {"group": group}}, "topologyKey": RACK_LABEL}
    far = {"labelSelector": {"matchExpressions": others}, "topologyKey": RACK_LABEL}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity = {"podAffinity": {required: [near]}, "podAntiAffinity": {required: [far]}}
    metadata = {**pod["metadata"], "labels": {"group": group}}
    return {**pod, "metadata": metadata, "spec": {**pod["spec"], "affinity": affinity}}
