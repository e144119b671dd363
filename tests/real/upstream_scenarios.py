"""
The scenarios by which LeaderWorkerSet's own end-to-end suite judges a controller, in our words.

Each takes a driver and works on any cluster (the cases 1 to 16 of that suite). Numbers that
a scenario waits for, if only for a moment, are those that users of upstream know.
"""

from cluster_driver import Driver, images, make_lws, set_image

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of

NEVER_READY = "sim.kohort.dev/never-ready"


async def bring_up(driver: Driver, lws: Object) -> None:
    """Make a workload and wait until it serves."""
    await driver.apply(lws)
    await driver.until(driver.is_available)


def sets(driver: Driver) -> int | None:
    """How many groups the leader set is to have."""
    found = driver.find(STATEFUL_SET, "x")
    return found["spec"]["replicas"] if found else None


def is_rolled(driver: Driver, pods: int) -> bool:
    """Whether all is new, and what came with a surge is gone: it may outlast the rollout."""
    found = driver.all(POD)
    return driver.is_available() and images(found) == {"engine:2"} and len(found) == pods


async def roll(driver: Driver, pods: int, *counts: int) -> None:
    """Change the image; the leader set passes these sizes; so many pods are left."""
    await driver.edit("x", set_image("engine:2"))
    for count in counts:
        await driver.until(lambda count=count: sets(driver) == count)
    await driver.until(lambda: is_rolled(driver, pods))


async def case_01_deploy(driver: Driver) -> None:
    """Four groups of five come up, each with a set of workers, one service and one hash."""
    policy = {"restartPolicy": "RecreateGroupOnPodRestart"}
    await bring_up(driver, make_lws(groups=4, size=5, template=policy))
    assert len(driver.all(POD)) == 20
    assert len(driver.all(STATEFUL_SET)) == 5
    assert [name_of(service) for service in driver.all(SERVICE)] == ["x"]
    hashes = {labels_of(o)[labels.REVISION] for o in (*driver.all(POD), *driver.all(STATEFUL_SET))}
    assert len(hashes) == 1
    status = (driver.find(LWS, "x") or {})["status"]
    assert (status["replicas"], status["readyReplicas"], status["updatedReplicas"]) == (4, 4, 4)
    assert labels.NAME in status["hpaPodSelector"]


async def case_02_size_one_with_surge(driver: Driver) -> None:
    """Groups of one roll with one more beside them: five, then four."""
    await bring_up(driver, make_lws(groups=4, size=1, rollout={"maxSurge": 1}))
    await roll(driver, 4, 5, 4)


async def case_03_foreground_deletion(driver: Driver) -> None:
    """A deletion in the foreground ends when everything is gone."""
    await bring_up(driver, make_lws(groups=2))
    await driver.delete(LWS, "x", propagation="Foreground")
    await driver.until(lambda: not driver.all(LWS))
    for kind in (POD, STATEFUL_SET, SERVICE, CONTROLLER_REVISION):
        await driver.until(lambda kind=kind: not driver.all(kind))


async def case_04_rolling_update(driver: Driver) -> None:
    """A new image reaches every pod."""
    await bring_up(driver, make_lws(groups=4, size=2))
    await roll(driver, 8)


async def case_05_surge_of_four(driver: Driver) -> None:
    """Four more are allowed, one of which is given back at once: seven, then four."""
    await bring_up(driver, make_lws(groups=4, size=2, rollout={"maxSurge": 4}))
    await roll(driver, 8, 7, 4)


async def case_06_none_unavailable(driver: Driver) -> None:
    """Nothing may be missing, so one more comes first: five, then four."""
    rollout = {"maxUnavailable": 0, "maxSurge": 1}
    await bring_up(driver, make_lws(groups=4, size=2, rollout=rollout))
    await roll(driver, 8, 5, 4)


async def case_07_old_pods_never_ready(driver: Driver) -> None:
    """Groups that never became ready do not hold up the rollout that mends them."""
    broken = {NEVER_READY: "true"}
    await driver.apply(make_lws(groups=4, size=2, pod_annotations=broken))
    await driver.until(lambda: len(driver.all(POD)) == 8)
    path = "/spec/leaderWorkerTemplate/workerTemplate/metadata/annotations"
    mended = {"op": "replace", "path": path, "value": {}}
    await driver.edit("x", set_image("engine:2"), mended)
    await driver.until(lambda: is_rolled(driver, 8))


async def case_09_subgroups_with_surge(driver: Driver) -> None:
    """Groups with subgroups roll as others do, and keep their subgroups."""
    subgroups = {"subGroupPolicy": {"subGroupSize": 2}}
    lws = make_lws(groups=4, size=4, template=subgroups, rollout={"maxSurge": 4})
    await bring_up(driver, lws)
    await roll(driver, 16, 7, 4)
    found = {name_of(p): labels_of(p)[labels.SUBGROUP_INDEX] for p in driver.all(POD)}
    assert [found[name] for name in ("x-0", "x-0-1", "x-0-2", "x-0-3")] == ["0", "0", "1", "1"]
    assert {annotations_of(p)[labels.SUBGROUP_SIZE] for p in driver.all(POD)} == {"2"}


async def case_12_size_change(driver: Driver) -> None:
    """Another size makes the groups anew, with the right number of pods and the right note."""
    await bring_up(driver, make_lws(groups=2, size=3))
    path = "/spec/leaderWorkerTemplate/size"
    await driver.edit("x", {"op": "replace", "path": path, "value": 4})
    await driver.until(lambda: driver.is_available() and len(driver.all(POD)) == 8)
    assert {annotations_of(pod)[labels.SIZE] for pod in driver.all(POD)} == {"4"}


async def case_14_service_per_group(driver: Driver) -> None:
    """Each group has a service of its own, also those that come and go with a surge."""
    lws = make_lws(groups=4, size=2, network="UniquePerReplica", rollout={"maxSurge": 4})
    await bring_up(driver, lws)
    assert len(driver.all(SERVICE)) == 4
    await driver.edit("x", set_image("engine:2"))
    for count in (7, 4):
        await driver.until(lambda count=count: len(driver.all(SERVICE)) == count)
    await driver.until(driver.is_available)


async def case_16_lost_worker(driver: Driver) -> None:
    """A worker that is deleted takes its whole group along; every uid is new."""
    await bring_up(driver, make_lws(groups=1, size=3))
    before = driver.uids()
    await driver.delete(POD, "x-0-1")
    await driver.until(lambda: _is_whole(driver, before))
    await driver.until(driver.is_available)


def _is_whole(driver: Driver, before: dict[str, str]) -> bool:
    now = driver.uids()
    return set(now) == set(before) and not set(now.values()) & set(before.values())
