"""A laboratory with Volcano's kinds and its HyperNodes, whose gangs only a test places."""

from typing import Any

from gang_lab import VOLCANO
from operator_lab import Lab, make_lws

from kohort.apis.api import Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects.volcano import HYPER_NODE, POD_GROUP, QUEUE
from kohort.apis.leaderworkerset import labels
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition
from kohort.cluster.port import PatchType

DEGRADED = "TopologyDegraded"
ROOM = {"container": {"resources": {"requests": {"cpu": "100m"}}}}
NOWHERE = {"nodeSelector": {"example.com/nowhere": "yes"}}


async def open_topology_lab(
    settings: Settings = VOLCANO, tiers: tuple[int, ...] = (0, 1, 2), *, operator: bool = True
) -> Lab:
    """Open a laboratory with HyperNodes of these tiers."""
    lab = await Lab(settings).open(operator=False)
    for crd in definitions_of("volcano"):
        await lab.api.create(lab.api.target(kinds.DEFINITION), crd, WriteOptions())
    queue = {"metadata": {"name": "default"}, "spec": {"weight": 1}, "status": {"state": "Open"}}
    body = {"apiVersion": QUEUE.api_version, "kind": QUEUE.name, **queue}
    await lab.api.create(lab.api.target(QUEUE), body, WriteOptions())
    for tier in tiers:
        await add_hyper_node(lab, f"h{tier}", tier)
    if operator:
        lab.start_operator()
    return lab


async def add_hyper_node(
    lab: Lab, name: str, tier: int, tier_name: str = "", members: list[Object] | None = None
) -> None:
    """All nodes are in the one of tier 0, and each of the others holds the one below it."""
    member: Object = {"type": "Node", "selector": {"regexMatch": {"pattern": "^gpu-"}}}
    if tier > 0:
        below = {"name": f"h{tier - 1}" if name.startswith("h") else "nobody"}
        member = {"type": "HyperNode", "selector": {"exactMatch": below}}
    spec: Object = {"tier": tier, "members": members or [member]}
    if tier_name:
        spec["tierName"] = tier_name
    body = {
        "apiVersion": HYPER_NODE.api_version,
        "kind": HYPER_NODE.name,
        "metadata": {"name": name},
        "spec": spec,
    }
    await lab.api.create(lab.api.target(HYPER_NODE), body, WriteOptions())


async def remove_hyper_node(lab: Lab, name: str) -> None:
    await lab.api.delete(lab.api.target(HYPER_NODE, "", name), DeleteOptions())


async def bind(lab: Lab, pod: str, node: str) -> None:
    """Place a pod as a scheduler does."""
    target = lab.api.target(kinds.POD, lab.namespace, pod, "binding")
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}}
    choice = {"target": {"apiVersion": "v1", "kind": "Node", "name": node}}
    await lab.api.create(target, {**body, **choice}, WriteOptions())


async def move(lab: Lab, node: str, rack: str) -> None:
    """Put a node into a rack, by its label."""
    change = PatchBody(PatchType.MERGE, {"metadata": {"labels": {"rack": rack}}})
    await lab.api.patch(lab.api.target(kinds.NODE, "", node), change, WriteOptions())


def make_packed(carrier: str, topology: Object | None, **more: Any) -> Object:
    """A LeaderWorkerSet that asks for a topology."""
    notes = {labels.CARRIER: carrier, **more.pop("annotations", {})}
    spec = {**({"networkTopology": topology} if topology else {}), **more.pop("spec", {})}
    return make_lws(annotations=notes, spec=spec, **{**ROOM, **more})


def find_degraded(lab: Lab) -> Object:
    """The condition; an empty one if there is none."""
    return find_condition(lab.lws(), DEGRADED) or {}


def specs(lab: Lab) -> list[Object]:
    """The specs of all pod groups, by name."""
    groups = sorted(lab.all(POD_GROUP), key=lambda group: group["metadata"]["name"])
    return [group["spec"] for group in groups]


def schedulers(lab: Lab) -> set[str]:
    return {pod["spec"]["schedulerName"] for pod in lab.all(kinds.POD)}


def put(path: str, value: Any) -> Object:
    return {"op": "add", "path": path, "value": value}
