"""A group lives and dies as one, once for each failure."""

from typing import Any

import pytest
from operator_lab import Lab, make_lws, set_image
from operator_truth import PREFIX, Truth

from kohort.cluster import kinds
from kohort.cluster.objects import Object

CRASH = "sim.kohort.dev/crash-after"


def note(key: str, value: str) -> Object:
    path = f"/metadata/annotations/{key.replace('/', '~1')}"
    return {"op": "add", "path": path, "value": value}


async def bring_up(lab: Lab, policy: str = "RecreateGroupOnPodRestart", **more: Any) -> Truth:
    truth = Truth(lab)
    await lab.apply(make_lws(groups=2, size=3, template={"restartPolicy": policy}, **more))
    await lab.until(lab.is_available)
    await lab.run(5)
    return truth


async def crash(lab: Lab, name: str) -> None:
    """Let the container of a running pod fail once."""
    await lab.edit(name, note("sim.kohort.dev/crash-times", "1"), kind=kinds.POD)
    await lab.edit(name, note(CRASH, "1s"), kind=kinds.POD)


@pytest.mark.parametrize("name", ["x-1", "x-1-2"])
async def test_a_container_that_starts_again_takes_its_group_along_once(lab: Lab, name: str):
    truth = await bring_up(lab)
    await crash(lab, name)
    await lab.run(60)
    assert lab.is_available()
    assert [len(truth.made(f"x-{i}")) for i in range(2)] == [1, 2]
    assert truth.breaches == []


@pytest.mark.parametrize("policy", ["None", "Default"])
async def test_without_a_policy_nothing_but_the_pod_itself_starts_again(lab: Lab, policy: str):
    truth = await bring_up(lab, policy)
    assert lab.lws()["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "None"
    await crash(lab, "x-1-2")
    await lab.run(60)
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(60)
    assert lab.is_available()
    assert [len(truth.made(f"x-{i}")) for i in range(2)] == [1, 1]


async def test_two_workers_that_fail_together_cost_one_restart(lab: Lab):
    """lws#804, lws#291: once for each incarnation."""
    truth = await bring_up(lab)
    await lab.delete(kinds.POD, "x-1-1")
    await lab.delete(kinds.POD, "x-1-2", grace_seconds=0)
    await lab.run(120)
    assert lab.is_available()
    assert len(truth.made("x-1")) == 2


async def test_leftovers_of_an_earlier_incarnation_restart_nothing(lab: Lab):
    """lws#805: workers that go on for long after their leader has been replaced."""
    truth = await bring_up(lab, pod={"terminationGracePeriodSeconds": 60})
    await lab.edit("x-1-1", note("sim.kohort.dev/ignore-stop", "true"), kind=kinds.POD)
    await lab.delete(kinds.POD, "x-1", grace_seconds=0)
    await lab.run(200)
    assert lab.is_available()
    assert len(truth.made("x-1")) == 2


async def test_a_worker_that_is_replaced_at_once_is_missed(lab: Lab):
    """lws#998: the set makes it again before the operator sees that it is gone."""
    truth = await bring_up(lab)
    lab.cluster.hold("Pod")
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)
    await lab.run(20)
    lab.cluster.release()
    await lab.run(60)
    assert lab.is_available()
    assert len(truth.made("x-1")) == 2


@pytest.mark.parametrize("by", ["policy", "annotation"])
async def test_a_group_that_is_coming_up_may_be_left_to_come_up(lab: Lab, by: str):
    notes = {f"{PREFIX}experimental-recreate-group-after-start": ""} if by == "annotation" else {}
    policy = "RecreateGroupAfterStart" if by == "policy" else "RecreateGroupOnPodRestart"
    truth = Truth(lab)
    made = make_lws(groups=1, size=3, template={"restartPolicy": policy}, annotations=notes)
    # The leader crashes once while the image of its workers is being pulled.
    leader = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    leader["metadata"] = {"annotations": {CRASH: "1s", "sim.kohort.dev/crash-times": "1"}}  # type: ignore[dict-item]
    worker = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    worker["metadata"] = {"annotations": {"sim.kohort.dev/pull-for": "60s"}}
    made["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = leader
    await lab.apply(made)
    await lab.run(50)
    assert len(truth.made("x-0")) == 1
    assert truth.pods["x-0"]["status"]["containerStatuses"][0]["restartCount"] == 1


async def test_a_group_that_has_started_restarts_after_start(lab: Lab):
    truth = await bring_up(lab, "RecreateGroupAfterStart")
    await crash(lab, "x-0-1")
    await lab.run(60)
    assert lab.is_available()
    assert len(truth.made("x-0")) == 2


async def test_an_old_group_that_restarts_in_a_rollout_stays_whole_and_old(lab: Lab):
    """All of it is made from the old revision, its size as well."""
    truth = await bring_up(lab, rollout={"partition": 1})
    size = {"op": "replace", "path": "/spec/leaderWorkerTemplate/size", "value": 2}
    await lab.edit("x", set_image("engine:2"), size)
    await lab.until(lab.is_available)
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(60)
    pods = {p["metadata"]["name"]: p for p in lab.all(kinds.POD)}
    assert set(pods) == {"x-0", "x-0-1", "x-0-2", "x-1", "x-1-1"}
    images = {n: p["spec"]["containers"][0]["image"] for n, p in pods.items()}
    assert {n for n, image in images.items() if image == "engine:1"} == {"x-0", "x-0-1", "x-0-2"}
    assert len(truth.made("x-0")) == 2
    assert truth.breaches == []


async def test_members_know_their_place(lab: Lab):
    """G6: ordinals, labels and variables agree."""
    await bring_up(lab)
    for pod in lab.all(kinds.POD):
        name, labels = pod["metadata"]["name"], pod["metadata"]["labels"]
        env = {e["name"]: e["value"] for e in pod["spec"]["containers"][0]["env"]}
        group, index = labels[f"{PREFIX}group-index"], labels[f"{PREFIX}worker-index"]
        assert name == (f"x-{group}" if index == "0" else f"x-{group}-{index}")
        assert env["LWS_WORKER_INDEX"] == index
        assert env["LWS_LEADER_ADDRESS"] == f"x-{group}.x.default"
        assert env["LWS_GROUP_SIZE"] == "3"
