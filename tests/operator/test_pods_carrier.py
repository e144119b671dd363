"""A LeaderWorkerSet whose pods we make ourselves: it comes up, rests, grows, shrinks and goes."""

from typing import Any

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas

from kohort.cluster.objects import Object
from kohort.simulator import kinds

PODS = {"kohort.dev/carrier": "pods"}


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()


def make(groups: int = 2, size: int = 3, **more: Any) -> Object:
    return make_lws(groups=groups, size=size, **{"annotations": PODS, **more})


def names(lab: Lab) -> list[str]:
    return sorted(p["metadata"]["name"] for p in lab.all(kinds.POD))


def uids(lab: Lab) -> dict[str, str]:
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in lab.all(kinds.POD)}


async def test_a_workload_comes_up_whole_without_any_set(lab: Lab):
    await lab.apply(make(groups=2, size=3))
    await lab.until(lab.is_available)
    assert names(lab) == ["x-0", "x-0-1", "x-0-2", "x-1", "x-1-1", "x-1-2"]
    assert lab.all(kinds.STATEFUL_SET) == []
    assert lab.lws()["status"]["readyReplicas"] == 2


async def test_creation_costs_one_write_for_each_object(lab: Lab):
    await lab.apply(make(groups=3, size=3))
    await lab.until(lab.is_available)
    await lab.run(60)
    writes = {k: n for k, n in lab.cluster.writes.items() if "status" not in k[1]}
    del writes["create", "Event"]
    assert writes == {
        ("create", "ControllerRevision"): 1,
        ("create", "Service"): 1,
        ("create", "Pod"): 9,
    }


async def test_at_rest_nothing_is_written(lab: Lab):
    await lab.apply(make())
    await lab.until(lab.is_available)
    await lab.run(60)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_a_rollout_ends_with_every_group_on_the_new_revision(lab: Lab):
    await lab.apply(make(groups=3))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    images = {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}
    assert images == {"engine:2"}
    assert len(lab.all(kinds.POD)) == 9


async def test_scaling_changes_the_number_of_groups(lab: Lab):
    await lab.apply(make(groups=3))
    await lab.until(lab.is_available)
    kept = uids(lab)
    await lab.edit("x", set_replicas(1))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 3)
    assert uids(lab) == {name: kept[name] for name in ("x-0", "x-0-1", "x-0-2")}
    await lab.edit("x", set_replicas(2))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 6)


async def test_deleting_a_workload_takes_everything_with_it(lab: Lab):
    await lab.apply(make())
    await lab.until(lab.is_available)
    await lab.delete(LWS, "x")
    await lab.run(120)
    for kind in (kinds.POD, kinds.SERVICE, kinds.REVISION):
        left = [o for o in lab.all(kind) if o["metadata"]["name"] != "kubernetes"]
        assert left == []
