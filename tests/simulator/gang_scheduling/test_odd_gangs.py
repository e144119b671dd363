"""What people write by hand, unchecked: it may mean nothing, but stops no other gang."""

import pytest
from gang_builders import node, pod
from gang_world import NATIVE_GROUP, GangWorld

from kohort.apis.gangs.dialects import koordinator, kueue
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind
from kohort.placement.amounts import read_amounts
from kohort.placement.forest import build_forest
from kohort.placement.hypernodes import read_hypernode
from kohort.simulator.scheduling.gangs.adapters import GROUPS, find_implicit
from kohort.simulator.scheduling.gangs.requests import GangKey

KINDS = [Kind(group, "v1", name, "podgroups") for group, name in GROUPS]
BARE = [{}, {"spec": None, "status": None}, {"spec": {}, "status": {"conditions": None}}]
# A time after which a second is rounded down when it is counted back.
ODD_SECONDS = 0.001


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.group)
@pytest.mark.parametrize("parts", BARE)
def test_a_group_that_says_nothing_is_read(kind, parts):
    obj = {"metadata": {"name": "g", "namespace": "default", "annotations": None}, **parts}
    spec = GROUPS[(kind.group, kind.name)][1](obj, kind)
    assert (spec.key.name, spec.minimum in (0, 1), spec.limit) == ("g", True, None)


@pytest.mark.parametrize(
    "text",
    ["no json", "[1]", '"x"', '{"gatherStrategy": 5}', '{"gatherStrategy": ["x", null]}'],
)
def test_layers_that_cannot_be_read_are_not_asked_for(text):
    note = {koordinator.TOPOLOGY_SPEC: text, koordinator.PREFIX + "min-available": "2"}
    found = find_implicit(GangKey("koordinator", "default", "g"), note, "")
    assert found is not None
    assert (found.minimum, found.limit) == (2, None)


@pytest.mark.parametrize("text", ["", "x", "-1", "²", "9" * 5000])
def test_a_count_that_is_none_means_a_gang_of_one(text):
    key = GangKey("kueue", "default", "g")
    found = find_implicit(key, {kueue.TOTAL_COUNT: text}, "")
    assert found is not None
    assert found.minimum == 1


@pytest.mark.parametrize("text", ["x", "", "1e1.5", "1e999999999", "--1"])
def test_an_amount_that_cannot_be_read_is_none(text):
    assert read_amounts({"cpu": text, "memory": text}) == {"cpu": 0, "memory": 0}


@pytest.mark.parametrize("members", [None, [], [{}], [{"type": "Node", "selector": None}]])
def test_a_hypernode_without_members_holds_no_node(members):
    obj = {"metadata": {"name": "rack"}, "spec": {"tier": 1, "members": members}}
    forest = build_forest([read_hypernode(obj), read_hypernode({"metadata": {"name": "bare"}})], {})
    assert (forest.errors, forest.tiers) == ((), (2, 0, 1))


def test_a_condition_without_a_time_gets_one():
    made = GangWorld(node("n0"))
    said = {"type": "PodGroupScheduled", "status": "False", "reason": "Unschedulable"}
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    group = {"metadata": {"name": "g"}, "spec": spec, "status": {"conditions": [said]}}
    made.put(NATIVE_GROUP, group)
    native = {"schedulerName": "default-scheduler", "schedulingGroup": {"podGroupName": "g"}}
    made.put(POD, pod("a", **native))
    made.settle()
    (found,) = made.status("g", NATIVE_GROUP)["conditions"]
    assert "Not enough valid tasks" in found["message"]
    assert found["lastTransitionTime"]


def test_an_incomplete_gang_is_told_so_at_any_time():
    """A second after some moments is less than a second later, by the arithmetic of machines."""
    assert ODD_SECONDS + 1.0 - ODD_SECONDS < 1.0
    made = GangWorld(node("n0"))
    made.settle(ODD_SECONDS)
    made.group("g", 2)
    made.put(POD, pod("g-0", group="g"))
    made.settle(0)
    made.settle(1.0)
    assert "Not enough valid tasks" in made.reason("g-0")
