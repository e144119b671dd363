"""Pods that a RoleInstance left behind go on serving under the one that takes its name."""

from typing import Any

import pytest
from group_lab import group, leader_worker, standalone
from single_lab import INSTANCE, SingleLab, component, instance, start_instances

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import name_of

CONTAINER = "/spec/components/0/template/spec/containers/0"
LAB = SingleLab


def owners_of(lab: SingleLab, kind: Any) -> set[str]:
    return {o["uid"] for obj in lab.all(kind) for o in obj["metadata"].get("ownerReferences") or ()}


async def orphan(lab: SingleLab, name: str) -> dict[str, str]:
    """Delete an instance without its pods, and return their uids."""
    before = lab.uids()
    old = lab.instance_uids()[name]
    await lab.delete(INSTANCE, name, propagation="Orphan")
    await lab.until(lambda: lab.instance_uids().get(name) != old, 30)
    return before


async def test_an_instance_by_hand_that_is_made_again_takes_its_pods_back(lab: SingleLab):
    await lab.apply(instance())
    await lab.until(lab.is_instance_ready, 60)
    before = await orphan(lab, "solo")
    await lab.apply(instance())
    await lab.until(lab.is_instance_ready, 60)
    assert lab.uids() == before
    uid = lab.instance_uids()["solo"]
    assert owners_of(lab, POD) == owners_of(lab, CONTROLLER_REVISION) == {uid}


@pytest.mark.parametrize(
    ("field", "value", "keeps"), [("image", "engine:2", True), ("args", ["--fast"], False)]
)
async def test_pods_that_are_taken_back_follow_another_template(
    lab: SingleLab, field: str, value: Any, keeps: bool
):
    await lab.apply(instance(component()))
    await lab.until(lab.is_instance_ready, 60)
    before = await orphan(lab, "solo")
    made = instance(component())
    made["spec"]["components"][0]["template"]["spec"]["containers"][0][field] = value
    await lab.apply(made)

    def has_followed() -> bool:
        return all(p["spec"]["containers"][0].get(field) == value for p in lab.pods().values())

    await lab.until(lambda: bool(lab.pods()) and has_followed() and lab.is_instance_ready(), 120)
    assert (lab.uids() == before) is keeps


async def test_an_instance_of_a_set_by_hand_takes_its_pods_back(lab: SingleLab):
    await start_instances(lab, component("leader"), component("worker", 2))
    before = await orphan(lab, "x-1")
    await lab.until(lab.is_set_done, 60)
    assert lab.uids() == before


async def test_an_instance_of_a_group_takes_its_pods_back(lab: SingleLab):
    await lab.apply(group(leader_worker(), standalone()))
    await lab.until(lab.is_done, 60)
    before = await orphan(lab, "x-engine-1")
    await lab.until(lambda: lab.is_done() and len(lab.instances()) == 4, 60)
    assert lab.uids() == before
    assert owners_of(lab, POD) == set(lab.instance_uids().values())


async def test_a_pod_that_only_has_the_name_of_one_is_not_taken(lab: SingleLab):
    """Another client may have made it; the instance waits until it is gone."""
    spec = {"containers": [{"name": "c", "image": "c:1"}]}
    stranger = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    await lab.apply({**stranger, "metadata": {"name": "solo-engine-0"}})
    await lab.apply(instance(component()))
    await lab.run(60)
    (pod,) = lab.all(POD)
    assert not pod["metadata"].get("ownerReferences") and not lab.is_instance_ready()
    await lab.delete(kinds.POD, name_of(pod))
    await lab.until(lab.is_instance_ready, 60)


@pytest.mark.parametrize("mark", [labels.INSTANCE_NAME, labels.COMPONENT_NAME])
async def test_a_pod_that_a_user_took_out_of_its_instance_is_not_taken_back(
    lab: SingleLab, mark: str
):
    await lab.apply(group(standalone("router", 1)))
    await lab.until(lab.is_done, 60)
    (name,) = lab.pods()
    path = f"/metadata/labels/{mark.replace('/', '~1')}"
    leave = {"op": "remove", "path": "/metadata/ownerReferences"}
    await lab.edit(name, leave, {"op": "replace", "path": path, "value": "debug"}, kind=POD)
    await lab.run(60)
    assert not lab.pods()[name]["metadata"].get("ownerReferences")


async def test_an_instance_in_deletion_takes_no_pods_back(lab: SingleLab):
    """They would go with it."""
    await lab.apply(group(standalone("router", 1)))
    await lab.until(lab.is_done, 60)
    before = lab.uids()
    hold = {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]}
    await lab.edit("x-router-0", hold, kind=INSTANCE)
    await lab.delete(INSTANCE, "x-router-0", propagation="Orphan")
    await lab.run(30)
    assert owners_of(lab, POD) == set()
    release = {"op": "remove", "path": "/metadata/finalizers"}
    await lab.edit("x-router-0", release, kind=INSTANCE)
    await lab.until(lambda: owners_of(lab, POD) == set(lab.instance_uids().values()), 60)
    await lab.until(lab.is_done, 60)
    assert lab.uids() == before
