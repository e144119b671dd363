"""
Gangs in a simulation: the cluster that serves them, the operator's flags and the user's fields.

The cluster has racks and spines, their HyperNodes, and a queue. Each node has room for one group
of the largest kind that is drawn, and there are more nodes than groups and extra groups together.
So a pod that still waits for room when all faults are over shows a defect.

A simulation with gangs names dialects as the flag ``--gang`` does. The cluster serves all of
them, so that flags and annotations can change while it runs.
"""

from collections.abc import Iterator
from dataclasses import replace

from kohort.apis.api import Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.kubernetes import V1ALPHA2
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, QUEUE, VOLCANO
from kohort.apis.gangs.intent import Tier, Tiers
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.node_labels import HOST, RACK, SPINE
from kohort.cluster.objects import Object
from kohort.simulator.nodes import NodeMake, name_node

DIALECTS: dict[str, Dialect] = {d.name: d for d in (VOLCANO, COSCHEDULING, V1ALPHA2)}
TIERS = Tiers((Tier(0, "host", HOST), Tier(1, "rack", RACK), Tier(2, "spine", SPINE)), True)
GPU = "nvidia.com/gpu"


def set_gang_flag(settings: Settings, text: str) -> Settings:
    """The settings of an operator that was started with ``--gang`` and these names."""
    if not text:
        return settings
    names = list(dict.fromkeys(text.split(",")))
    gangs = tuple(DIALECTS[name] for name in names if name != NONE)
    return replace(settings, gangs=gangs, tiers=TIERS, has_usual=names[0] != NONE)


def find_scheduler(text: str) -> str:
    """The scheduler that a user would name for the first of these dialects."""
    first = text.split(",", maxsplit=1)[0]
    return DIALECTS[first].scheduler if first in DIALECTS else ""


def write_topology(text: str) -> Object | None:
    """The field of a workload, from a text such as ``hard 1`` or ``soft``."""
    mode, _, tier = text.partition(" ")
    if not mode:
        return None
    return {"mode": mode, "highestTierAllowed": int(tier)} if tier else {"mode": mode}


def write_requests(gpus: int) -> Object:
    """The resources of a container that requests so many GPUs."""
    if not gpus:
        return {}
    amounts = {GPU: str(gpus)}
    return {"resources": {"requests": amounts, "limits": dict(amounts)}}


NODES, RACKS, SPINES = 8, 4, 2
NODE_GPUS = 8
MAKE = NodeMake(NODES, RACKS, NODE_GPUS, spines=SPINES)
_OPTIONS = WriteOptions(manager="admin")


async def create_gang_prerequisites(api: ApiServer) -> None:
    """Let a cluster that has been started know gangs."""
    for name in DIALECTS:
        for definition in definitions_of(name):
            await api.create(api.target(kinds.DEFINITION), definition, _OPTIONS)
    queue = {"metadata": {"name": "default"}, "spec": {"weight": 1}}
    await api.create(api.target(QUEUE), queue, _OPTIONS)
    for domain in make_domains():
        await api.create(api.target(HYPER_NODE), domain, _OPTIONS)


def make_domains() -> Iterator[Object]:
    """Each node is tier 0, each rack tier 1, each spine tier 2."""
    nodes = [name_node(index, NODES) for index in range(NODES)]
    for node in nodes:
        yield _make_domain(node, 0, "Node", [node])
    in_rack, in_spine = NODES // RACKS, RACKS // SPINES
    racks = [f"rack-{rack}" for rack in range(RACKS)]
    for place, rack in enumerate(racks):
        yield _make_domain(rack, 1, "HyperNode", nodes[place * in_rack : (place + 1) * in_rack])
    for spine in range(SPINES):
        members = racks[spine * in_spine : (spine + 1) * in_spine]
        yield _make_domain(f"spine-{spine}", 2, "HyperNode", members)


def _make_domain(name: str, tier: int, kind: str, members: list[str]) -> Object:
    named = [{"type": kind, "selector": {"exactMatch": {"name": each}}} for each in members]
    return {
        "apiVersion": HYPER_NODE.api_version,
        "kind": HYPER_NODE.name,
        "metadata": {"name": name},
        "spec": {"tier": tier, "tierName": ("host", "rack", "spine")[tier], "members": named},
    }
