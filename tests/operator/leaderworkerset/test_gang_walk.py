"""Gangs for Volcano, from their making to their end, on every carrier."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from gang_lab import VOLCANO, define_pod_groups, gangs, is_in_order, open_gang_lab
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas

from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP, QUEUE_NAME
from kohort.apis.leaderworkerset import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of, uid_of

ROOM = {"container": {"resources": {"requests": {"cpu": "100m"}}}}


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    opened = await open_gang_lab(Lab(VOLCANO))
    yield opened
    await opened.close()


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(carrier: str, notes: dict[str, str] | None = None, **more: Any) -> Object:
    return make_lws(annotations={labels.CARRIER: carrier, **(notes or {})}, **ROOM, **more)


async def bring_up(lab: Lab, obj: Object) -> None:
    await lab.apply(obj)
    await lab.until(lab.is_available)
    assert is_in_order(lab)


def find_stall(lab: Lab) -> Object | None:
    conditions = lab.lws()["status"]["conditions"]
    return next((c for c in conditions if (c["type"], c["status"]) == ("Stalled", "True")), None)


async def test_each_group_has_a_gang_of_all_its_pods(lab: Lab, carrier: str):
    notes = {"volcano.sh/x": "1", QUEUE_NAME: "fast"}
    await bring_up(lab, make(carrier, notes, groups=2, size=3))
    found = gangs(lab)
    assert sorted(found) == ["x-0", "x-1"]
    spec = {"minMember": 3, "minResources": {"cpu": "300m"}, "queue": "fast"}
    key = found["x-1"]["metadata"]["labels"][labels.REVISION]
    assert found["x-1"]["spec"] == spec
    assert name_of(found["x-1"]) == f"x-1-{key}"
    assert found["x-1"]["metadata"]["annotations"] == {"volcano.sh/x": "1"}


async def test_a_group_that_waits_for_its_leader_needs_the_leader_alone(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier, groups=1, spec={"startupPolicy": "LeaderReady"}))
    assert gangs(lab)["x-0"]["spec"]["minMember"] == 1


async def test_a_group_of_one_has_a_gang_too(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier, groups=1, size=1))
    assert gangs(lab)["x-0"]["spec"]["minMember"] == 1


async def test_at_rest_gangs_are_not_written(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier))
    await lab.run(60)
    assert lab.cluster.writes["create", "PodGroup"] == 2
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_gangs_go_with_their_groups(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier, groups=3))
    await lab.edit("x", set_replicas(1))
    await lab.run(60)
    assert list(gangs(lab)) == ["x-0"]
    await lab.delete(LWS, "x")
    await lab.run(120)
    assert lab.all(POD_GROUP) == []


async def test_a_rollout_makes_a_gang_for_each_new_group(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier))
    old = {name_of(group) for group in lab.all(POD_GROUP)}
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert is_in_order(lab)
    assert not old & {name_of(group) for group in lab.all(POD_GROUP)}


async def test_a_group_that_starts_again_gets_a_gang_of_its_own(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier))
    before = gangs(lab)
    await lab.delete(kinds.POD, "x-1-1")
    await lab.run(120)
    assert lab.is_available()
    assert is_in_order(lab)
    after = gangs(lab)
    assert name_of(after["x-1"]) == name_of(before["x-1"])
    assert uid_of(after["x-1"]) != uid_of(before["x-1"])
    assert uid_of(after["x-0"]) == uid_of(before["x-0"])


async def test_the_gang_of_a_leader_that_was_deleted_is_waited_for_and_made_anew(
    lab: Lab, carrier: str
):
    """lws#1054: the old one is still there when the leader comes back."""
    await bring_up(lab, make(carrier, groups=1))
    lost = gangs(lab)["x-0"]
    hold = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]}
    await lab.edit(name_of(lost), hold, kind=POD_GROUP)
    await lab.delete(kinds.POD, "x-0", propagation="Background")
    await lab.run(60)
    assert [uid_of(group) for group in lab.all(POD_GROUP)] == [uid_of(lost)]
    assert find_stall(lab) is None
    free = {"op": "remove", "path": "/metadata/finalizers"}
    await lab.edit(name_of(lost), free, kind=POD_GROUP)
    await lab.run(60)
    assert is_in_order(lab)


async def test_a_deleted_gang_comes_back(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier))
    pods = {uid_of(pod) for pod in lab.all(kinds.POD)}
    for group in lab.all(POD_GROUP):
        await lab.delete(POD_GROUP, name_of(group))
    await lab.run(10)
    assert is_in_order(lab)
    assert {uid_of(pod) for pod in lab.all(kinds.POD)} == pods


async def test_a_gang_of_an_old_group_is_made_from_its_own_revision(lab: Lab, carrier: str):
    rollout = {"partition": 1, "maxUnavailable": 1}
    await bring_up(lab, make(carrier, groups=2, rollout=rollout))
    size = {"op": "replace", "path": "/spec/leaderWorkerTemplate/size", "value": 2}
    await lab.edit("x", size)
    await lab.run(120)
    await lab.delete(POD_GROUP, name_of(gangs(lab)["x-0"]))
    await lab.run(10)
    found = gangs(lab)
    assert [found[name]["spec"]["minMember"] for name in ("x-0", "x-1")] == [3, 2]


async def test_a_gang_object_without_an_owner_is_not_taken_over(lab: Lab, carrier: str):
    await bring_up(lab, make(carrier, groups=1))
    found = gangs(lab)["x-0"]
    free = {"op": "remove", "path": "/metadata/ownerReferences"}
    await lab.edit(name_of(found), free, kind=POD_GROUP)
    await lab.run(10)
    stall = find_stall(lab)
    assert stall is not None
    assert "is controlled by no object" in stall["message"]
    await lab.delete(POD_GROUP, name_of(found))
    await lab.run(90)
    assert is_in_order(lab)
    assert find_stall(lab) is None


async def test_a_cluster_without_pod_groups_is_told_of_and_the_rest_works(carrier: str):
    lab = await Lab(VOLCANO).open()
    await lab.apply(make(carrier))
    await lab.until(lab.is_available)
    stall = find_stall(lab)
    assert stall is not None
    assert stall["message"] == (
        "no PodGroup of scheduling.volcano.sh is made: the cluster does not serve it; "
        "install Volcano, or run the operator without gang scheduling"
    )
    await define_pod_groups(lab)
    await lab.run(120)
    assert is_in_order(lab)
    assert find_stall(lab) is None
    await lab.close()


async def test_without_gangs_no_pod_groups_are_listed(carrier: str):
    lab = await open_gang_lab(Lab())
    await lab.apply(make(carrier))
    await lab.until(lab.is_available)
    assert lab.all(POD_GROUP) == []
    assert POD_GROUP not in {cache.selection.kind for cache in lab.operator.informers.caches}
    notes = [pod["metadata"].get("annotations") or {} for pod in lab.all(kinds.POD)]
    assert not any(GROUP_NAME in found for found in notes)
    await lab.close()


async def test_groups_of_a_time_without_gangs_get_none_until_they_are_replaced(carrier: str):
    lab = await open_gang_lab(Lab())
    await lab.apply(make(carrier))
    await lab.until(lab.is_available)
    await lab.stop_operator()
    lab.settings = VOLCANO
    lab.mend_webhooks()
    lab.start_operator()
    await lab.run(60)
    assert lab.all(POD_GROUP) == []
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert is_in_order(lab)
    await lab.close()
