"""Which gang a group is in, and that no group is ever in two."""

from dataclasses import replace
from typing import Any

import pytest
from gang_lab import VOLCANO, gangs
from operator_lab import Lab, set_image
from topology_lab import find_degraded, make_packed, open_topology_lab, put, schedulers, specs

from kohort.apis.api import Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apis.gangs.dialects import kueue, volcano
from kohort.apis.gangs.dialects.coscheduling import COSCHEDULING
from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP
from kohort.apis.leaderworkerset import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, uid_of
from kohort.controller.process.gangs import gather_tiers, read_tier

BOTH = Settings(gangs=(volcano.VOLCANO, COSCHEDULING))
GANG = f"/metadata/annotations/{labels.GANG.replace('/', '~1')}"
PARTS = {"size": 5, "subGroupPolicy": {"subGroupSize": 2}}


@pytest.fixture(params=["statefulsets", "pods"])
def carrier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def open_both() -> Lab:
    lab = await open_topology_lab(BOTH, operator=False)
    for crd in definitions_of("coscheduling"):
        await lab.api.create(lab.api.target(kinds.DEFINITION), crd, WriteOptions())
    lab.start_operator()
    return lab


def providers(lab: Lab) -> list[tuple[str, ...]]:
    """For each pod, the dialects in which it is in a gang."""
    return [
        tuple(d.name for d in BOTH.gangs if d.find_gang(labels_of(pod), annotations_of(pod)))
        for pod in lab.all(kinds.POD)
    ]


def template_of(lab: Lab, leader: str) -> Object:
    found = lab.find(kinds.STATEFUL_SET, leader)
    assert found is not None
    template: Object = found["spec"]["template"]
    return template


async def restart_with(lab: Lab, settings: Settings) -> None:
    await lab.stop_operator()
    lab.settings = settings
    lab.mend_webhooks()
    lab.start_operator()


async def test_an_object_chooses_its_dialect_by_name(carrier: str):
    lab = await open_both()
    notes = {labels.GANG: "coscheduling"}
    await lab.apply(make_packed(carrier, None, groups=1, annotations=notes))
    await lab.until(lab.is_available)
    assert set(providers(lab)) == {("coscheduling",)}
    (group,) = lab.all(COSCHEDULING.kinds[0])
    assert group["spec"]["minMember"] == 3
    assert lab.all(POD_GROUP) == []
    await lab.close()


async def test_another_choice_rolls_the_groups_and_none_is_in_two_gangs(carrier: str):
    """P7, lws#1075."""
    lab = await open_both()
    await lab.apply(make_packed(carrier, None, annotations={labels.GANG: "coscheduling"}))
    await lab.until(lab.is_available)
    await lab.edit("x", put(GANG, "volcano"))
    if carrier == "pods":
        # Nothing says that pods of ours differ before there is a new revision.
        await lab.edit("x", set_image("engine:2"))
    await lab.run(30)
    await lab.until(lambda: set(providers(lab)) == {("volcano",)} and lab.is_available())
    await lab.run(60)
    assert lab.all(COSCHEDULING.kinds[0]) == []
    assert len(lab.all(POD_GROUP)) == 2
    await lab.close()


async def test_an_object_may_say_that_it_wants_no_gang(carrier: str):
    lab = await open_both()
    await lab.apply(make_packed(carrier, {"mode": "hard"}, annotations={labels.GANG: "none"}))
    await lab.until(lab.is_available)
    assert set(providers(lab)) == {()}
    assert schedulers(lab) == {"default-scheduler"}
    assert find_degraded(lab)["message"].endswith("annotation kohort.dev/gang is none")
    await lab.close()


async def test_workers_follow_their_leader_whatever_the_operator_is_told_since():
    """A worker that is made alone must be in the gang of its leader, or in none as it is."""
    lab = await open_topology_lab(VOLCANO)
    never = {"template": {"restartPolicy": "None"}}
    await lab.apply(make_packed("statefulsets", None, groups=1, **never))
    await lab.until(lab.is_available)
    assert annotations_of(template_of(lab, "x-0"))[labels.GANG] == "volcano"
    await restart_with(lab, replace(VOLCANO, has_usual=False))
    await lab.delete(kinds.POD, "x-0-1")
    await lab.run(60)
    assert len({annotations_of(pod).get(GROUP_NAME) for pod in lab.all(kinds.POD)}) == 1
    await lab.apply({**make_packed("statefulsets", None, groups=1, **never), **named("y")})
    await lab.until(lambda: lab.is_available("y"))
    await restart_with(lab, VOLCANO)
    await lab.delete(kinds.POD, "y-0-1")
    await lab.run(60)
    worker = lab.find(kinds.POD, "y-0-1")
    assert worker is not None
    assert GROUP_NAME not in annotations_of(worker)
    assert lab.is_available("y")
    await lab.close()


def named(name: str) -> Object:
    return {"metadata": {"name": name, "annotations": {}}}


async def test_turning_gangs_off_leaves_those_that_are_there(carrier: str):
    lab = await open_topology_lab(VOLCANO)
    await lab.apply(make_packed(carrier, None, groups=1))
    await lab.until(lab.is_available)
    before = uid_of(gangs(lab)["x-0"])
    await restart_with(lab, replace(VOLCANO, has_usual=False))
    await lab.edit("x", put("/spec/replicas", 2))
    await lab.until(lab.is_available)
    assert {name: uid_of(group) for name, group in gangs(lab).items()} == {"x-0": before}
    await lab.delete(POD_GROUP, name_of(gangs(lab)["x-0"]))
    await lab.run(30)
    assert list(gangs(lab)) == ["x-0"]
    await lab.close()


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"size": 4, "subGroupPolicy": {"subGroupSize": 2}}, (2, 2)),
        (PARTS, (2, 2)),
        ({"size": 5, "subGroupPolicy": {"subGroupSize": 5}}, (5, 1)),
    ],
)
async def test_subgroups_are_told_where_all_start_together(
    carrier: str, template: Object, expected: tuple[int, int]
):
    lab = await open_topology_lab(VOLCANO)
    await lab.apply(make_packed(carrier, None, groups=1, template=template))
    await lab.until(lab.is_available)
    (policy,) = specs(lab)[0]["subGroupPolicy"]
    assert (policy["subGroupSize"], policy["minSubGroups"]) == expected
    assert policy["matchLabelKeys"] == [labels.SUBGROUP_INDEX]
    await lab.close()


async def test_no_subgroup_is_waited_for_where_workers_wait_for_their_leader(carrier: str):
    lab = await open_topology_lab(VOLCANO)
    more: dict[str, Any] = {"template": PARTS, "spec": {"startupPolicy": "LeaderReady"}}
    await lab.apply(make_packed(carrier, None, groups=1, **more))
    await lab.until(lab.is_available)
    assert (specs(lab)[0]["minMember"], "subGroupPolicy" in specs(lab)[0]) == (1, False)
    await lab.close()


async def test_a_dialect_without_objects_tells_all_pods_the_same():
    tiers = gather_tiers([read_tier("1=rack=example.com/rack")])
    queued = Settings(carrier="pods", gangs=(kueue.V1BETA2,), tiers=tiers)
    lab = await Lab(queued).open()
    notes = {kueue.QUEUE_NAME: "team"}
    await lab.apply(make_packed("pods", {"highestTierAllowed": 1}, groups=1, annotations=notes))
    await lab.run(30)
    pods = lab.all(kinds.POD)
    assert len(pods) == 3
    for pod in pods:
        assert labels_of(pod)[kueue.QUEUE_NAME] == "team"
        assert annotations_of(pod)[kueue.REQUIRED_TOPOLOGY] == "example.com/rack"
        assert annotations_of(pod)[labels.GANG] == "kueue"
    assert len({labels_of(pod)[kueue.GROUP_NAME] for pod in pods}) == 1
    assert find_degraded(lab) == {}
    await lab.close()
