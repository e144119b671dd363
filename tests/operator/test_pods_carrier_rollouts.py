"""Rollouts of groups carried by pods: the budget holds at every version, whatever clients do."""

import pytest
from operator_lab import Lab, set_image, set_replicas
from pods_truth import PodTruth, images, make, uids

from kohort.apis.api import Settings
from kohort.cluster import kinds
from kohort.cluster.objects import Object

STRATEGY = "/metadata/annotations/kohort.dev~1rollout-strategy"
PARTITION = "/spec/rolloutStrategy/rollingUpdateConfiguration/partition"
CASES = [(4, 1, 0), (4, 2, 2), (4, 0, 1), (4, 2, 3), (2, 0, 2), (1, 0, 1), (5, 3, 4), (3, 5, 0)]


async def start(
    groups: int, unavailable: int = 1, surge: int = 0, strategy: str = "budgeted", size: int = 2
) -> tuple[Lab, PodTruth]:
    """A workload that is up, and whose truth is recorded from now on."""
    lab = await Lab(Settings(strategy=strategy)).open()
    truth = PodTruth(lab)
    rollout = {"maxUnavailable": unavailable, "maxSurge": surge, "partition": 0}
    await lab.apply(make(groups, size, rollout=rollout))
    await lab.until(lab.is_available)
    await lab.run(5)
    truth.is_on = True
    return lab, truth


def put(path: str, value: object) -> Object:
    return {"op": "add", "path": path, "value": value}


@pytest.mark.parametrize(("groups", "unavailable", "surge"), CASES)
async def test_a_rollout_keeps_its_budget(groups: int, unavailable: int, surge: int):
    lab, truth = await start(groups, unavailable, surge)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(30)
    assert truth.fewest_ready >= groups - unavailable
    assert truth.most_groups <= groups + min(surge, groups)
    assert images(lab) == {f"x-{i}": "engine:2" for i in range(groups)}
    await lab.close()


async def test_the_budget_is_used_not_only_kept():
    lab, truth = await start(6, 3)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    assert truth.fewest_ready == 3
    await lab.close()


@pytest.mark.parametrize(("groups", "unavailable", "surge"), CASES[:4])
async def test_the_strategy_of_upstream_ends_as_well(groups: int, unavailable: int, surge: int):
    lab, truth = await start(groups, unavailable, surge, "compatible")
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(30)
    assert truth.most_groups <= groups + surge
    assert images(lab) == {f"x-{i}": "engine:2" for i in range(groups)}
    await lab.close()


@pytest.mark.parametrize("second", ["compatible", "budgeted"])
async def test_the_strategy_may_change_in_the_middle(second: str):
    first = {"compatible": "budgeted", "budgeted": "compatible"}[second]
    lab, truth = await start(5, 1, 1, first)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: "engine:2" in images(lab).values())
    await lab.edit("x", put(STRATEGY, second))
    await lab.until(lab.is_available)
    await lab.run(30)
    assert truth.fewest_ready >= 4
    assert images(lab) == {f"x-{i}": "engine:2" for i in range(5)}
    await lab.close()


async def test_groups_below_the_partition_keep_their_revision():
    lab, _ = await start(4)
    await lab.edit("x", put(PARTITION, 2), set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(30)
    assert list(images(lab).values()).count("engine:2") == 2
    assert images(lab)["x-1"] == "engine:1"
    await lab.close()


async def test_a_group_below_the_partition_is_made_anew_as_it_was():
    lab, _ = await start(4)
    await lab.edit("x", put(PARTITION, 2), set_image("engine:2"))
    await lab.until(lab.is_available)
    before = uids(lab)
    await lab.delete(kinds.POD, "x-0", grace_seconds=0)
    await lab.run(60)
    assert uids(lab)["x-0-1"] != before["x-0-1"]
    assert images(lab)["x-0"] == "engine:1"
    await lab.close()


async def test_a_partition_that_comes_back_after_a_rollout_does_not_bring_the_old_one_back():
    lab, _ = await start(3)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.edit("x", put(PARTITION, 3))
    await lab.run(10)
    await lab.delete(kinds.POD, "x-0", grace_seconds=0)
    await lab.run(60)
    assert images(lab)["x-0"] == "engine:2"
    await lab.close()


async def test_a_template_that_comes_back_in_the_middle_makes_no_second_revision():
    lab, truth = await start(4)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: "engine:2" in images(lab).values())
    await lab.edit("x", set_image("engine:1"))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert truth.fewest_ready >= 3
    assert set(images(lab).values()) == {"engine:1"}
    assert len(lab.all(kinds.CONTROLLER_REVISION)) == 2
    await lab.close()


async def test_a_second_edit_in_the_middle_keeps_the_budget():
    lab, truth = await start(5, 2)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: "engine:2" in images(lab).values())
    await lab.edit("x", set_image("engine:3"))
    await lab.until(lab.is_available)
    assert truth.fewest_ready >= 3
    assert set(images(lab).values()) == {"engine:3"}
    await lab.close()


async def test_a_note_that_was_wiped_out_costs_no_group_too_many():
    lab, truth = await start(4)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: "engine:2" in images(lab).values())
    path = "/metadata/annotations/kohort.dev~1progress"
    for revision in lab.all(kinds.CONTROLLER_REVISION):
        operation = {"op": "remove", "path": path}
        await lab.edit(revision["metadata"]["name"], operation, kind=kinds.CONTROLLER_REVISION)
    await lab.until(lab.is_available)
    assert truth.fewest_ready >= 3
    assert set(images(lab).values()) == {"engine:2"}
    await lab.close()


async def test_scaling_in_the_middle_of_a_rollout_ends_where_it_should():
    lab, _ = await start(4, 1, 1)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: "engine:2" in images(lab).values())
    await lab.edit("x", set_replicas(6))
    await lab.run(3)
    await lab.edit("x", set_replicas(2))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert images(lab) == {"x-0": "engine:2", "x-1": "engine:2"}
    await lab.close()


async def test_a_size_that_changes_rolls_group_by_group():
    lab, truth = await start(3, size=2)
    await lab.edit("x", put("/spec/leaderWorkerTemplate/size", 3))
    await lab.until(lab.is_available)
    assert truth.fewest_ready >= 2
    assert len(lab.all(kinds.POD)) == 9
    await lab.close()


@pytest.mark.parametrize("kind", ["Pod", "ControllerRevision", "LeaderWorkerSet"])
async def test_caches_that_lag_cost_no_group_too_many(kind: str):
    lab, truth = await start(4, 1, 1)
    await lab.edit("x", set_image("engine:2"))
    for _ in range(6):
        await lab.run(1.5)
        lab.cluster.hold(kind)
        await lab.run(4)
        lab.cluster.release()
    await lab.until(lab.is_available)
    await lab.run(30)
    assert truth.fewest_ready >= 3
    assert truth.most_groups <= 5
    assert images(lab) == {f"x-{i}": "engine:2" for i in range(4)}
    await lab.close()
