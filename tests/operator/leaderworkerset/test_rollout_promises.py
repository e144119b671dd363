"""Rollouts keep their budget at every stored version, whatever the set's own controller does."""

from typing import Any

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas
from operator_truth import Budget, Truth

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType

GATE = frozenset({"MaxUnavailableStatefulSet"})


async def bring_up(lab: Lab, budget: Budget, **more: Any) -> Truth:
    """A workload at rest, and a promise about it."""
    rollout = {
        "maxUnavailable": budget.unavailable,
        "maxSurge": budget.surge,
        "partition": budget.partition,
    }
    truth = Truth(lab)
    await lab.apply(make_lws(groups=budget.wanted, rollout=rollout, **{"size": 2, **more}))
    await lab.until(lab.is_available)
    await lab.run(5)
    truth.promise(budget)
    return truth


async def roll(lab: Lab, budget: Budget, **more: Any) -> Truth:
    """Bring a workload up, roll it, and let it come to rest."""
    truth = await bring_up(lab, budget, **more)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(30)
    return truth


def images(lab: Lab) -> set[str]:
    return {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}


def set_rollout(field: str, value: Any) -> Object:
    path = f"/spec/rolloutStrategy/rollingUpdateConfiguration/{field}"
    return {"op": "replace", "path": path, "value": value}


@pytest.mark.parametrize("gates", [frozenset(), GATE], ids=["gate off", "gate on"])
@pytest.mark.parametrize(
    ("wanted", "unavailable", "surge"),
    [(4, 1, 0), (4, 2, 2), (4, 0, 1), (4, 2, 3), (2, 0, 2), (1, 0, 1), (5, 3, 4), (3, 5, 0)],
)
async def test_a_rollout_keeps_its_budget(
    wanted: int, unavailable: int, surge: int, gates: frozenset[str]
):
    """Among them what breaks upstream's rule: lws#688, lws#779 and lws#776."""
    lab = await Lab(gates=gates).open()
    truth = await roll(lab, Budget(wanted, unavailable, surge))
    assert truth.breaches == []
    assert truth.steps[-1] == (0, wanted)
    assert images(lab) == {"engine:2"}
    assert len(lab.all(kinds.POD)) == wanted * 2
    await lab.close()


@pytest.mark.parametrize("gates", [frozenset(), GATE], ids=["gate off", "gate on"])
async def test_the_budget_is_used_on_every_version_of_kubernetes(gates: frozenset[str]):
    """With the gate off the set would replace one leader at a time."""
    lab = await Lab(gates=gates).open()
    truth = await roll(lab, Budget(10, 3))
    assert truth.breaches == []
    assert min(truth.ready_counts) == 7
    # Each leader is made twice, and no more.
    assert len(truth.leaders) == 20
    await lab.close()


async def test_percentages_are_rounded_for_the_user(lab: Lab):
    truth = Truth(lab)
    rollout = {"maxUnavailable": "34%", "maxSurge": "10%"}
    await lab.apply(make_lws(groups=4, size=1, rollout=rollout))
    await lab.until(lab.is_available)
    truth.promise(Budget(4, unavailable=1, surge=1))
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    assert truth.breaches == []
    assert truth.counts() == [4, 5, 4]


async def test_a_percentage_of_which_scaling_leaves_nothing_does_not_stop_a_rollout(lab: Lab):
    """Admission is not asked when an autoscaler lowers the replicas; 60 % of one is none."""
    await lab.apply(make_lws(groups=3, size=1, rollout={"maxUnavailable": "60%"}))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    target = lab.api.target(LWS, lab.namespace, "x", "scale")
    await lab.api.patch(target, PatchBody(PatchType.JSON, [set_replicas(1)]), WriteOptions())
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"})


async def test_a_partition_is_kept_until_it_is_lowered(lab: Lab):
    truth = await roll(lab, Budget(6, partition=4))
    assert truth.breaches == []
    assert truth.steps[-1] == (4, 6)
    assert lab.lws()["status"]["updatedReplicas"] == 2
    truth.promise(Budget(6, partition=2))
    await lab.edit("x", set_rollout("partition", 2))
    await lab.until(lambda: lab.is_available() and lab.lws()["status"]["updatedReplicas"] == 4)
    assert truth.breaches == []
    assert truth.steps[-1] == (2, 6)


async def test_a_partition_keeps_surge_until_it_is_lowered(lab: Lab):
    """Three groups, one extra, partition two."""
    truth = await roll(lab, Budget(3, surge=1, partition=2))
    assert truth.breaches == []
    assert lab.lws()["status"]["updatedReplicas"] >= 1
    await lab.edit("x", set_rollout("partition", 0))
    truth.promise(Budget(3, surge=1))
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"})
    await lab.run(30)
    assert truth.steps[-1] == (0, 3)
    assert truth.breaches == []


async def test_going_back_in_the_middle_spares_the_groups_that_never_left(lab: Lab):
    truth = await bring_up(lab, Budget(4))
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: lab.lws()["status"].get("updatedReplicas") == 1)
    await lab.edit("x", set_image("engine:1"))
    await lab.run(1)
    truth.promise(Budget(4, unavailable=2))
    await lab.until(lab.is_available)
    assert truth.breaches == []
    assert images(lab) == {"engine:1"}
    assert [len(truth.made(f"x-{i}")) for i in range(2)] == [1, 1]


@pytest.mark.parametrize("surge", [0, 2])
async def test_a_second_edit_begins_again_from_where_groups_are(lab: Lab, surge: int):
    truth = await bring_up(lab, Budget(4, unavailable=1, surge=surge))
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: lab.lws()["status"].get("updatedReplicas", 0) >= 1)
    await lab.edit("x", set_image("engine:3"))
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:3"})
    await lab.run(30)
    assert [b for b in truth.breaches if not b.startswith("A4")] == []
    assert truth.steps[-1] == (0, 4)


@pytest.mark.parametrize(("count", "surge"), [(6, 0), (2, 0), (6, 2), (2, 2), (0, 0)])
async def test_replicas_may_change_in_the_middle_of_a_rollout(lab: Lab, count: int, surge: int):
    truth = await bring_up(lab, Budget(4, surge=surge))
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: lab.lws()["status"].get("updatedReplicas", 0) >= 1)
    truth.promise(Budget(max(4, count), unavailable=1 + abs(4 - count), surge=surge))
    await lab.edit("x", set_replicas(count))
    await lab.until(lambda: lab.is_available() and images(lab) <= {"engine:2"})
    await lab.run(60)
    assert truth.breaches == []
    assert truth.steps[-1] == (0, count)
    assert len(lab.all(kinds.POD)) == 2 * count


async def test_template_and_replicas_may_change_together(lab: Lab):
    truth = await bring_up(lab, Budget(2, unavailable=1, surge=2))
    truth.promise(None)
    await lab.edit("x", set_image("engine:2"), set_replicas(4))
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"})
    await lab.run(30)
    assert truth.steps[-1] == (0, 4)


async def test_a_group_that_fails_in_the_middle_is_not_paid_for_twice(lab: Lab):
    truth = await bring_up(lab, Budget(4))
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: lab.lws()["status"].get("updatedReplicas", 0) == 1)
    truth.promise(Budget(4, lost=1))
    await lab.delete(kinds.POD, "x-0-1", grace_seconds=0)
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"})
    assert truth.breaches == []


async def test_a_template_that_never_becomes_ready_stops_at_the_budget(lab: Lab):
    """A5: what serves goes on to serve, and the way back ends with all groups ready."""
    truth = await bring_up(lab, Budget(4))
    notes = {"sim.kohort.dev/never-ready": "true"}
    path = "/spec/leaderWorkerTemplate/workerTemplate/metadata"
    await lab.edit("x", {"op": "add", "path": path, "value": {"annotations": notes}})
    await lab.run(300)
    assert truth.breaches == []
    assert lab.lws()["status"]["readyReplicas"] == 3
    await lab.edit("x", {"op": "remove", "path": path})
    await lab.until(lab.is_available)
    assert truth.breaches == []
    assert [len(truth.made(f"x-{i}")) for i in range(3)] == [1, 1, 1]


async def test_broken_old_groups_go_free_of_charge(lab: Lab):
    """Upstream was stuck here once: lws#567."""
    notes = {"metadata": {"annotations": {"sim.kohort.dev/never-ready": "true"}}}
    made = make_lws(groups=3, size=2)
    made["spec"]["leaderWorkerTemplate"]["workerTemplate"].update(notes)
    await lab.apply(made)
    await lab.run(60)
    path = "/spec/leaderWorkerTemplate/workerTemplate/metadata/annotations"
    await lab.edit("x", {"op": "remove", "path": path}, set_image("engine:2"))
    await lab.until(lab.is_available, 60)
    assert images(lab) == {"engine:2"}


async def test_old_views_break_no_promise(lab: Lab):
    """The caches of the operator fall behind for a while, one kind after the other."""
    truth = await bring_up(lab, Budget(4, unavailable=2, surge=1))
    await lab.edit("x", set_image("engine:2"))
    for kind in ("Pod", "StatefulSet", "Pod", "ControllerRevision", LWS.name):
        lab.cluster.hold(kind)
        await lab.run(4)
        lab.cluster.release()
        await lab.run(2)
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"})
    assert truth.breaches == []


@pytest.mark.parametrize("gates", [frozenset(), GATE], ids=["gate off", "gate on"])
async def test_a_set_that_acts_late_breaks_no_promise(gates: frozenset[str]):
    """The set's own controller wakes up now and then, and acts on what it sees then."""
    lab = await Lab(gates=gates).open()
    truth = await bring_up(lab, Budget(5, unavailable=2, surge=1))
    runner = next(s for s in lab.world.runners if s.component.name == "statefulsets")
    await lab.edit("x", set_image("engine:2"))
    for seconds in (0.1, 2.0, 5.0) * 5:
        lab.hold_component(runner)
        await lab.run(seconds)
        lab.release_component(runner)
        await lab.run(0.2)
    await lab.until(lambda: lab.is_available() and images(lab) == {"engine:2"})
    assert truth.breaches == []
    await lab.close()
