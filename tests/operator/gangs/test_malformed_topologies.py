"""A HyperNode of another shape is left out; workloads that ask for a topology go on."""

from typing import Any

import pytest
from operator_lab import Lab
from topology_lab import find_degraded, make_packed, open_topology_lab

from kohort.apis.gangs.dialects.volcano import HYPER_NODE
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.port import PatchType
from kohort.controller.caches.informers import Reports

ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
BAD = [5, {"tier": 1, "tierName": ["a"]}, {"tier": 1, "members": 7}, {"tier": 1, "members": [3]}]


class Told(Reports):
    """Remembers what cannot be read."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def fault(self, selection: Any, fault: Any) -> None:
        self.names.append(fault.key[1])


async def add_bad(lab: Lab, spec: Any) -> None:
    definition = lab.api.target(kinds.DEFINITION, "", "hypernodes.topology.volcano.sh")
    path = "/spec/versions/0/schema/openAPIV3Schema"
    loosen = PatchBody(PatchType.JSON, [{"op": "replace", "path": path, "value": ANYTHING}])
    await lab.api.patch(definition, loosen, WriteOptions())
    head = {"apiVersion": HYPER_NODE.api_version, "kind": HYPER_NODE.name}
    body = {**head, "metadata": {"name": "bad"}, "spec": spec}
    await lab.api.create(lab.api.target(HYPER_NODE), body, WriteOptions())


@pytest.mark.parametrize("spec", BAD)
async def test_a_malformed_hyper_node_disturbs_no_workload(spec: Any):
    lab = await open_topology_lab()
    await add_bad(lab, spec)
    await lab.apply(make_packed("statefulsets", {"highestTierAllowed": 3}))
    await lab.run(30)
    assert "there are tiers 0, 1, 2" in find_degraded(lab)["message"]
    await lab.close()


async def test_a_malformed_hyper_node_is_reported():
    lab = await open_topology_lab()
    told = lab.operator.informers.reports = Told()
    await add_bad(lab, 5)
    await lab.run(5)
    assert told.names == ["bad"]
    await lab.close()
