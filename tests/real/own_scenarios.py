"""
Scenarios of our own, on any cluster: scaling, every restart policy, topology, and both carriers.
"""

import orjson
from cluster_driver import Driver, is_ready, make_lws, set_image, set_replicas
from upstream_scenarios import bring_up, is_rolled

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.kinds import NODE, POD, STATEFUL_SET
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import Address, PatchType, Selection

RACK = "topology.kohort.dev/rack"
HOST = "kubernetes.io/hostname"
PODS = {labels.CARRIER: labels.PODS}
ONE_AND_ONE = {"maxUnavailable": 1, "maxSurge": 1}
TEMPLATE_NOTES = "/spec/leaderWorkerTemplate/workerTemplate/metadata"
# From the start of the container: ready after half a second, it serves for one.
CRASHING = {"sim.kohort.dev/crash-after": "1500ms", "sim.kohort.dev/crash-exit-code": "3"}


async def scale_up_and_down(driver: Driver) -> None:
    """Groups come at the end and go from the end; the first is never touched."""
    await _scale(driver, make_lws(groups=1))


async def scale_up_and_down_by_pods(driver: Driver) -> None:
    """The same without StatefulSets."""
    await _scale(driver, make_lws(groups=1, annotations=PODS))
    assert not driver.all(STATEFUL_SET)


async def _scale(driver: Driver, lws: Object) -> None:
    await bring_up(driver, lws)
    first = {name: uid for name, uid in driver.uids().items() if name.startswith("x-0")}
    for count in (4, 2, 0, 1):
        await driver.edit("x", set_replicas(count))
        wanted = {f"x-{group}" for group in range(count)}
        await driver.until(lambda w=wanted: driver.is_available() and _groups(driver) == w)
        if count:
            held = {name: driver.uids().get(name) for name in first}
            assert held == first or count == 1
    assert len(driver.all(POD)) == 3


async def scale_as_kubectl_does(driver: Driver) -> None:
    """``kubectl scale lws/x``: a patch of the scale, which says how many groups there are."""
    await bring_up(driver, make_lws(groups=2, size=2))
    first = {name: uid for name, uid in driver.uids().items() if name.startswith("x-0")}
    address = Address(LWS, driver.namespace, "x", "scale")
    for count in (3, 1):
        await driver.cluster.patch(address, {"spec": {"replicas": count}}, manager="kubectl")
        wanted = {f"x-{group}" for group in range(count)}
        await driver.until(
            lambda w=wanted: (
                (driver.find(LWS, "x") or {})["status"]["replicas"] == len(w)
                and driver.is_available()
                and _groups(driver) == w
            )
        )
        scale = await driver.cluster.read(address)
        assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (count, count)
    assert driver.uids() == first


async def roll_within_the_budget(driver: Driver) -> None:
    """Two of six may be missing; never more are, and the rollout ends."""
    await _roll(driver, make_lws(groups=6, size=2, rollout={"maxUnavailable": 2}), 4)


async def roll_within_the_budget_by_pods(driver: Driver) -> None:
    """The same without StatefulSets."""
    lws = make_lws(groups=6, size=2, rollout={"maxUnavailable": 2}, annotations=PODS)
    await _roll(driver, lws, 4)


async def roll_with_surge_by_pods(driver: Driver) -> None:
    """With two more allowed and none missing, all six serve all the time."""
    rollout = {"maxUnavailable": 0, "maxSurge": 2}
    lws = make_lws(groups=6, size=2, rollout=rollout, annotations=PODS)
    await _roll(driver, lws, 6)


async def _roll(driver: Driver, lws: Object, fewest: int) -> None:
    await bring_up(driver, lws)
    counts: list[int] = []
    driver.follow(lambda: counts.append(ready_groups(driver, 2)))
    await driver.edit("x", set_image("engine:2"))
    await driver.until(lambda: is_rolled(driver, 12))
    assert min(counts) >= fewest


async def hold_a_revision_that_does_not_last(driver: Driver) -> None:
    """An image that is ready for a second takes no more than the budget; a mended one rolls."""
    await _fleet(driver, make_lws(groups=4, size=2, rollout=ONE_AND_ONE))


async def hold_a_revision_that_does_not_last_by_pods(driver: Driver) -> None:
    """The same without StatefulSets."""
    await _fleet(driver, make_lws(groups=4, size=2, rollout=ONE_AND_ONE, annotations=PODS))


async def _fleet(driver: Driver, lws: Object) -> None:
    await bring_up(driver, lws)
    counts: list[int] = []
    made: dict[str, set[str]] = {}  # leaders of the image that crashes, by name

    def check() -> None:
        counts.append(ready_groups(driver, 2))
        for pod in driver.all(POD):
            is_leader = labels_of(pod)[labels.WORKER_INDEX] == "0"
            if is_leader and pod["spec"]["containers"][0]["image"] == "engine:crash":
                made.setdefault(name_of(pod), set()).add(pod["metadata"]["uid"])

    driver.follow(check)
    crashing = {"op": "add", "path": TEMPLATE_NOTES, "value": {"annotations": CRASHING}}
    await driver.edit("x", set_image("engine:crash"), crashing)
    # Made anew at once, then after ten seconds.
    await driver.until(lambda: any(len(uids) >= 3 for uids in made.values()))
    assert set(made) == {"x-3", "x-4"}
    assert max(len(uids) for uids in made.values()) == 3
    mended = {"op": "add", "path": TEMPLATE_NOTES, "value": {}}
    await driver.edit("x", set_image("engine:2"), mended)
    await driver.until(lambda: is_rolled(driver, 8))
    assert min(counts) >= 3


async def recover_from_forced_deletion(driver: Driver) -> None:
    """A worker that is gone at once still takes its group along, and no other."""
    await _lose(driver, make_lws(groups=2))


async def recover_from_forced_deletion_by_pods(driver: Driver) -> None:
    """The same without StatefulSets."""
    await _lose(driver, make_lws(groups=2, annotations=PODS))


async def recover_after_start(driver: Driver) -> None:
    """A group that had started is made anew when it loses a worker."""
    await _lose(driver, make_lws(groups=2, template={"restartPolicy": "RecreateGroupAfterStart"}))


async def _lose(driver: Driver, lws: Object) -> None:
    await bring_up(driver, lws)
    before = driver.uids()
    await driver.delete(POD, "x-1-2", grace=0)
    lost = {"x-1", "x-1-1", "x-1-2"}
    await driver.until(lambda: driver.is_available() and _changed(driver, before) == lost)


async def recover_from_a_restarted_container(driver: Driver) -> None:
    """A container that was started again makes its group new, too."""
    await bring_up(driver, make_lws(groups=2))
    before = driver.uids()
    pod = driver.find(POD, "x-0-1") or {}
    statuses = [{**each, "restartCount": 1} for each in pod["status"]["containerStatuses"]]
    address = Address(POD, driver.namespace, "x-0-1", "status")
    patch = {"status": {"containerStatuses": statuses}}
    await driver.cluster.patch(address, patch, PatchType.STRATEGIC)
    lost = {"x-0", "x-0-1", "x-0-2"}
    await driver.until(lambda: driver.is_available() and _changed(driver, before) == lost)


async def start_leaders_first(driver: Driver) -> None:
    """With LeaderReady a leader is alone until it is ready, which checkers look at; all come up."""
    await bring_up(driver, make_lws(groups=2, startup="LeaderReady"))
    await driver.edit("x", set_image("engine:2"))
    await driver.until(lambda: is_rolled(driver, 6))


async def leave_the_group_alone(driver: Driver) -> None:
    """With the policy None a lost worker comes back alone."""
    await bring_up(driver, make_lws(groups=2, template={"restartPolicy": "None"}))
    before = driver.uids()
    await driver.delete(POD, "x-1-2")
    await driver.until(lambda: driver.is_available() and _changed(driver, before) == {"x-1-2"})


async def keep_groups_apart(driver: Driver) -> None:
    """With exclusive topology each group has a rack for itself."""
    lws = make_lws(groups=2, size=3, annotations={labels.EXCLUSIVE_TOPOLOGY: RACK})
    await bring_up(driver, lws)
    racks = await _read_places(driver, RACK)
    used = {g: {racks[name] for name in racks if name.startswith(g)} for g in ("x-0", "x-1")}
    assert [len(found) for found in used.values()] == [1, 1]
    assert used["x-0"] != used["x-1"]


async def keep_subgroups_apart(driver: Driver) -> None:
    """With exclusive topology of subgroups each has a node for itself."""
    subgroups = {"subGroupPolicy": {"subGroupSize": 2, "type": "LeaderWorker"}}
    exclusive = {labels.SUBGROUP_EXCLUSIVE_TOPOLOGY: HOST}
    await bring_up(driver, make_lws(groups=1, size=4, template=subgroups, annotations=exclusive))
    nodes = await _read_places(driver, HOST)
    assert nodes["x-0"] == nodes["x-0-1"] != nodes["x-0-2"] == nodes["x-0-3"]


def ready_groups(driver: Driver, size: int) -> int:
    """How many groups have all their members ready."""
    return count_ready(driver.all(POD), size)


def count_ready(pods: list[Object], size: int) -> int:
    """How many groups of these pods have all their members ready."""
    ready: dict[str, int] = {}
    for pod in pods:
        if is_ready(pod):
            group = labels_of(pod)[labels.GROUP_INDEX]
            ready[group] = ready.get(group, 0) + 1
    return sum(1 for count in ready.values() if count >= size)


def _groups(driver: Driver) -> set[str]:
    leaders = [p for p in driver.all(POD) if labels_of(p)[labels.WORKER_INDEX] == "0"]
    return {name_of(pod) for pod in leaders}


def _changed(driver: Driver, before: dict[str, str]) -> set[str]:
    now = driver.uids()
    return {name for name in before if now.get(name) not in (None, before[name])}


async def _read_places(driver: Driver, label: str) -> dict[str, str]:
    listing = await driver.cluster.list(Selection(NODE))
    nodes = {name_of(node): labels_of(node)[label] for node in map(orjson.loads, listing.items)}
    return {name_of(pod): nodes[pod["spec"]["nodeName"]] for pod in driver.all(POD)}
