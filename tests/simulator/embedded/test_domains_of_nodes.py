"""HyperNodes follow the nodes of a simulated cluster."""

from datetime import UTC, datetime
from random import Random

import pytest

from kohort.apis.gangs.dialects.volcano import HYPER_NODE, QUEUE
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType
from kohort.simulator.clock import VirtualClock
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.embedded.volcano_objects import Domains
from kohort.simulator.nodes import NodeMake, make_node
from kohort.simulator.world import World


class Lab:
    """A cluster of nodes with the part that keeps their domains."""

    def __init__(self) -> None:
        self.clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.api = ApiServer(Store(), Registry(builtin_resources()), self.clock.now, Random(1))
        self.world: World | None = None

    async def start(self, make: NodeMake) -> "Lab":
        await bootstrap(self.api, make, "volcano")
        self.world = World(self.api, [Domains()], self.clock)
        await self.world.settle()
        return self

    async def settle(self) -> dict[str, Object]:
        assert self.world is not None
        await self.world.settle()
        entries = self.api.store.bucket(HYPER_NODE.group_resource).entries.values()
        return {entry.name: entry.decode() for entry in entries}

    async def patch(self, kind: kinds.Kind, name: str, patch: Object) -> None:
        target = self.api.target(kind, "", name)
        await self.api.patch(target, PatchBody(PatchType.MERGE, patch), WriteOptions())


@pytest.fixture
async def lab() -> Lab:
    return await Lab().start(NodeMake(nodes=4, racks=2, spines=1))


def members_of(hypernode: Object) -> list[str]:
    return [m["selector"]["exactMatch"]["name"] for m in hypernode["spec"]["members"]]


async def test_each_node_is_tier_0_racks_are_tier_1_and_spines_tier_2(lab):
    found = await lab.settle()
    shapes = {
        n: (o["spec"]["tier"], o["spec"]["tierName"], members_of(o)) for n, o in found.items()
    }
    assert shapes == {
        **{f"gpu-0{n}": (0, "host", [f"gpu-0{n}"]) for n in range(4)},
        "rack-0": (1, "rack", ["gpu-00", "gpu-01"]),
        "rack-1": (1, "rack", ["gpu-02", "gpu-03"]),
        "spine-0": (2, "spine", ["rack-0", "rack-1"]),
    }
    assert found["rack-0"]["status"]["nodeCount"] == 2


async def test_a_node_that_is_added_joins_its_rack_or_brings_a_new_one(lab):
    target = lab.api.target(kinds.NODE)
    for index, rack in ((4, 0), (5, 7)):
        node = make_node(index, NodeMake(), "2026-01-01T00:00:00Z", rack, 0)
        await lab.api.create(target, node, WriteOptions())
    found = await lab.settle()
    assert members_of(found["rack-0"]) == ["gpu-00", "gpu-01", "gpu-04"]
    assert members_of(found["rack-7"]) == ["gpu-05"]
    assert members_of(found["spine-0"]) == ["rack-0", "rack-1", "rack-7"]


async def test_a_rack_without_nodes_goes(lab):
    for name in ("gpu-02", "gpu-03"):
        await lab.api.delete(lab.api.target(kinds.NODE, "", name), DeleteOptions())
    found = await lab.settle()
    assert sorted(found) == ["gpu-00", "gpu-01", "rack-0", "spine-0"]
    assert members_of(found["spine-0"]) == ["rack-0"]


async def test_what_a_user_changed_is_restored_and_what_a_user_made_stays(lab):
    await lab.patch(HYPER_NODE, "rack-0", {"spec": {"tier": 9}})
    mine = {"metadata": {"name": "mine"}, "spec": {"tier": 5, "members": []}}
    mine["spec"]["members"] = [{"type": "Node", "selector": {"exactMatch": {"name": "gpu-00"}}}]
    await lab.api.create(lab.api.target(HYPER_NODE), mine, WriteOptions())
    found = await lab.settle()
    assert found["rack-0"]["spec"]["tier"] == 1
    assert found["mine"]["spec"]["tier"] == 5


async def test_a_cluster_at_rest_writes_nothing(lab):
    before = lab.api.store.revision
    await lab.settle()
    await lab.patch(kinds.NODE, "gpu-00", {"metadata": {"labels": {"irrelevant": "x"}}})
    await lab.settle()
    assert lab.api.store.revision == before + 1


async def test_volcano_brings_an_open_queue(lab):
    queue = lab.api.store.find(QUEUE.group_resource, ("", "default")).decode()
    assert queue["status"]["state"] == "Open"
