"""Groups carried by pods come back whole, whatever was lost, and wait when they should."""

from typing import Any

import pytest
from operator_lab import LWS, Lab
from pods_truth import PodTruth, is_serving, make, names, uids

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType

NONE = {"restartPolicy": "None"}
AFTER_START = {"restartPolicy": "RecreateGroupAfterStart"}


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()


async def start(lab: Lab, **more: Any) -> dict[str, str]:
    await lab.apply(make(**more))
    await lab.until(lab.is_available)
    await lab.run(5)
    return uids(lab)


def changed(lab: Lab, before: dict[str, str]) -> set[str]:
    after = uids(lab)
    assert set(after) == set(before)
    return {name for name in after if after[name] != before[name]}


async def end(lab: Lab, name: str, phase: str) -> None:
    """Let a pod end, as an eviction or a node's end leaves it."""
    status = {"phase": phase, "reason": "Evicted", "containerStatuses": None, "conditions": None}
    target = lab.api.target(kinds.POD, "default", name, "status")
    patch = PatchBody(PatchType.MERGE, {"status": status})
    await lab.api.patch(target, patch, WriteOptions(manager="kubelet"))


GROUP = {"x-1", "x-1-1", "x-1-2"}


@pytest.mark.parametrize("member", sorted(GROUP))
@pytest.mark.parametrize("options", [{}, {"grace_seconds": 0}], ids=["gently", "at once"])
async def test_a_member_that_is_deleted_takes_its_group_along(
    lab: Lab, member: str, options: Object
):
    before = await start(lab)
    await lab.delete(kinds.POD, member, **options)
    await lab.run(120)
    assert changed(lab, before) == GROUP
    assert lab.is_available()


async def test_a_member_that_restarts_takes_its_group_along(lab: Lab):
    before = await start(lab)
    statuses = [{"name": "engine", "restartCount": 1, "image": "", "imageID": "", "ready": True}]
    target = lab.api.target(kinds.POD, "default", "x-1-1", "status")
    patch = PatchBody(PatchType.MERGE, {"status": {"containerStatuses": statuses}})
    await lab.api.patch(target, patch, WriteOptions())
    await lab.run(120)
    assert changed(lab, before) == GROUP


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
async def test_a_member_that_has_ended_takes_its_group_along(lab: Lab, phase: str):
    before = await start(lab)
    await end(lab, "x-1-2", phase)
    await lab.run(120)
    assert changed(lab, before) == GROUP
    assert lab.is_available()


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
async def test_without_a_policy_only_the_worker_that_has_ended_is_replaced(lab: Lab, phase: str):
    before = await start(lab, template=NONE)
    await end(lab, "x-1-2", phase)
    await lab.run(120)
    assert changed(lab, before) == {"x-1-2"}
    assert lab.is_available()


@pytest.mark.parametrize("options", [{}, {"grace_seconds": 0}], ids=["gently", "at once"])
async def test_without_a_policy_only_the_worker_that_was_deleted_is_replaced(
    lab: Lab, options: Object
):
    before = await start(lab, template=NONE)
    await lab.delete(kinds.POD, "x-1-2", **options)
    await lab.run(120)
    assert changed(lab, before) == {"x-1-2"}


async def test_without_a_policy_a_leader_that_has_ended_takes_its_workers_along(lab: Lab):
    """They belong to it, as their set does on the other carrier."""
    before = await start(lab, template=NONE)
    await end(lab, "x-1", "Failed")
    await lab.run(120)
    assert changed(lab, before) == GROUP


async def test_a_group_that_starts_is_left_to_start_when_the_policy_says_so(lab: Lab):
    pending = {"nodeSelector": {"nowhere": "true"}}
    worker = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}], **pending}}
    leader = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
    template = {**AFTER_START, "leaderTemplate": leader, "workerTemplate": worker}
    await lab.apply(make(groups=1, template=template))
    await lab.run(30)
    before = uids(lab)
    await end(lab, "x-0-1", "Failed")
    await lab.run(30)
    assert changed(lab, before) == {"x-0-1"}


async def test_all_pods_at_once_come_back(lab: Lab):
    before = await start(lab)
    for name in before:
        await lab.delete(kinds.POD, name, grace_seconds=0)
    await lab.run(120)
    assert changed(lab, before) == set(before)
    assert lab.is_available()


async def test_an_orphaned_worker_is_told_and_not_taken_over(lab: Lab):
    before = await start(lab)
    await lab.delete(kinds.POD, "x-1", propagation="Orphan")
    await lab.run(60)
    conditions = {c["type"]: c for c in lab.lws()["status"]["conditions"]}
    assert conditions["Stalled"]["reason"] == "NameTaken"
    assert "x-1-1 exists and has no owner" in conditions["Stalled"]["message"]
    for name in ("x-1-1", "x-1-2"):
        await lab.delete(kinds.POD, name)
    await lab.run(60)
    assert changed(lab, before) == GROUP


async def test_a_foreign_pod_with_our_name_is_reported(lab: Lab):
    taken = {"metadata": {"name": "x-0", "namespace": "default"}}
    spec = {"containers": [{"name": "own", "image": "own"}]}
    target = lab.api.target(kinds.POD, "default")
    body = {"apiVersion": "v1", "kind": "Pod", **taken, "spec": spec}
    await lab.api.create(target, body, WriteOptions())
    await lab.apply(make())
    await lab.run(10)
    conditions = {c["type"]: c for c in lab.lws()["status"]["conditions"]}
    assert 'pods "x-0" already exists' in conditions["Stalled"]["message"]
    assert "x-1" in names(lab)


async def test_a_workload_that_is_made_anew_waits_for_the_names_of_the_old_one(lab: Lab):
    before = await start(lab)
    await lab.delete(LWS, "x")
    await lab.apply(make())
    await lab.run(120)
    assert changed(lab, before) == set(before)
    assert lab.is_available()
    assert "Stalled" not in {c["type"] for c in lab.lws()["status"]["conditions"]}


async def test_workers_wait_for_a_ready_leader_when_the_user_asks_for_it(lab: Lab):
    truth = PodTruth(lab)
    early: list[str] = []

    def check(event: Any) -> None:
        pod = event.entry.decode()
        name = pod["metadata"]["name"]
        if name.count("-") == 2 and event.change.name == "ADDED":
            leader = truth.pods[name.rpartition("-")[0]]
            early.extend([] if is_serving(leader) else [name])

    lab.api.store.subscribe(lab.api.registry.of(kinds.POD).bucket, check)
    await start(lab, spec={"startupPolicy": "LeaderReady"})
    await lab.delete(kinds.POD, "x-1-1")
    await lab.run(120)
    assert lab.is_available()
    assert early == []
