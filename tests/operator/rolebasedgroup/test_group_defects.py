"""Defects of upstream that must not come back, by their numbers in ``docs/upstream-defects.md``."""

from typing import Any

from group_lab import GroupLab, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_true, name_of, owner_reference
from kohort.controller.process.configuration import Configuration

ONLY = {"rollingUpdate": {"type": "InPlaceOnly"}}


def policy(**scaling: Any) -> Object:
    rule = {"name": "pd", "roles": ["a", "b"], "strategy": {"scaling": scaling}}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    return {**head, "metadata": {"name": "x"}, "spec": {"policies": [rule]}}


async def test_defect_12_instances_are_counted_and_not_their_pods(lab: GroupLab):
    """Of two instances of four pods, one placed instance is half and not two of one."""
    await lab.apply(policy(maxSkew="50%", progression="OrderScheduled"))
    await start(lab, leader_worker("a", 1, 4), leader_worker("b", 1, 4))
    for index in (0, 1):
        await lab.set_field(f"/spec/roles/{index}/replicas", 4)
    widest = 0
    while not (lab.is_done() and len(lab.pods()) == 32):
        await lab.run(0.25)
        counts = [len({name[:5] for name in lab.pods(role)}) for role in "ab"]
        widest = max(widest, abs(counts[0] - counts[1]))
        assert lab.clock.elapsed() < 600
    assert widest <= 2


async def test_defect_13_one_set_that_is_unhealthy_does_not_delay_another(lab: GroupLab):
    await start(lab, standalone("a", 2), standalone("b", 2))
    await lab.set_image("broken:1", 0)
    await lab.set_image("engine:2", 1)
    await lab.until(lambda: lab.images("b") == {"engine:2"}, 120)


async def test_defect_14_instances_of_another_group_cause_no_reconcile(lab: GroupLab):
    await start(lab, standalone(replicas=1))
    await lab.run(5)
    instance = lab.all(labels.INSTANCE)[0]
    stranger = {
        "apiVersion": labels.INSTANCE.api_version,
        "kind": labels.INSTANCE.name,
        "metadata": {"name": "other-0", "labels": {labels.GROUP_NAME: "other"}},
        "spec": instance["spec"],
    }
    before = dict(lab.cluster.tried)
    await lab.apply(stranger)
    await lab.run(60)
    assert dict(lab.cluster.tried) == before


async def test_defect_15_a_namesake_of_another_owner_does_not_make_an_instance_ready(
    lab: GroupLab,
):
    config = {"metadata": {"name": "owner"}, "data": {}}
    made = await lab.apply({"apiVersion": "v1", "kind": "ConfigMap", **config})
    owner = owner_reference({**made, "apiVersion": "v1", "kind": "ConfigMap"})
    spec = {"containers": [{"name": "engine", "image": "engine:1"}]}
    marks = {labels.GROUP_NAME: "x", labels.ROLE_NAME: "router"}
    metadata = {"name": "x-router-0", "labels": marks, "ownerReferences": [owner]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    target = lab.api.target(kinds.POD, lab.namespace)
    await lab.api.create(target, body, WriteOptions(manager="other"))
    await lab.until(lambda: is_true(lab.pods()["x-router-0"], "Ready"))
    await lab.apply({**start_group(standalone(replicas=1))})
    await lab.run(60)
    assert not lab.is_ready()
    await lab.delete(kinds.POD, "x-router-0")
    await lab.until(lab.is_done)


def start_group(*roles: Object) -> Object:
    head = {"apiVersion": labels.KIND.api_version, "kind": labels.KIND.name}
    return {**head, "metadata": {"name": "x"}, "spec": {"roles": list(roles)}}


async def test_defect_16_only_the_kubelet_writes_ready(lab: GroupLab):
    await start(lab, leader_worker())
    await lab.set_image("engine:2", pattern="leaderWorkerPattern")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
    for pod in lab.pods().values():
        writers = {
            entry["manager"]
            for entry in pod["metadata"]["managedFields"]
            if 'k:{"type":"Ready"}' in str(entry.get("fieldsV1"))
        }
        assert writers == {"kubelet"}


async def test_defect_17_what_cannot_change_in_place_stays_and_the_set_says_so(lab: GroupLab):
    await start(lab, standalone(rolloutStrategy=ONLY))
    before = lab.uids()
    path = "/spec/roles/0/standalonePattern/template/spec/terminationGracePeriodSeconds"
    await lab.set_field(path, 7)
    await lab.run(60)
    assert lab.uids() == before
    conditions = lab.all(labels.INSTANCE_SET)[0]["status"]["conditions"]
    failed = next(c for c in conditions if c["type"] == "FailedUpdate")
    assert (failed["status"], failed["reason"]) == ("True", "InPlaceUpdateNotPossible")


async def test_defect_24_no_event_says_that_all_is_well(lab: GroupLab):
    await start(lab)
    await lab.run(600)
    about = [e for e in lab.all(kinds.EVENT) if e["involvedObject"]["name"] == name_of(lab.group())]
    assert {e["reason"] for e in about} <= {"SucceedCreateRevision"}


def test_defect_25_the_operator_may_ask_more_than_twenty_times_a_second():
    assert Configuration().qps >= 100
