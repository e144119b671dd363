"""
Cases of upstream's unit tests that need an operator; ``test_upstream_case_tables.py`` lists all.
"""

import pytest
from edits import edit_as
from gang_lab import VOLCANO, define_pod_groups
from serving_lab import Refusing, ServingLab, role, serving, start

from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apiserver.api.requests import DeleteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES

PREFIX = "modelserving.volcano.sh/"


async def crash(lab: ServingLab, pod: str, times: int = 9) -> None:
    notes = {CRASH_AFTER: "100ms", CRASH_TIMES: str(times)}
    await edit_as(lab, "user", {"metadata": {"annotations": notes}}, pod, kinds.POD)
    await lab.run(0.5)


async def test_nothing_is_made_from_a_revision_that_could_not_be_stored(lab: ServingLab):
    await start(lab, role(), replicas=1)
    before = lab.uids()
    lab.api.context.admission = Refusing("CREATE", kinds.CONTROLLER_REVISION)
    await lab.set_image("engine:2")
    await lab.run(30)
    assert lab.uids() == before
    lab.mend_webhooks()
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"})


async def test_a_delete_that_failed_is_tried_again_and_counts_as_nothing(lab: ServingLab):
    await start(lab, role(), replicas=2)
    lab.api.context.admission = Refusing("DELETE", kinds.POD)
    await lab.set_field("/spec/replicas", 1)
    await lab.run(10)
    assert (len(lab.pods()), lab.status()["availableReplicas"]) == (4, 2)
    lab.mend_webhooks()
    await lab.until(lab.is_done)


@pytest.mark.parametrize("pods", [["x-0-decode-0-0"], ["x-0-decode-0-1", "x-1-decode-0-0"]])
async def test_an_operator_that_starts_finds_what_failed_before(lab: ServingLab, pods: list[str]):
    """The instances of failed pods are made anew, and no other."""
    await start(lab, role(), replicas=3)
    before = lab.uids()
    await lab.stop_operator()
    for pod in pods:
        await crash(lab, pod)
    await lab.run(5)
    lab.start_operator()
    await lab.run(5)
    await lab.until(lab.is_done)
    changed = {name[:3] for name, uid in lab.uids().items() if uid != before[name]}
    assert changed == {pod[:3] for pod in pods}


async def test_a_pod_made_in_place_of_a_failed_one_is_not_held_to_account(lab: ServingLab):
    """kthena#1426: a user deletes the failed pod within its grace period."""
    await start(lab, role(), replicas=1)
    await lab.set_field("/spec/template/restartGracePeriodSeconds", 30)
    await lab.run(60)
    await crash(lab, "x-0-decode-0-1")
    await lab.run(5)
    await lab.delete(kinds.POD, "x-0-decode-0-1")
    await lab.run(10)
    await lab.until(lab.is_done, 15)
    made = lab.uids()
    await lab.run(90)
    assert lab.uids() == made


async def test_old_revisions_are_forgotten_but_for_ten(lab: ServingLab):
    await start(lab, role(), replicas=0)
    for number in range(2, 15):
        await lab.set_image(f"engine:{number}")
        await lab.run(1)
    stored = lab.all(kinds.CONTROLLER_REVISION)
    assert len(stored) == 11
    assert len({revision["revision"] for revision in stored}) == 11
    held = {labels_of(revision)[PREFIX + "revision"] for revision in stored}
    assert lab.status()["updateRevision"] in held


@pytest.mark.parametrize("kind", ["ServingGroupRollingUpdate", "RoleRollingUpdate"])
async def test_old_revisions_are_forgotten_while_a_partition_keeps_one(lab: ServingLab, kind: str):
    """Each edit of a canary stores one more, and the rollout never ends."""
    by_role = kind == "RoleRollingUpdate"
    rolling = {} if by_role else {"rollingUpdateConfiguration": {"partition": 1}}
    own = role(replicas=2, workers=0, **({"partition": 1} if by_role else {}))
    await start(lab, own, replicas=2, rolloutStrategy={"type": kind, **rolling})
    kept = set(lab.uids(group_index="0").items())
    for number in range(2, 17):
        await lab.set_image(f"engine:{number}", parts=("entryTemplate",))
        await lab.run(20)
    stored = {labels_of(r)[PREFIX + "revision"] for r in lab.all(kinds.CONTROLLER_REVISION)}
    assert len(stored) == 12
    assert {labels_of(pod)[PREFIX + "revision"] for pod in lab.all(kinds.POD)} <= stored
    assert kept & set(lab.uids().items())
    await lab.delete(kinds.POD, "x-0-decode-0-0")
    await lab.run(30)
    assert lab.images() == {"engine:1", "engine:16"}


async def test_pod_groups_come_when_their_kind_is_served_and_are_done_without_before():
    lab = ServingLab(VOLCANO)
    await lab.open()
    await lab.apply(serving(role(), schedulerName="volcano"))
    await lab.until(lab.is_done)
    await define_pod_groups(lab)
    await lab.run(120)
    gangs: list[Object] = lab.all(POD_GROUP)
    assert {name_of(gang) for gang in gangs} == {"x-0", "x-1"}
    await lab.close()


async def test_pods_come_back_after_the_kind_of_pod_groups_was_taken_away():
    lab = ServingLab(VOLCANO)
    await lab.open()
    await define_pod_groups(lab)
    await lab.apply(serving(role(), schedulerName="volcano"))
    await lab.until(lab.is_done)
    target = lab.api.target(kinds.DEFINITION, "", "podgroups.scheduling.volcano.sh")
    await lab.api.delete(target, DeleteOptions())
    await lab.run(30)
    before = lab.uids()
    await lab.delete(kinds.POD, "x-0-decode-0-0")
    await lab.run(10)
    await lab.until(lab.is_done)
    assert lab.uids()["x-0-decode-0-0"] != before["x-0-decode-0-0"]
    await lab.close()
