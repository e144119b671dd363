"""Cases of upstream's in-process suite on restart policies, which our other tests do not have."""

from group_lab import GroupLab, leader_worker, standalone, start
from test_group_recovery import RECREATE, changed, policy
from test_instance_restarts import CRASH

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition, is_true, name_of

INSTANCE = {"x-engine-0-0", "x-engine-0-1"}


def instance(lab: GroupLab, name: str = "x-engine-0") -> Object:
    return next(each for each in lab.all(labels.INSTANCE) if name_of(each) == name)


async def fail(lab: GroupLab, pod: str = "x-engine-0-1") -> None:
    """A pod fails, and its instance runs again."""
    before = lab.uids()
    await lab.fail_pod(pod)
    await lab.until(lambda: not set(lab.uids().values()) & {before[name] for name in INSTANCE}, 240)
    await lab.until(lambda: set(lab.uids()) >= INSTANCE and lab.is_done(), 240)


async def test_restart_sets_the_condition_and_readiness_clears_it(lab: GroupLab):
    await start(lab, leader_worker(replicas=1))
    before = lab.uids()
    await lab.fail_pod("x-engine-0-1")
    await lab.until(lambda: is_true(instance(lab), "Restarting"), 60)
    assert (find_condition(instance(lab), "Restarting") or {})["reason"] == "RestartPolicyTriggered"
    assert instance(lab)["status"]["lastRestartTime"]
    await lab.until(lambda: changed(before, lab.uids()) == INSTANCE and lab.is_done(), 240)
    assert not is_true(instance(lab), "Restarting")
    assert is_true(instance(lab), "RoleInstanceReady")


async def test_restart_that_is_over_is_not_said_of_a_later_update(lab: GroupLab):
    await start(lab, leader_worker(replicas=1))
    await fail(lab)
    await lab.run(5)
    await lab.set_image("engine:2", pattern="leaderWorkerPattern")
    await lab.until(lambda: not is_true(instance(lab), "RoleInstanceReady"), 60)
    for _ in range(100):
        assert not is_true(instance(lab), "Restarting")
        await lab.run(0.25)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 60)
    await lab.fail_pod("x-engine-0-1")
    await lab.until(lambda: is_true(instance(lab), "Restarting"), 60)
    await lab.until(lambda: lab.is_done() and not is_true(instance(lab), "Restarting"), 240)


async def test_restart_follows_a_container_that_started_again_on_its_node(lab: GroupLab):
    """The pod did not fail: only its container's count of restarts rose."""
    await start(lab, leader_worker(replicas=1), standalone("router", 1))
    before, pod = lab.uids(), lab.pods()["x-engine-0-1"]
    notes = {**pod["metadata"].get("annotations", {}), **CRASH}
    change = {"op": "add", "path": "/metadata/annotations", "value": notes}
    await lab.edit("x-engine-0-1", change, kind=kinds.POD)
    await lab.until(lambda: changed(before, lab.uids()) == INSTANCE and lab.is_done(), 240)
    assert lab.uids()["x-router-0"] == before["x-router-0"]


async def test_restart_config_reaches_sets_and_instances_and_no_pod_is_made_anew(lab: GroupLab):
    await start(lab, leader_worker(replicas=1, **policy(type=RECREATE, baseDelaySeconds=30)))
    before = lab.uids()
    path = "/spec/roles/0/leaderWorkerPattern/restartPolicyConfig/baseDelaySeconds"
    await lab.set_field(path, 90)

    def told() -> list[int]:
        (held,) = lab.all(labels.INSTANCE_SET)
        specs = (held["spec"]["roleInstanceTemplate"], instance(lab)["spec"])
        return [spec["restartPolicyConfig"]["baseDelaySeconds"] for spec in specs]

    await lab.until(lambda: told() == [90, 90] and lab.is_done(), 120)
    assert lab.uids() == before


async def test_restart_counts_from_nothing_after_a_long_time_without_one(lab: GroupLab):
    """Twice the longest wait, and ten minutes at least."""
    role = leader_worker(
        replicas=1, **policy(type=RECREATE, baseDelaySeconds=60, maxDelaySeconds=60)
    )
    await start(lab, role)
    await fail(lab)
    await lab.run(700)
    begun = lab.clock.elapsed()
    await fail(lab)
    assert lab.clock.elapsed() - begun < 60
    assert instance(lab)["status"]["restartCount"] == 1


async def test_restart_waits_again_after_an_update_that_did_not_wait(lab: GroupLab):
    role = leader_worker(
        replicas=1, **policy(type=RECREATE, baseDelaySeconds=3000, maxDelaySeconds=3000)
    )
    await start(lab, role)
    await fail(lab)
    await lab.fail_pod("x-engine-0-1")
    await lab.run(30)
    await lab.set_image("engine:2", 0, "leaderWorkerPattern")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
    before = lab.uids()
    await lab.fail_pod("x-engine-0-1")
    await lab.run(300)
    assert lab.uids() == before
