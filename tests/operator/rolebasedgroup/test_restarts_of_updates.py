"""Restarts that updates in place caused count as no failures, whatever changes meanwhile."""

import pytest
from group_lab import GroupLab, leader_worker, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import is_true

RECREATE = "RecreateRoleInstanceOnPodRestart"
EDITION = "example.com/edition"


@pytest.mark.parametrize("is_started", [False, True])
async def test_another_annotation_amid_an_update_of_images_restarts_nothing(
    lab: GroupLab, is_started: bool
):
    await start(lab, leader_worker(replicas=1))
    before = lab.uids()
    await lab.set_image("engine:2", 0, "leaderWorkerPattern")
    await lab.until(lambda: lab.images() == {"engine:2"}, 60)
    if is_started:
        await lab.until(lambda: 1 in restarts(lab), 60)
    marks = {"annotations": {EDITION: "2"}}
    await lab.set_field("/spec/roles/0/leaderWorkerPattern/template/metadata", marks)
    await lab.until(lambda: lab.is_done() and has_marks(lab), 240)
    await lab.run(60)
    assert lab.uids() == before
    assert restarts(lab) == [1, 1]


async def test_an_update_of_images_is_no_restart_by_a_policy_of_restarts(lab: GroupLab):
    role = leader_worker(replicas=1)
    role["leaderWorkerPattern"]["restartPolicyConfig"] = {"type": RECREATE}
    await start(lab, role)
    before = lab.uids()
    await lab.set_image("engine:2", 0, "leaderWorkerPattern")
    while not (lab.is_done() and lab.images() == {"engine:2"}):
        await lab.run(0.25)
        (instance,) = lab.all(labels.INSTANCE)
        assert not is_true(instance, "Restarting")
        assert lab.clock.elapsed() < 600
    await lab.run(60)
    assert lab.uids() == before
    assert restarts(lab) == [1, 1]
    (instance,) = lab.all(labels.INSTANCE)
    assert not instance["status"].get("restartCount")


def restarts(lab: GroupLab) -> list[int]:
    held = (pod["status"].get("containerStatuses") or [{}] for pod in lab.pods().values())
    return [statuses[0].get("restartCount", 0) for statuses in held]


def has_marks(lab: GroupLab) -> bool:
    held = (pod["metadata"].get("annotations", {}) for pod in lab.pods().values())
    return all(notes.get(EDITION) == "2" for notes in held)
