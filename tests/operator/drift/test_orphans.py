"""A workload that is applied again takes back what was its own, and nothing else."""

import re

import orjson
import pytest
from edits import edit_as
from operator_lab import LWS, Lab, make_lws
from pods_truth import PodTruth

from kohort.apis.facts import Whole
from kohort.apis.leaderworkerset.verbs import VERBS
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition, find_controller, uid_of
from kohort.cluster.port import PatchType

PREFIX = "leaderworkerset.sigs.k8s.io/"


async def orphan(lab: Lab) -> None:
    """``kubectl delete lws x --cascade=orphan``."""
    await lab.delete(LWS, "x", propagation="Orphan")
    await lab.until(lambda: lab.find(LWS, "x") is None)
    await lab.run(5)


async def bring_up(lab: Lab) -> None:
    await lab.apply(make_lws(groups=2, size=2))
    await lab.until(lab.is_available)
    await lab.run(5)


def uids(lab: Lab) -> dict[str, str]:
    return {p["metadata"]["name"]: uid_of(p) for p in lab.all(kinds.POD)}


def stalled(lab: Lab) -> str:
    found = find_condition(lab.lws(), "Stalled") or {}
    return found.get("message", "") if found.get("status") == "True" else ""


async def make_set(lab: Lab, marks: Object) -> None:
    template = {
        "metadata": {"labels": {"app": "y"}},
        "spec": {"containers": [{"name": "a", "image": "b"}]},
    }
    spec = {"replicas": 0, "serviceName": "y", "selector": {"matchLabels": {"app": "y"}}}
    obj = {"metadata": {"name": "x", "labels": marks}, "spec": {**spec, "template": template}}
    target = lab.api.target(kinds.STATEFUL_SET, "default")
    await lab.api.create(target, obj, WriteOptions(manager="user"))


async def test_orphans_are_taken_back_without_touching_a_pod(lab: Lab):
    await bring_up(lab)
    before = uids(lab)
    await orphan(lab)
    assert find_controller(lab.find(kinds.STATEFUL_SET, "x") or {}) is None
    await lab.apply(make_lws(groups=2, size=2))
    await lab.until(lab.is_available)
    await lab.run(60)
    uid = uid_of(lab.lws())
    for kind in (kinds.STATEFUL_SET, kinds.SERVICE):
        owner = find_controller(lab.find(kind, "x") or {})
        assert owner is not None
        assert owner["uid"] == uid
    assert uids(lab) == before
    await lab.delete(LWS, "x")
    await lab.until(lambda: not lab.all(kinds.POD) and not lab.find(kinds.SERVICE, "x"))


@pytest.mark.parametrize(
    ("carrier", "adopted"),
    [
        ("statefulsets", ["StatefulSet x, ControllerRevision, Service x"]),
        # Nothing else is done before the pods are back.
        ("pods", ["ControllerRevision, Pod x-0, Pod x-1", "Service x"]),
    ],
)
async def test_what_is_taken_back_together_is_one_event(lab: Lab, carrier: str, adopted: list[str]):
    wanted = make_lws(groups=2, size=2, annotations={"kohort.dev/carrier": carrier})
    await lab.apply(wanted)
    await lab.until(lab.is_available)
    await orphan(lab)
    await lab.apply(wanted)
    await lab.until(lab.is_available)
    await lab.run(60)
    events = [e for e in lab.all(kinds.EVENT) if e["reason"] == "Adopted"]
    told = [re.sub(r"(ControllerRevision) [^ ,]+", r"\1", e["message"]) for e in events]
    assert told == [f"Adopted {names}, left without an owner" for names in adopted]
    assert {e["type"] for e in events} == {"Normal"}


async def test_a_set_of_our_name_that_selects_other_pods_is_refused_with_the_reason(lab: Lab):
    await make_set(lab, {f"{PREFIX}name": "x"})
    await lab.apply(make_lws())
    await lab.run(5)
    assert "selects other pods" in stalled(lab)
    assert find_controller(lab.find(kinds.STATEFUL_SET, "x") or {}) is None


async def test_a_set_of_our_name_without_our_labels_is_neither_changed_nor_deleted(lab: Lab):
    await make_set(lab, {})
    await lab.run(5)
    before = lab.find(kinds.STATEFUL_SET, "x")
    await lab.apply(make_lws())
    await lab.run(60)
    assert "lacks our labels" in stalled(lab)
    assert lab.find(kinds.STATEFUL_SET, "x") == before
    await lab.delete(LWS, "x")
    await lab.run(60)
    assert lab.find(kinds.STATEFUL_SET, "x") == before


async def test_a_set_of_another_owner_is_refused_by_its_name(lab: Lab):
    await bring_up(lab)
    await orphan(lab)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u"}
    body = {"metadata": {"ownerReferences": [{**owner, "controller": True}]}}
    for runner in lab.world.runners:
        if runner.component.name.startswith("garbage"):
            lab.hold_component(runner)
    await edit_as(lab, "other", body)
    await lab.apply(make_lws(groups=2, size=2))
    await lab.run(5)
    assert "belongs to Deployment d" in stalled(lab)


async def test_a_forged_revision_does_not_stop_the_rollout(lab: Lab):
    await bring_up(lab)
    real = next(
        r
        for r in lab.all(kinds.CONTROLLER_REVISION)
        if find_controller(r)["kind"] == "LeaderWorkerSet"
    )
    metadata = {k: real["metadata"][k] for k in ("labels", "ownerReferences")}
    forged = {"metadata": {**metadata, "name": "forged"}, "revision": 99, "data": {"spec": "no"}}
    target = lab.api.target(kinds.CONTROLLER_REVISION, "default")
    await lab.api.create(target, forged, WriteOptions(manager="user"))
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)
    await lab.run(60)
    assert lab.is_available()
    controller, key = lab.operator.controllers[0], ("default", "x")
    revisions = VERBS.list_revisions(controller.gather(key, Whole(orjson.dumps(lab.lws()))))
    assert [revision.number for revision in revisions] == [1]
    told = [e for e in lab.all(kinds.EVENT) if "ControllerRevision forged" in e["message"]]
    assert [(e["type"], e.get("count", 1)) for e in told] == [("Warning", 1)]
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
    await lab.edit("x", {"op": "replace", "path": path, "value": "engine:2"})
    await lab.until(lab.is_available)
    assert {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)} == {"engine:2"}


# The webhook refuses a pod of a set whose name has no place.
@pytest.mark.parametrize(
    ("carrier", "name"), [("statefulsets", "x-0-9"), ("pods", "x-0-9"), ("pods", "evil")]
)
async def test_a_forged_pod_restarts_no_group(lab: Lab, name: str, carrier: str):
    """It has the labels of a worker and its owner, and crashes, and is deleted."""
    await lab.apply(make_lws(groups=2, size=2, annotations={"kohort.dev/carrier": carrier}))
    await lab.until(lab.is_available)
    before = uids(lab)
    await forge(lab, name)
    await lab.run(60)
    assert {k: v for k, v in uids(lab).items() if k != name} == before
    if lab.find(kinds.POD, name) is not None:
        await lab.delete(kinds.POD, name, grace_seconds=0)
    await lab.run(60)
    assert uids(lab) == before


async def forge(lab: Lab, name: str) -> None:
    """A failed pod that says to be a worker of the first group."""
    worker = lab.find(kinds.POD, "x-0-1") or {}
    metadata = {k: worker["metadata"][k] for k in ("labels", "annotations", "ownerReferences")}
    if name != "evil":
        metadata["labels"] = {**metadata["labels"], f"{PREFIX}worker-index": "9"}
    metadata["annotations"] = {**metadata["annotations"], "sim.kohort.dev/crash": "0"}
    forged = {
        "metadata": {**metadata, "name": name},
        "spec": {"containers": [{"name": "a", "image": "b"}]},
    }
    target = lab.api.target(kinds.POD, "default")
    await lab.api.create(target, forged, WriteOptions(manager="user"))
    status = {"phase": "Failed"}
    await lab.api.patch(
        lab.api.target(kinds.POD, "default", name, "status"),
        PatchBody(PatchType.MERGE, {"status": status}),
        WriteOptions(manager="user"),
    )


async def test_orphaned_leaders_of_the_pods_carrier_are_adopted_untouched(lab: Lab):
    wanted = make_lws(groups=2, size=2, annotations={"kohort.dev/carrier": "pods"})
    await lab.apply(wanted)
    await lab.until(lab.is_available)
    before = uids(lab)
    await orphan(lab)
    assert find_controller(lab.find(kinds.POD, "x-0") or {}) is None
    lab.cluster.tried.clear()
    await lab.apply(wanted)
    await lab.until(lab.is_available)
    await lab.run(60)
    assert uids(lab) == before
    assert stalled(lab) == ""
    for name in ("x-0", "x-1"):
        owner = find_controller(lab.find(kinds.POD, name) or {}) or {}
        assert owner.get("uid") == uid_of(lab.lws())
    assert not {("create", "Pod"), ("delete", "Pod")} & set(lab.cluster.tried)
    await lab.delete(LWS, "x")
    await lab.until(lambda: not lab.all(kinds.POD) and not lab.all(kinds.CONTROLLER_REVISION))


async def test_orphans_that_meet_another_template_are_rolled_within_the_budget(lab: Lab):
    notes = {"kohort.dev/carrier": "pods"}
    truth = PodTruth(lab)
    await lab.apply(make_lws(groups=3, size=2, annotations=notes))
    await lab.until(lab.is_available)
    await orphan(lab)
    container = {"image": "engine:2"}
    await lab.apply(make_lws(groups=3, size=2, annotations=notes, container=container))
    truth.is_on = True
    await lab.until(lab.is_available)
    assert truth.fewest_ready == 2


async def test_a_pod_of_our_name_without_our_labels_is_refused(lab: Lab):
    pod = {
        "metadata": {"name": "x-0", "labels": {"kohort.dev/carrier": "pods"}},
        "spec": {"containers": [{"name": "a", "image": "b"}]},
    }
    target = lab.api.target(kinds.POD, "default")
    await lab.api.create(target, pod, WriteOptions(manager="user"))
    await lab.apply(make_lws(annotations={"kohort.dev/carrier": "pods"}))
    await lab.run(10)
    assert "is controlled by no object" in stalled(lab)
    assert find_controller(lab.find(kinds.POD, "x-0") or {}) is None
    # What autoscalers need is there from the first status on.
    status = lab.lws()["status"]
    assert status["hpaPodSelector"] == f"{PREFIX}name=x,{PREFIX}worker-index=0"
