"""Instances that are gangs of their own."""

from dataclasses import replace

import orjson
import pytest
from group_lab import GroupLab, group, leader_worker, standalone, start
from test_group_gangs import open_lab, placed
from test_instance_restarts import read_changed

from kohort.apis.api import Settings
from kohort.apis.facts import Whole
from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP, VOLCANO
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.cluster.actions import Create
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, annotations_of, name_of, uid_of
from kohort.planning.plan import plan

GANG = {labels.INSTANCE_GANG: "true"}
BY_ROLE = {"annotations": GANG}


@pytest.fixture
async def volcano():
    lab = await open_lab("volcano", Settings(gangs=(VOLCANO,)))
    yield lab
    await lab.close()


def gangs(lab: GroupLab) -> dict[str, Object]:
    return {name_of(found): found for found in lab.all(POD_GROUP)}


def minimums(lab: GroupLab) -> dict[str, int]:
    return {name: found["spec"]["minMember"] for name, found in gangs(lab).items()}


async def test_each_instance_is_a_gang_that_goes_with_it(volcano: GroupLab):
    await start(volcano, placed(leader_worker()), placed(standalone()), **GANG)
    assert minimums(volcano) == {"x-engine-0": 2, "x-engine-1": 2}
    owner = volcano.find(labels.INSTANCE, "x-engine-1")
    assert owner is not None
    held = gangs(volcano)["x-engine-1"]["metadata"]["ownerReferences"]
    assert [each["uid"] for each in held] == [uid_of(owner)]
    marks = {name: annotations_of(pod).get(GROUP_NAME) for name, pod in volcano.pods().items()}
    assert marks["x-engine-0-0"] == marks["x-engine-0-1"] == "x-engine-0"
    assert marks["x-router-0"] is None


async def test_gangs_come_and_go_as_a_role_scales(volcano: GroupLab):
    await start(volcano, placed(leader_worker(replicas=1, **BY_ROLE)))
    assert set(gangs(volcano)) == {"x-engine-0"}
    await volcano.set_field("/spec/roles/0/replicas", 3)
    await volcano.until(lambda: volcano.is_done() and len(gangs(volcano)) == 3)
    await volcano.set_field("/spec/roles/0/replicas", 2)
    await volcano.until(lambda: volcano.is_done() and len(gangs(volcano)) == 2)
    assert minimums(volcano) == {"x-engine-0": 2, "x-engine-1": 2}


async def test_an_instance_without_room_waits_whole_while_others_serve(volcano: GroupLab):
    """8 nodes of 8 GPUs: the seventeenth instance of four pods has no room, and gets no node."""
    role = placed(leader_worker(replicas=17, size=4), gpus=True)
    await volcano.apply(group(role, **GANG))
    await volcano.until(lambda: len(volcano.pods()) == 17 * 4)
    await volcano.run(60)
    pods = volcano.pods().values()
    waiting = {
        pod["metadata"]["labels"][labels.INSTANCE_NAME]
        for pod in pods
        if not pod["spec"].get("nodeName")
    }
    assert len(waiting) == 1
    assert sum(not pod["spec"].get("nodeName") for pod in pods) == 4


async def test_a_component_that_starts_later_does_not_hold_its_gang(volcano: GroupLab):
    later = {labels.DEPENDS_ON: orjson.dumps({"startAfter": ["store"]}).decode()}
    listed = [
        {"name": name, "size": 2, "template": {"metadata": {"annotations": notes}, "spec": spec}}
        for name, notes in (("store", {}), ("engine", later))
        for spec in [{"containers": [{"name": "c", "image": "c:1"}]}]
    ]
    role = {"name": "kv", "replicas": 1, "customComponentsPattern": {"components": listed}}
    await volcano.apply(group(placed(role), **GANG))
    await volcano.until(lambda: bool(volcano.pods()))
    assert minimums(volcano) == {"x-kv-0": 2}
    await volcano.until(lambda: volcano.is_done() and minimums(volcano) == {"x-kv-0": 4})


async def test_all_pods_of_a_gang_are_made_anew_where_one_cannot_change(volcano: GroupLab):
    """Without a gang the leader, whose template did not change, would stay."""
    patch = {"spec": {"containers": [{"name": "engine", "env": [{"name": "A", "value": "1"}]}]}}
    role = placed(leader_worker(replicas=1))
    await start(volcano, role, **GANG)
    before = volcano.uids()
    await volcano.set_field("/spec/roles/0/leaderWorkerPattern/workerTemplatePatch", patch)
    await volcano.until(
        lambda: volcano.is_done() and not set(before.values()) & set(volcano.uids().values())
    )
    assert set(volcano.uids()) == set(before)


async def test_pods_made_before_stay_without_a_gang_and_none_is_made_for_them(volcano: GroupLab):
    await start(volcano, placed(leader_worker()))
    before = volcano.uids()
    await volcano.set_field("/metadata/annotations", GANG)
    await volcano.run(30)
    assert (volcano.uids(), gangs(volcano)) == (before, {})


async def test_gangs_go_when_the_user_asks_for_them_no_more(volcano: GroupLab):
    await start(volcano, placed(leader_worker()), **GANG)
    before = volcano.uids()
    await volcano.set_field("/metadata/annotations", {})
    await volcano.until(lambda: not gangs(volcano))
    assert volcano.uids() == before


async def test_at_rest_nothing_is_written_about_gangs_of_instances(volcano: GroupLab):
    await start(volcano, placed(leader_worker()), **GANG)
    await volcano.run(5)
    before = dict(volcano.cluster.tried)
    await volcano.run(600)
    assert dict(volcano.cluster.tried) == before


async def test_an_old_instance_keeps_the_size_of_its_gang_while_a_partition_holds_it(
    volcano: GroupLab,
):
    rolling = {"rolloutStrategy": {"rollingUpdate": {"partition": 1}}}
    await start(volcano, placed(leader_worker(**rolling)), **GANG)
    await volcano.set_field("/spec/roles/0/leaderWorkerPattern/size", 3)
    await volcano.until(lambda: minimums(volcano)["x-engine-1"] == 3)
    await volcano.run(30)
    held = [name for name in volcano.pods() if name.startswith("x-engine-0")]
    assert minimums(volcano)["x-engine-0"] == len(held) == 2


class Passes(tuple):
    """Objects that count how often all of them are looked at."""

    __slots__ = ()
    count = 0

    def __iter__(self):
        type(self).count += 1
        return super().__iter__()


async def count_passes(lab: GroupLab, replicas: int) -> int:
    await lab.set_field("/spec/roles/0/replicas", replicas)
    await lab.until(lambda: lab.is_done() and len(gangs(lab)) == replicas)
    held = read_changed(lab, lambda obj: None)[0]
    found = Passes(Whole(orjson.dumps(each)) for each in lab.all(POD_GROUP))
    # One pod of each instance is missing, so that its gang is looked for.
    pods = tuple(p for p in held.all(POD) if not p.metadata.name.endswith("-1"))
    children = {**held.children, POD_GROUP: found, POD: pods}
    snapshot = replace(held, children=children, settings=Settings(gangs=(VOLCANO,)))
    reading = ROLE_BASED_GROUP.read(snapshot)
    Passes.count = 0
    actions = ROLE_BASED_GROUP.render(
        snapshot, reading, plan(reading.workload, reading.observed, 0.0)
    )
    assert sum(isinstance(a, Create) for a in actions) == replicas
    return Passes.count


async def test_gangs_are_looked_through_as_often_for_many_instances_as_for_few(volcano: GroupLab):
    await start(volcano, placed(leader_worker(replicas=1)), **GANG)
    few = await count_passes(volcano, 3)
    assert few == await count_passes(volcano, 9)
