"""The cases of upstream's end-to-end suite, 1 to 16, written anew."""

from typing import Any

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas
from operator_truth import PREFIX, Truth

from kohort.apis.leaderworkerset.revision import revision_data
from kohort.apis.revision_hash import hash_revision
from kohort.cluster import kinds
from kohort.cluster.objects import Object

TPU = {"resources": {"limits": {"google.com/tpu": "4"}}}
TEMPLATE = "/spec/leaderWorkerTemplate"


def uids(lab: Lab) -> dict[str, str]:
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in lab.all(kinds.POD)}


def variables(pod: Object, container: int = 0) -> dict[str, str]:
    env = pod["spec"]["containers"][container].get("env") or []
    return {entry["name"]: entry.get("value", "") for entry in env}


def pods_of(lab: Lab) -> dict[str, Object]:
    return {p["metadata"]["name"]: p for p in lab.all(kinds.POD)}


async def bring_up(lab: Lab, **more: Any) -> Truth:
    truth = Truth(lab)
    await lab.apply(make_lws(**more))
    await lab.until(lab.is_available)
    return truth


async def change(lab: Lab, *operations: Object) -> None:
    await lab.edit("x", *operations)
    await lab.until(lab.is_available)
    await lab.run(30)


def assert_whole(lab: Lab, groups: int, size: int) -> None:
    """What upstream's suite is strict about: counts, labels, the hash, the conditions."""
    lws = lab.lws()
    key = hash_revision(revision_data(lws))
    sets = lab.all(kinds.STATEFUL_SET)
    assert len(sets) == (groups + 1 if size > 1 else 1)
    assert len(lab.all(kinds.POD)) == groups * size
    for obj in [*sets, *lab.all(kinds.POD)]:
        assert obj["metadata"]["labels"][f"{PREFIX}template-revision-hash"] == key
    for condition in lws["status"]["conditions"]:
        assert condition["observedGeneration"] == lws["metadata"]["generation"]
    leader_set = lab.find(kinds.STATEFUL_SET, "x")
    assert leader_set is not None
    assert set(leader_set["spec"]["template"]["metadata"]["labels"]) == {
        f"{PREFIX}name",
        f"{PREFIX}worker-index",
        f"{PREFIX}template-revision-hash",
    }


async def test_01_groups_of_five_come_up(lab: Lab):
    await bring_up(lab, groups=4, size=5, template={"restartPolicy": "RecreateGroupOnPodRestart"})
    assert_whole(lab, 4, 5)


async def test_02_groups_of_one_roll_with_surge(lab: Lab):
    rollout = {"maxUnavailable": 1, "maxSurge": 1}
    truth = await bring_up(lab, groups=4, size=1, rollout=rollout)
    await change(lab, set_image("engine:2"))
    assert truth.counts() == [4, 5, 4]
    assert_whole(lab, 4, 1)


async def test_03_a_foreground_delete_takes_the_object_last(lab: Lab):
    await bring_up(lab, groups=2, size=2)
    await lab.delete(LWS, "x", propagation="Foreground")
    assert lab.find(LWS, "x") is not None
    await lab.run(60)
    assert lab.find(LWS, "x") is None
    assert not lab.all(kinds.POD) + lab.all(kinds.STATEFUL_SET) + lab.all(kinds.CONTROLLER_REVISION)


async def test_04_a_rollout_replaces_every_group(lab: Lab):
    await bring_up(lab, groups=4, size=2)
    before = uids(lab)
    await change(lab, set_image("engine:2"))
    assert_whole(lab, 4, 2)
    assert not set(before.values()) & set(uids(lab).values())


async def test_05_surge_begins_with_what_is_needed(lab: Lab):
    truth = await bring_up(lab, groups=4, size=2, rollout={"maxUnavailable": 1, "maxSurge": 4})
    await change(lab, set_image("engine:2"))
    assert truth.counts()[:2] == [4, 7]
    assert truth.counts()[-1] == 4
    assert_whole(lab, 4, 2)


async def test_06_surge_alone_rolls_a_set_that_may_miss_nothing(lab: Lab):
    truth = await bring_up(lab, groups=4, size=2, rollout={"maxUnavailable": 0, "maxSurge": 1})
    await change(lab, set_image("engine:2"))
    assert truth.counts() == [4, 5, 4]
    assert_whole(lab, 4, 2)


async def test_07_old_pods_that_never_became_ready_hold_nothing_up(lab: Lab):
    made = make_lws(groups=2, size=2)
    template = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    template["metadata"] = {"annotations": {"sim.kohort.dev/pull-error": "no such image"}}
    await lab.apply(made)
    await lab.run(60)
    assert lab.lws()["status"]["readyReplicas"] == 0
    path = f"{TEMPLATE}/workerTemplate/metadata/annotations"
    await change(lab, {"op": "remove", "path": path}, set_image("engine:2"))
    assert_whole(lab, 2, 2)


async def test_08_subgroups_with_accelerators(lab: Lab):
    policy = {"subGroupPolicy": {"subGroupSize": 2}}
    await lab.apply(make_lws(groups=1, size=4, container=TPU, template=policy))
    await lab.run(30)
    pods = pods_of(lab)
    labels = {n: p["metadata"]["labels"][f"{PREFIX}subgroup-index"] for n, p in pods.items()}
    assert labels == {"x-0": "0", "x-0-1": "0", "x-0-2": "1", "x-0-3": "1"}
    assert variables(pods["x-0-3"])["TPU_WORKER_HOSTNAMES"] == "x-0-2.x,x-0-3.x"
    assert variables(pods["x-0-3"])["TPU_WORKER_ID"] == "1"


async def test_09_subgroups_roll_with_surge(lab: Lab):
    policy = {"subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}}
    rollout = {"maxUnavailable": 1, "maxSurge": 4}
    truth = await bring_up(lab, groups=4, size=3, rollout=rollout, template=policy)
    await change(lab, set_image("engine:2"))
    assert truth.counts()[:2] == [4, 7]
    assert_whole(lab, 4, 3)
    pods = pods_of(lab)
    assert f"{PREFIX}subgroup-index" not in pods["x-0"]["metadata"]["labels"]
    assert pods["x-0-2"]["metadata"]["labels"][f"{PREFIX}subgroup-index"] == "0"


async def test_10_accelerators_are_told_of_each_other(lab: Lab):
    await lab.apply(make_lws(groups=1, size=2, container=TPU))
    await lab.run(30)
    pods = pods_of(lab)
    for name, place in (("x-0", "0"), ("x-0-1", "1")):
        found = variables(pods[name])
        assert found["TPU_WORKER_HOSTNAMES"] == "x-0.x,x-0-1.x"
        assert found["TPU_WORKER_ID"] == place
        assert found["TPU_NAME"] == "x-0"


async def test_11_each_container_with_accelerators_is_told(lab: Lab):
    containers = [{"name": n, "image": "engine:1", **TPU} for n in ("a", "b")]
    await lab.apply(make_lws(groups=1, size=2, pod={"containers": containers}))
    await lab.run(30)
    worker = pods_of(lab)["x-0-1"]
    assert [variables(worker, i)["TPU_WORKER_ID"] for i in range(2)] == ["2", "3"]
    assert variables(worker, 1)["TPU_PROCESS_PORT"] == "8477"


@pytest.mark.parametrize(("before", "after"), [(3, 5), (3, 1), (1, 3)])
async def test_12_a_change_of_size_makes_groups_anew(lab: Lab, before: int, after: int):
    await bring_up(lab, groups=2, size=before)
    old = uids(lab)
    await change(lab, {"op": "replace", "path": f"{TEMPLATE}/size", "value": after})
    assert_whole(lab, 2, after)
    assert not set(old.values()) & set(uids(lab).values())
    sizes = {p["metadata"]["annotations"][f"{PREFIX}size"] for p in lab.all(kinds.POD)}
    assert sizes == {str(after)}


async def test_13_the_subdomain_policy_may_change_both_ways(lab: Lab):
    await lab.apply(make_lws(groups=1, size=2, container=TPU))
    await lab.run(30)
    for policy, domain in (("UniquePerReplica", "x-0"), ("Shared", "x")):
        value = {"subdomainPolicy": policy}
        await lab.edit("x", {"op": "add", "path": "/spec/networkConfig", "value": value})
        await lab.run(60)
        for pod in pods_of(lab).values():
            hosts = variables(pod)["TPU_WORKER_HOSTNAMES"]
            assert hosts == f"x-0.{domain},x-0-1.{domain}"
            assert pod["spec"]["subdomain"] == domain
            assert variables(pod)["LWS_LEADER_ADDRESS"] == f"x-0.{domain}.default"


async def test_14_each_replica_has_a_service_of_its_own(lab: Lab):
    network = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
    rollout = {"maxUnavailable": 1, "maxSurge": 1}
    await bring_up(lab, groups=4, size=2, spec=network, rollout=rollout)
    for count in (4, 7, 4):
        await lab.edit("x", set_replicas(count))
        await lab.until(lab.is_available)
        await lab.run(60)
        names = sorted(s["metadata"]["name"] for s in lab.all(kinds.SERVICE))
        assert [n for n in names if n != "kubernetes"] == [f"x-{i}" for i in range(count)]


async def test_15_without_accelerators_nothing_is_told(lab: Lab):
    await bring_up(lab, groups=1, size=2)
    for pod in lab.all(kinds.POD):
        assert [n for n in variables(pod) if n.startswith("TPU")] == []
        assert pod["spec"]["containers"][0]["env"][0]["name"] == "LWS_LEADER_ADDRESS"


async def test_16_a_deleted_worker_takes_all_of_its_group_along(lab: Lab):
    truth = await bring_up(lab, groups=1, size=3)
    before = uids(lab)
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(60)
    assert lab.is_available()
    assert set(before) == set(uids(lab))
    assert not set(before.values()) & set(uids(lab).values())
    assert len(truth.made("x-0")) == 2
