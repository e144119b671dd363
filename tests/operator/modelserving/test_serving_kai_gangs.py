"""The gangs of ModelServings that KAI places: each instance is a subgroup, as its pods say."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from decided_writes import both, decide, leave, of, patched
from edits import edit_as
from serving_lab import KIND, ServingLab, role, serving

from kohort.apis.api import Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects.kai import KAI, POD_GROUP, SUBGROUP_NAME
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of
from kohort.simulator.embedded.bootstrap import list_prerequisites

GPUS = {"resources": {"requests": {"nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}}
NODES = 8
MINIMA = {"gangPolicy": {"minRoleReplicas": {"decode": 1}}}


@pytest.fixture
async def kai() -> AsyncIterator[ServingLab]:
    lab = ServingLab(Settings(gangs=(KAI,)))
    await lab.open(operator=False)
    for definition in definitions_of("kai"):
        await lab.api.create(lab.api.target(kinds.DEFINITION), definition, WriteOptions())
    for kind, body in list_prerequisites("kai"):
        await lab.api.create(lab.api.target(kind), body, WriteOptions())
    lab.start_operator()
    yield lab
    await lab.close()


def asked(*roles: Object, **template: Any) -> Object:
    found = serving(*roles, replicas=1, schedulerName=KAI.scheduler)
    found["spec"]["template"] |= template
    found["metadata"]["labels"] = {KAI.queue: "default"}
    return found


def group(lab: ServingLab) -> Object:
    found = lab.find(POD_GROUP, "x-0")
    assert found is not None
    spec: Object = found["spec"]
    return spec


def parts(lab: ServingLab) -> dict[str, int | None]:
    return {part["name"]: part.get("minMember") for part in group(lab)["subGroups"]}


def named(lab: ServingLab) -> set[str]:
    return {labels_of(pod)[SUBGROUP_NAME] for pod in lab.pods().values()}


def placed(lab: ServingLab) -> set[str]:
    return {name for name, pod in lab.pods().items() if pod["spec"].get("nodeName")}


def on_a_node(replicas: int) -> Object:
    """A role of single pods, each of which fills a node."""
    template = {"spec": {"containers": [{"name": "engine", "image": "engine:1", **GPUS}]}}
    return role(replicas=replicas, workers=0, entryTemplate=template)


async def test_instances_beyond_the_minimum_are_subgroups_without_one(kai: ServingLab):
    await kai.apply(asked(role(replicas=3), **MINIMA))
    await kai.until(kai.is_done, 120)
    assert parts(kai) == {"decode-0": 2, "decode-1": None, "decode-2": None}
    assert group(kai)["minMember"] == 2
    assert named(kai) == set(parts(kai))
    assert len(placed(kai)) == 6


async def test_the_minimum_is_placed_where_there_is_no_room_for_more(kai: ServingLab):
    await kai.apply(asked(on_a_node(NODES + 2), **MINIMA))
    await kai.until(lambda: len(placed(kai)) == NODES, 120)
    await kai.run(60)
    assert len(placed(kai)) == NODES


async def test_a_minimum_of_none_is_a_gang_that_kai_takes(kai: ServingLab):
    await kai.apply(asked(role(replicas=1), gangPolicy={"minRoleReplicas": {"decode": 0}}))
    await kai.until(kai.is_done, 120)
    assert (group(kai)["minMember"], parts(kai)) == (1, {"decode-0": None})


async def test_subgroups_follow_when_a_role_scales(kai: ServingLab):
    await kai.apply(asked(role(replicas=1)))
    await kai.until(kai.is_done, 120)
    await kai.set_field("/spec/template/roles/0/replicas", 3)
    await kai.until(kai.is_done, 120)
    assert (group(kai)["minMember"], parts(kai)) == (6, {f"decode-{i}": 2 for i in range(3)})
    assert len(placed(kai)) == 6
    await kai.set_field("/spec/template/roles/0/replicas", 1)
    await kai.until(kai.is_done, 120)
    assert (group(kai)["minMember"], parts(kai)) == (2, {"decode-0": 2})


async def test_instances_that_outlive_lower_ones_keep_their_subgroups(kai: ServingLab):
    await kai.apply(asked(role(replicas=3)))
    await kai.until(kai.is_done, 120)
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "100"}}}
    for pod in ("x-0-decode-2-0", "x-0-decode-2-1"):
        await edit_as(kai, "user", cost, pod, kinds.POD)
    await kai.set_field("/spec/template/roles/0/replicas", 2)
    await kai.until(kai.is_done, 120)
    await kai.run(5)
    assert "decode-2" in named(kai)
    assert parts(kai) == dict.fromkeys(named(kai), 2)


async def test_an_instance_that_leaves_is_no_subgroup_any_more(kai: ServingLab):
    await kai.apply(asked(role(replicas=2)))
    await kai.until(kai.is_done, 120)
    fewer = of(KIND, lambda found: found["spec"]["template"]["roles"][0].update(replicas=1))
    gone = [of(kinds.POD, leave, f"x-0-decode-1-{index}") for index in (0, 1)]
    change = patched(decide(kai, both(fewer, *gone)), POD_GROUP)["x-0"]["spec"]
    assert change["subGroups"] == [{"name": "decode-0", "minMember": 2}]


async def test_the_topology_of_a_running_group_follows_the_spec_as_upstream_has_it(kai: ServingLab):
    """kthena#1087: no edit of it makes a group anew, so the gang that runs is told."""
    soft, hard = ({"mode": mode, "highestTierAllowed": 0} for mode in ("soft", "hard"))
    await kai.apply(asked(role(), networkTopology={"groupPolicy": soft, "rolePolicy": soft}))
    await kai.until(kai.is_done, 120)
    node = group(kai)["topologyConstraint"]["preferredTopologyLevel"]
    uids = kai.uids()
    await kai.set_field("/spec/template/networkTopology/groupPolicy", hard)
    await kai.run(5)
    wanted = {"topology": "default", "requiredTopologyLevel": node}
    assert group(kai)["topologyConstraint"] == wanted
    await kai.set_field("/spec/template/networkTopology", {"groupPolicy": hard})
    await kai.run(5)
    assert group(kai)["subGroups"] == [{"name": "decode-0", "minMember": 2}]
    assert kai.uids() == uids
    before = kai.api.store.revision
    await kai.run(60)
    assert kai.api.store.revision == before
