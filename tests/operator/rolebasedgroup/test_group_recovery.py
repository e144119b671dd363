"""What a failing pod takes down with it, and when."""

from group_lab import GroupLab, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name, uid in after.items() if before.get(name) != uid}


def policy(**config: object) -> Object:
    pattern = leader_worker()["leaderWorkerPattern"]
    return {"leaderWorkerPattern": {**pattern, "restartPolicyConfig": config}}


RECREATE = "RecreateRoleInstanceOnPodRestart"


class TestRecreate:
    async def test_a_failed_pod_takes_its_instance_along_and_no_other(self, lab: GroupLab):
        await start(lab)
        before = lab.uids()
        await lab.fail_pod("x-engine-0-1")
        await lab.until(lambda: not lab.is_ready())
        await lab.until(lab.is_done, 120)
        assert changed(before, lab.uids()) == {"x-engine-0-0", "x-engine-0-1"}

    async def test_the_instance_stays_and_counts_its_restarts(self, lab: GroupLab):
        await start(lab)
        before = {name_of(i): i["metadata"]["uid"] for i in lab.all(labels.INSTANCE)}
        await lab.fail_pod("x-engine-0-1")
        await lab.until(lambda: not lab.is_ready())
        await lab.until(lab.is_done, 120)
        after = {name_of(i): i for i in lab.all(labels.INSTANCE)}
        assert {n: i["metadata"]["uid"] for n, i in after.items()} == before
        assert after["x-engine-0"]["status"]["restartCount"] == 1
        assert "restartCount" not in after["x-engine-1"]["status"]

    async def test_a_deleted_pod_is_made_anew_alone(self, lab: GroupLab):
        await start(lab)
        before = lab.uids()
        await lab.delete(kinds.POD, "x-engine-0-1")
        await lab.run(1)
        await lab.until(lab.is_done, 120)
        assert changed(before, lab.uids()) == {"x-engine-0-1"}

    async def test_the_second_restart_waits(self, lab: GroupLab):
        await start(lab, leader_worker(**policy(type=RECREATE, baseDelaySeconds=60)))
        for wait in (0, 60):
            before = lab.uids()
            await lab.fail_pod("x-engine-0-0")
            begun = lab.clock.elapsed()
            await lab.until(lambda: lab.uids() != before, 200)  # noqa: B023
            assert lab.clock.elapsed() - begun >= wait
            await lab.until(lab.is_done, 120)


class TestNone:
    async def test_without_a_policy_a_failed_pod_is_made_anew_alone(self, lab: GroupLab):
        await start(lab, leader_worker(**policy(type="None")))
        before = lab.uids()
        await lab.fail_pod("x-engine-0-0")
        await lab.until(lambda: not lab.is_ready())
        await lab.until(lab.is_done, 120)
        assert changed(before, lab.uids()) == {"x-engine-0-0"}

    async def test_a_standalone_pod_that_failed_is_replaced(self, lab: GroupLab):
        await start(lab, standalone())
        before = lab.uids()
        await lab.fail_pod("x-router-1")
        await lab.until(lambda: not lab.is_ready())
        await lab.until(lab.is_done, 120)
        assert changed(before, lab.uids()) == {"x-router-1"}
