"""A workload that needs help says so in a condition and one event, and says no more at rest."""

from typing import Any

import pytest
from operator_lab import LWS, Lab, make_lws, set_image

from kohort.apis.leaderworkerset import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition
from kohort.simulator.stages import CRASH_AFTER, FAILED, PULL_ERROR
from kohort.views.evidence.cluster import find_subject

CARRIERS = pytest.mark.parametrize("carrier", ["statefulsets", "pods"])
TEMPLATE = "/spec/leaderWorkerTemplate/workerTemplate"
NODE = kinds.NODE


def break_pulls(message: str | None) -> Object:
    notes = {"annotations": {PULL_ERROR: message}} if message else {}
    return {"op": "add", "path": f"{TEMPLATE}/metadata", "value": notes}


def blocked(lab: Lab) -> tuple[str, str]:
    """Status and reason of the condition; nothing if there is none."""
    found = find_condition(lab.lws(), "Blocked") or {}
    return str(found.get("status", "")), str(found.get("reason", ""))


def warnings(lab: Lab) -> list[str]:
    """The reasons of all warnings that the operator wrote about the workload."""
    found = [e for e in lab.all(kinds.EVENT) if find_subject(e).get("kind") == LWS.name]
    return [e["reason"] for e in found if e["type"] == "Warning"]


async def bring_up(lab: Lab, carrier: str = "statefulsets") -> None:
    await lab.apply(make_lws(groups=2, size=2, annotations={labels.CARRIER: carrier}))
    await lab.until(lab.is_available)
    await lab.run(5)


@CARRIERS
async def test_a_blocked_rollout_is_told_once_and_forgotten_when_it_goes_on(lab, carrier: str):
    await bring_up(lab, carrier)
    assert blocked(lab) == ("", "")
    await lab.edit("x", set_image("engine:2"), break_pulls("manifest unknown"))
    await lab.run(60)
    assert blocked(lab) == ("True", "ImagePullBackOff")
    found = find_condition(lab.lws(), "Blocked")
    assert found is not None
    assert found["message"].startswith("x-1: ")
    assert found["observedGeneration"] == lab.lws()["metadata"]["generation"]
    assert warnings(lab) == ["ImagePullBackOff"]
    await lab.edit("x", set_image("engine:1"), break_pulls(None))
    await lab.until(lab.is_available)
    await lab.run(5)
    assert blocked(lab) == ("False", "Unblocked")
    assert warnings(lab) == ["ImagePullBackOff"]


async def limit_pods(lab: Lab, most: int) -> None:
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": str(most)}}}
    await lab.api.create(lab.api.target(kinds.QUOTA, lab.namespace), quota, WriteOptions())
    await lab.run(1)


@CARRIERS
@pytest.mark.parametrize("most", [0, 1, 2, 3])
async def test_pods_that_a_quota_refuses_block_until_there_is_room(
    lab: Lab, carrier: str, most: int
):
    await limit_pods(lab, most)
    await lab.apply(make_lws(groups=2, size=2, annotations={labels.CARRIER: carrier}))
    await lab.run(90)
    assert blocked(lab) == ("True", "FailedCreate")
    message = (find_condition(lab.lws(), "Blocked") or {})["message"]
    assert "exceeded quota: few" in message
    before = message
    await lab.run(300)
    assert (find_condition(lab.lws(), "Blocked") or {})["message"] == before
    await lab.delete(kinds.QUOTA, "few")
    await lab.until(lab.is_available, 900)
    await lab.run(5)
    assert blocked(lab) == ("False", "Unblocked")


async def test_a_workload_that_stays_blocked_is_not_written_again(lab: Lab):
    await bring_up(lab)
    await lab.edit("x", set_image("engine:2"), break_pulls("manifest unknown"))
    await lab.run(60)
    lab.cluster.tried.clear()
    await lab.run(1800)
    assert dict(lab.cluster.tried) == {}


async def test_a_workload_that_was_never_blocked_has_no_such_condition(lab: Lab):
    await bring_up(lab)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(60)
    types = {c["type"] for c in lab.lws()["status"]["conditions"]}
    assert types == {"Available", "Progressing", "UpdateInProgress"}


async def test_members_that_no_node_fits_are_told_without_any_event_of_a_pod(lab: Lab):
    await lab.apply(make_lws(groups=1, size=2, pod={"nodeSelector": {"no": "node"}}))
    await lab.run(5)
    assert blocked(lab) == ("", "")
    await lab.run(15)
    assert blocked(lab) == ("True", "Unschedulable")


async def test_a_node_that_falls_silent_is_named_in_the_condition(lab: Lab):
    await bring_up(lab)
    node = (lab.find(kinds.POD, "x-1-1") or {})["spec"]["nodeName"]
    note = {"op": "add", "path": "/metadata/annotations", "value": {FAILED: "true"}}
    await lab.edit(node, note, kind=NODE)
    await lab.run(120)
    assert blocked(lab) == ("True", "NodeNotReady")
    found = find_condition(lab.lws(), "Blocked") or {}
    assert f"its node {node} is not ready" in found["message"]


def count_looks(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the operator looks at from now on."""
    controller = lab.operator.controllers[0]
    gather, looks = controller.gather, []

    def watched(key: Any, root: Any) -> Any:
        looks.append(key)
        return gather(key, root)

    monkeypatch.setattr(controller, "gather", watched)
    return looks


@CARRIERS
async def test_a_leader_that_a_dead_node_holds_up_for_long_is_looked_at_no_more(
    lab: Lab, carrier: str, monkeypatch: pytest.MonkeyPatch
):
    await bring_up(lab, carrier)
    node = (lab.find(kinds.POD, "x-1-1") or {})["spec"]["nodeName"]
    note = {"op": "add", "path": "/metadata/annotations", "value": {FAILED: "true"}}
    await lab.edit(node, note, kind=NODE)
    await lab.delete(kinds.POD, "x-1", propagation="Foreground")
    await lab.run(200)
    assert lab.find(kinds.POD, "x-1-1")
    looks = count_looks(lab, monkeypatch)
    await lab.run(60)
    assert len(looks) < 10


async def test_pods_that_are_refused_are_named_in_the_condition(lab: Lab):
    await lab.apply(make_lws(groups=1, size=2, pod={"priorityClassName": "missing"}))
    await lab.run(60)
    assert blocked(lab) == ("True", "FailedCreate")
    found = find_condition(lab.lws(), "Blocked") or {}
    assert "no PriorityClass with name missing was found" in found["message"]
    assert warnings(lab) == ["FailedCreate"]


@CARRIERS
async def test_a_volume_that_cannot_be_mounted_is_named_in_the_condition(lab: Lab, carrier: str):
    volumes = [{"name": "files", "configMap": {"name": "settings"}}]
    notes = {labels.CARRIER: carrier}
    await lab.apply(make_lws(groups=1, size=1, pod={"volumes": volumes}, annotations=notes))
    await lab.run(5)
    assert blocked(lab) == ("", "")
    await lab.run(15)
    assert blocked(lab) == ("True", "FailedMount")
    found = find_condition(lab.lws(), "Blocked") or {}
    why = 'MountVolume.SetUp failed for volume "files" : configmap "settings" not found'
    assert found["message"] == f"x-0: {why}"
    assert warnings(lab) == ["FailedMount"]
    made = {"metadata": {"name": "settings", "namespace": "default"}}
    await lab.cluster.create(kinds.CONFIG_MAP, "default", made)
    await lab.until(lab.is_available)
    await lab.run(5)
    assert blocked(lab) == ("False", "Unblocked")


async def test_a_workload_that_waits_for_a_volume_is_not_written_again(lab: Lab):
    volumes = [{"name": "files", "secret": {"secretName": "token"}}]
    await lab.apply(make_lws(groups=1, size=1, pod={"volumes": volumes}))
    await lab.run(60)
    lab.cluster.tried.clear()
    await lab.run(1800)
    assert not {"create", "update", "patch", "delete"} & set(lab.cluster.tried)


@CARRIERS
async def test_a_crash_loop_is_one_verdict_from_its_second_crash_on(lab: Lab, carrier: str):
    """Each life of the group is ready for a second; the condition does not follow it."""
    await bring_up(lab, carrier)
    notes = {"annotations": {CRASH_AFTER: "1s"}}
    path = f"{TEMPLATE}/metadata"
    await lab.edit("x", set_image("engine:2"), {"op": "add", "path": path, "value": notes})
    await lab.until(lambda: blocked(lab)[0] == "True", 120)
    seen = set()
    for _ in range(60):
        await lab.run(1)
        seen.add(blocked(lab))
    assert seen == {("True", "CrashLoopBackOff")}
    found = find_condition(lab.lws(), "Blocked") or {}
    assert ": exit 1" in found["message"]
    assert warnings(lab).count("CrashLoopBackOff") == 1
