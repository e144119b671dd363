"""An instance restarts as one after a crash that counts, whenever the operator ends."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import orjson
import pytest
from group_lab import KIND, GroupLab, group, leader_worker, start, template

from kohort.apis.api import Reading, Snapshot
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster import kinds
from kohort.cluster.actions import Delete
from kohort.cluster.objects import Object, name_of
from kohort.model.plans import Cause, Restart, Retirement, Rollout, Step
from kohort.model.units import Line
from kohort.planning.plan import plan

CRASH = {"sim.kohort.dev/crash-times": "1", "sim.kohort.dev/crash-after": "1s"}
INSTANCE = {"x-engine-0-0", "x-engine-0-1"}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name, uid in after.items() if before.get(name) != uid}


@pytest.mark.parametrize("pod", sorted(INSTANCE))
@pytest.mark.parametrize("writes", range(2, 7))
async def test_a_restart_that_was_cut_off_is_carried_on(lab: GroupLab, pod: str, writes: int):
    """The first write only closes the gate of a pod: what the operator did not see is over."""
    await start(lab, leader_worker())
    await lab.run(2)  # Statuses of its objects follow, and do not count.
    before = lab.uids()
    notes = {"op": "add", "path": "/metadata/annotations", "value": CRASH}
    await lab.edit(pod, notes, kind=kinds.POD)
    lab.cluster.left = writes
    for _ in range(120):
        await lab.run(0.5)
        if lab.cluster.is_dead:
            # What was deleted is gone before another operator looks.
            await lab.stop_operator()
            await lab.run(40)
            lab.cluster.left = None
            lab.start_operator()
    assert lab.is_done()
    assert changed(before, lab.uids()) == INSTANCE


async def test_a_crash_before_an_instance_was_ready_takes_nothing_down(lab: GroupLab):
    """Engines start again until their peers are there."""
    notes = {**CRASH, "sim.kohort.dev/ready-after": "3s"}
    engine = {"metadata": {"annotations": notes}, **template()}
    role = leader_worker(replicas=1)
    role["leaderWorkerPattern"]["template"] = engine
    await lab.apply(group(role))
    await lab.run(2)
    before = lab.uids()
    await lab.until(lab.is_done, 120)
    await lab.run(60)
    restarts = [pod["status"]["containerStatuses"][0] for pod in lab.pods().values()]
    assert {status["restartCount"] for status in restarts} == {1}
    assert lab.uids() == before


async def test_failures_stand_on_the_revision_in_force_alone(lab: GroupLab):
    """A revision that comes into force again would bring failures of long ago back."""
    await start(lab, leader_worker())
    for number, image in enumerate(("engine:2", "engine:3"), 1):
        pod = f"x-engine-{number - 1}-0"
        # Its container has already started again once for each new image.
        crash = {**CRASH, "sim.kohort.dev/crash-times": str(number)}
        notes = {**lab.pods()[pod]["metadata"].get("annotations", {}), **crash}
        change = {"op": "add", "path": "/metadata/annotations", "value": notes}
        await lab.edit(pod, change, kind=kinds.POD)
        await lab.until(lambda n=number: list_noted(lab) == [n])
        path = "/spec/roles/0/leaderWorkerPattern/template/spec/containers/0/image"
        await lab.edit("x", {"op": "replace", "path": path, "value": image}, kind=KIND)
        await lab.run(60)


def list_noted(lab: GroupLab) -> list[int]:
    """The numbers of the group's revisions that have records of failures."""
    found = lab.all(kinds.CONTROLLER_REVISION)
    noted = (r for r in found if "kohort.dev/restarts" in r["metadata"].get("annotations", {}))
    return sorted(revision["revision"] for revision in noted)


def read_changed(lab: GroupLab, change: Callable[[Object], None]) -> tuple[Snapshot, Reading]:
    """What the operator would read, had another change been made to each object."""
    children = {}
    for watched in (each for each in ROLE_BASED_GROUP.watched if each.is_needed):
        found = [deepcopy(obj) for obj in lab.all(watched.kind)]
        for obj in found:
            change(obj)
        children[watched.kind] = tuple(watched.decode(orjson.dumps(obj)) for obj in found)
    snapshot = Snapshot(lab.group(), children, lambda name: {})
    return snapshot, ROLE_BASED_GROUP.read(snapshot)


def deleted(lab: GroupLab, *leaving: str) -> set[str]:
    """The pods that a plan deletes which restarts the instance, while some are leaving."""

    def leave(obj: Object) -> None:
        if name_of(obj) in leaving:
            obj["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"

    snapshot, reading = read_changed(lab, leave)
    line, failed = Line(0, "engine"), Retirement(0, "", Cause.FAILED, "it failed")
    step = Step(line, Rollout(0, 1), retire=(failed,), restarts=(Restart(0, "", ""),))
    decided = plan(reading.workload, reading.observed, 1_800_000_000.0)
    decided = replace(decided, steps={**decided.steps, line: step})
    actions = ROLE_BASED_GROUP.render(snapshot, reading, decided)
    return {action.name for action in actions if isinstance(action, Delete)}


async def test_the_first_pod_goes_when_the_others_do(lab: GroupLab):
    """The record of a failure names the first pod: it speaks until all others have been deleted."""
    await start(lab, leader_worker(replicas=1, size=3))
    first, *others = sorted(lab.pods())
    assert deleted(lab) == deleted(lab, first) == set(others)
    assert deleted(lab, *others) == {first}
    assert deleted(lab, first, *others) == set()


async def test_an_instance_has_served_when_its_pods_were_ready_and_not_when_its_gates_open(
    lab: GroupLab,
):
    """The kubelet follows a gate later: until then a pod that had crashed is not ready again."""
    await start(lab, leader_worker(replicas=1))

    def has_served(change: Callable[[Object], None]) -> bool:
        ((role,),) = (g.roles for g in read_changed(lab, change)[1].observed.groups)
        return role.instances[0].has_served

    def forget(obj: Object) -> None:
        if obj["kind"] == "RoleInstance":
            obj.pop("status")

    assert has_served(lambda obj: None)
    assert not has_served(forget)
