"""What upstream was seen to do wrong, with the numbers of its issues."""

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas
from operator_truth import PREFIX, Truth, controller_of

from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object


async def bring_up(lab: Lab, **more: object) -> Truth:
    truth = Truth(lab)
    await lab.apply(make_lws(**{"groups": 2, "size": 2, **more}))
    await lab.until(lab.is_available)
    await lab.run(5)
    return truth


def uid_of(lab: Lab, kind: object, name: str) -> str:
    found = lab.find(kind, name)  # type: ignore[arg-type]
    return found["metadata"]["uid"] if found else ""


async def test_a_deleted_worker_set_comes_back(lab: Lab):
    """lws#657."""
    await bring_up(lab)
    before = uid_of(lab, kinds.STATEFUL_SET, "x-1")
    await lab.delete(kinds.STATEFUL_SET, "x-1")
    await lab.run(60)
    assert uid_of(lab, kinds.STATEFUL_SET, "x-1") not in ("", before)
    assert lab.is_available()


async def test_a_deleted_leader_set_comes_back(lab: Lab):
    await bring_up(lab)
    before = uid_of(lab, kinds.STATEFUL_SET, "x")
    await lab.delete(kinds.STATEFUL_SET, "x")
    await lab.run(120)
    assert uid_of(lab, kinds.STATEFUL_SET, "x") not in ("", before)
    assert lab.is_available()
    assert len(lab.all(kinds.POD)) == 4


async def test_an_orphaned_leader_set_is_made_again_around_its_pods(lab: Lab):
    truth = await bring_up(lab)
    await lab.delete(kinds.STATEFUL_SET, "x", propagation="Orphan")
    await lab.run(60)
    assert lab.is_available()
    assert [len(truth.made(f"x-{i}")) for i in range(2)] == [1, 1]


@pytest.mark.parametrize("policy", ["Shared", "UniquePerReplica"])
async def test_a_deleted_service_comes_back(lab: Lab, policy: str):
    await bring_up(lab, spec={"networkConfig": {"subdomainPolicy": policy}})
    name = "x" if policy == "Shared" else "x-1"
    before = uid_of(lab, kinds.SERVICE, name)
    await lab.delete(kinds.SERVICE, name)
    await lab.run(5)
    assert uid_of(lab, kinds.SERVICE, name) not in ("", before)


async def test_an_object_may_be_deleted_and_made_again_at_once(lab: Lab):
    """lws#732: what is left of the first one is never adopted, nor complained about."""
    await bring_up(lab, groups=3)
    old = {p["metadata"]["uid"] for p in lab.all(kinds.POD)}
    await lab.delete(LWS, "x")
    await lab.apply(make_lws(groups=3, size=2))
    await lab.run(120)
    assert lab.is_available()
    root = lab.lws()
    assert not {p["metadata"]["uid"] for p in lab.all(kinds.POD)} & old
    for kind, name in ((kinds.STATEFUL_SET, "x"), (kinds.SERVICE, "x")):
        found = lab.find(kind, name)
        assert found and controller_of(found) == root["metadata"]["uid"]
    assert "Stalled" not in {c["type"] for c in root["status"]["conditions"]}


async def test_a_foreground_delete_ends_and_makes_nothing_anew(lab: Lab):
    """lws#523."""
    truth = await bring_up(lab)
    await lab.delete(LWS, "x", propagation="Foreground")
    await lab.run(120)
    assert lab.find(LWS, "x") is None
    assert len(truth.leaders) == 2
    assert not lab.all(kinds.POD) + lab.all(kinds.STATEFUL_SET) + lab.all(kinds.CONTROLLER_REVISION)


def probe_on_init() -> Object:
    """What our webhook lets through and the server refuses."""
    probe = {"exec": {"command": ["true"]}}
    value = [{"name": "init", "image": "i", "readinessProbe": probe}]
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/initContainers"
    return {"op": "add", "path": path, "value": value}


async def test_a_refused_template_is_told_and_not_tried_again(lab: Lab):
    """Upstream says nothing, and leaks a revision at each try."""
    await bring_up(lab)
    lab.cluster.writes.clear()
    lab.cluster.tried.clear()
    await lab.edit("x", probe_on_init())
    await lab.run(600)
    stalled = next(c for c in lab.lws()["status"]["conditions"] if c["type"] == "Stalled")
    assert stalled["status"] == "True"
    assert "readinessProbe" in stalled["message"]
    assert lab.cluster.writes["create", "ControllerRevision"] == 1
    assert lab.cluster.tried["patch", "StatefulSet"] == 1
    assert lab.lws()["status"]["readyReplicas"] == 2
    path = probe_on_init()["path"]
    await lab.edit("x", {"op": "remove", "path": path})
    await lab.until(lab.is_available)
    conditions = {c["type"]: c["status"] for c in lab.lws()["status"]["conditions"]}
    assert conditions["Stalled"] == "False"


async def test_a_second_revision_of_the_same_hash_changes_nothing(lab: Lab):
    """Upstream leaves one in about one of 25 creations."""
    await bring_up(lab)
    own = next(
        r for r in lab.all(kinds.CONTROLLER_REVISION) if controller_of(r) == uid_of(lab, LWS, "x")
    )
    again = {**own, "revision": 2, "metadata": {**own["metadata"]}}
    again["metadata"]["name"] = own["metadata"]["name"][:-1] + "2"
    for key in ("uid", "resourceVersion", "creationTimestamp"):
        del again["metadata"][key]
    await lab.apply(again)
    await lab.stop_operator()
    lab.start_operator()
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_a_name_that_leads_to_too_long_names_is_refused_with_the_length(lab: Lab):
    """lws#410: upstream takes it and the pods are never made."""
    with pytest.raises(ClusterError) as refusal:
        await lab.apply(make_lws(name="a" * 51, groups=2, size=2))
    assert "53" in str(refusal.value)
    await lab.apply(make_lws(name="a" * 50, groups=2, size=2))


async def test_two_workloads_whose_names_meet_do_not_take_each_others_sets(lab: Lab):
    """lws#236: ``x-1`` is a set of leaders and the workers of a group."""
    await lab.apply(make_lws(name="x-1", groups=1, size=2))
    await lab.until(lambda: lab.is_available("x-1"))
    uid = uid_of(lab, kinds.STATEFUL_SET, "x-1")
    await lab.apply(make_lws(name="x", groups=2, size=2))
    await lab.run(60)
    assert uid_of(lab, kinds.STATEFUL_SET, "x-1") == uid
    stalled = [c for c in lab.lws()["status"]["conditions"] if c["type"] == "Stalled"]
    assert stalled and stalled[0]["status"] == "True"
    await lab.delete(LWS, "x-1")
    await lab.run(120)
    assert lab.is_available("x")


async def test_a_scale_to_nothing_and_back(lab: Lab):
    await bring_up(lab)
    await lab.edit("x", set_replicas(0))
    await lab.until(lambda: lab.is_available() and not lab.all(kinds.POD))
    await lab.edit("x", set_image("engine:2"))
    await lab.run(10)
    await lab.edit("x", set_replicas(3))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 6)


async def test_the_revision_of_a_set_that_lost_it_is_made_again(lab: Lab):
    truth = await bring_up(lab)
    own = next(
        r for r in lab.all(kinds.CONTROLLER_REVISION) if controller_of(r) == uid_of(lab, LWS, "x")
    )
    await lab.delete(kinds.CONTROLLER_REVISION, own["metadata"]["name"])
    await lab.run(30)
    found = [
        r for r in lab.all(kinds.CONTROLLER_REVISION) if controller_of(r) == uid_of(lab, LWS, "x")
    ]
    assert [r["metadata"]["labels"][f"{PREFIX}template-revision-hash"] for r in found] == [
        truth.target
    ]
    assert len(truth.leaders) == 2


async def test_a_template_that_changes_while_there_are_no_groups_is_used_by_the_next(lab: Lab):
    """The revision that the leader set still aims at is not history yet."""
    await bring_up(lab)
    await lab.edit("x", set_replicas(0))
    await lab.until(lambda: not lab.all(kinds.POD))
    lab.cluster.hold("StatefulSet")
    await lab.edit("x", set_image("engine:2"))
    await lab.run(3)
    lab.cluster.release()
    await lab.edit("x", set_replicas(2))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 4)
    images = {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}
    assert images == {"engine:2"}
