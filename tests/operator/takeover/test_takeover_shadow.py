"""A shadow reports each difference once, says when it goes, and writes nothing."""

import asyncio
from typing import Any

from operator_lab import make_lws
from takeover_lab import TakeoverLab

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster import kinds
from kohort.cluster.kinds import LEASE
from kohort.cluster.objects import Object
from kohort.takeover.observer import Observer
from kohort.takeover.report import PlannedWrite, Sightings
from kohort.takeover.shadow import Shadow, ShadowListener, ShadowReport, name_last_manager
from upstream_objects import Upstream, read_vector

NAME = "leaderworkerset-sample"


class Beside:
    """A shadow on a cluster, and what it has told."""

    def __init__(self, lab: TakeoverLab) -> None:
        self.lab = lab
        self.new: list[PlannedWrite] = []
        self.gone: list[tuple[PlannedWrite, str]] = []
        self.stop = asyncio.Event()
        self.observer = Observer(lab.reads, lab.apis, lab.settings, lab.time)
        listener = ShadowListener(self.new.append, lambda *told: self.gone.append(told))
        self.shadow = Shadow(self.observer, lab.time, listener)
        self.task = asyncio.ensure_future(self.shadow.run(300, lambda: self.stop))

    async def end(self) -> ShadowReport:
        """Stop it, and let time pass until it has ended."""
        self.stop.set()
        for _ in range(60):
            await self.lab.run(1.0)
            if self.task.done():
                return self.task.result()
        raise AssertionError("it never ended")


def objects_with(replicas: int) -> list[Object]:
    objects = Upstream(read_vector("11_lws")).at_rest()
    sets = [o for o in objects if o["kind"] == "StatefulSet" and o["metadata"]["name"] == NAME]
    sets[0]["spec"]["replicas"] = replicas
    return objects


async def open_beside(objects: list[Object]) -> Beside:
    beside = Beside(await TakeoverLab([LEADER_WORKER_SET]).open_with(objects))
    await beside.lab.run(10)
    return beside


def set_replicas(count: int) -> Any:
    return {"op": "replace", "path": "/spec/replicas", "value": count}


async def test_at_rest_nothing_is_reported_and_no_lease_is_taken():
    beside = await open_beside(objects_with(3))
    report = await beside.end()
    assert (report.workloads, report.seen, report.stayed) == (1, 0, ())
    assert beside.lab.all(LEASE) == []
    assert beside.observer.cluster.refused == []


async def test_a_difference_is_reported_once_and_stays():
    beside = await open_beside(objects_with(7))
    await beside.lab.run(60)
    report = await beside.end()
    assert [write.object for write in beside.new] == [f"StatefulSet default/{NAME}"]
    assert [write.identity for write in report.stayed] == [beside.new[0].identity]
    assert beside.gone == []


async def test_when_the_other_has_done_the_same_it_is_said_who_wrote():
    beside = await open_beside(objects_with(7))
    await beside.lab.edit(NAME, set_replicas(3), kind=kinds.STATEFUL_SET)
    await beside.lab.run(30)
    report = await beside.end()
    assert len(beside.new) == len(beside.gone) == 1
    assert "wrote it last" in beside.gone[0][1] or "is not recorded" in beside.gone[0][1]
    assert report.stayed == ()


async def test_a_plan_is_not_compared_with_what_the_other_has_written_since():
    """The other controller writes between two ticks of the shadow, half a second after a plan."""
    beside = await open_beside(objects_with(7))
    await beside.lab.run(0.5)
    await beside.lab.edit(NAME, set_replicas(3), kind=kinds.STATEFUL_SET)
    report = await beside.end()
    paths = [[change.path for change in write.changes] for write in beside.new]
    assert paths == [["spec.replicas"]]
    assert (report.seen, report.stayed) == (1, ())


async def test_a_workload_that_is_new_is_reported_as_it_appears():
    beside = await open_beside(objects_with(3))
    before = beside.lab.api.store.revision
    await beside.lab.apply(make_lws("late"))
    await beside.lab.run(10)
    report = await beside.end()
    assert {write.workload for write in beside.new} == {"LeaderWorkerSet default/late"}
    assert report.stayed
    assert beside.lab.api.store.revision == before + 1


async def test_what_was_planned_for_a_deleted_workload_does_not_stay():
    beside = await open_beside(objects_with(7))
    await beside.lab.delete(LEADER_WORKER_SET.kind, NAME)
    await beside.lab.run(10)
    report = await beside.end()
    assert len(beside.new) == 1
    told = f"LeaderWorkerSet default/{NAME} was deleted"
    assert [why for _, why in beside.gone] == [told]
    assert (report.workloads, report.stayed) == (0, ())


def planned(field: str = "spec.replicas") -> PlannedWrite:
    return PlannedWrite("LeaderWorkerSet a/x", "patch", "StatefulSet", "a", "x", (), field)


def test_a_status_that_is_not_planned_for_less_than_a_second_is_not_gone():
    sightings = Sightings()
    assert sightings.note("LeaderWorkerSet a/x", [planned()], 0.0) == ([planned()], [])
    assert sightings.note("LeaderWorkerSet a/x", [], 0.5) == ([], [])
    assert sightings.note("LeaderWorkerSet a/x", [], 2.0) == ([], [planned()])
    assert sightings.opened == {}


def test_the_last_manager_is_the_one_with_the_latest_time():
    entries = [
        {"manager": "lws", "time": "2026-01-01T00:00:02Z"},
        {"manager": "kubectl", "time": "2026-01-01T00:00:01Z"},
    ]
    told = name_last_manager({"metadata": {"managedFields": entries}})
    assert told == "lws wrote it last, at 2026-01-01T00:00:02Z"
