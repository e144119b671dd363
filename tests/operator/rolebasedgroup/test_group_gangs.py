"""Groups that are placed together or not at all."""

from collections.abc import AsyncIterator

import orjson
import pytest
from group_lab import KIND, GroupLab, group, install, leader_worker, standalone, start

from kohort.apis.api import Settings
from kohort.apis.gangs.definitions.coscheduling import POD_GROUP as PLUGINS_GROUP
from kohort.apis.gangs.dialects.kai import KAI, SUBGROUP_NAME
from kohort.apis.gangs.dialects.kai import POD_GROUP as KAI_GROUP
from kohort.apis.gangs.dialects.volcano import GROUP_NAME, POD_GROUP, VOLCANO
from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.node_labels import RACK
from kohort.cluster.objects import Object, annotations_of, labels_of, uid_of

GANG = {labels.GANG: "true"}
GPU = {"resources": {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}}


async def open_lab(gang: str, settings: Settings) -> GroupLab:
    lab = GroupLab(settings)
    await lab.open(operator=False)
    await install(lab, gang)
    lab.start_operator()
    return lab


@pytest.fixture
async def volcano() -> AsyncIterator[GroupLab]:
    lab = await open_lab("volcano", Settings(gangs=(VOLCANO,)))
    yield lab
    await lab.close()


def placed(role: Object, scheduler: str = "volcano", gpus: bool = False) -> Object:
    """The role with pods that a gang scheduler places."""
    pattern = next(held for key, held in role.items() if key.endswith("Pattern"))
    templates = [pattern["template"]] if "template" in pattern else []
    templates += [each["template"] for each in pattern.get("components", ())]
    for template in templates:
        template["spec"]["schedulerName"] = scheduler
        if gpus:
            template["spec"]["containers"][0] |= GPU
    return role


def gang(lab: GroupLab) -> Object:
    found = lab.find(POD_GROUP, "x")
    assert found is not None
    return found


def minimum(lab: GroupLab) -> int:
    found: int = gang(lab)["spec"]["minMember"]
    return found


async def test_all_pods_of_all_roles_are_one_gang_of_instances(volcano: GroupLab):
    await start(volcano, placed(leader_worker()), placed(standalone(replicas=3)), **GANG)
    spec = gang(volcano)["spec"]
    assert spec["minMember"] == 2 * 2 + 3
    parts = {part["name"]: part for part in spec["subGroupPolicy"]}
    assert (parts["engine"]["subGroupSize"], parts["engine"]["minSubGroups"]) == (2, 2)
    assert (parts["router"]["subGroupSize"], parts["router"]["minSubGroups"]) == (1, 3)
    assert parts["engine"]["matchLabelKeys"] == [labels.INSTANCE_NAME]
    assert {annotations_of(pod).get(GROUP_NAME) for pod in volcano.pods().values()} == {"x"}
    assert gang(volcano)["metadata"]["ownerReferences"][0]["uid"] == uid_of(volcano.group())


async def test_no_pod_is_placed_where_not_all_have_room(volcano: GroupLab):
    rooms = 8 * 8
    await volcano.apply(group(placed(standalone(replicas=rooms + 1), gpus=True), **GANG))
    await volcano.until(lambda: len(volcano.pods()) == rooms + 1)
    await volcano.run(60)
    assert not any(pod["spec"].get("nodeName") for pod in volcano.pods().values())


async def test_counts_follow_when_a_role_scales(volcano: GroupLab):
    await start(volcano, placed(leader_worker()), placed(standalone(replicas=1)), **GANG)
    await volcano.set_field("/spec/roles/1/replicas", 4)
    await volcano.until(lambda: volcano.is_done() and minimum(volcano) == 2 * 2 + 4)
    await volcano.set_field("/spec/roles/0/replicas", 1)
    await volcano.until(lambda: volcano.is_done() and minimum(volcano) == 2 + 4)
    counts = {p["name"]: p["minSubGroups"] for p in gang(volcano)["spec"]["subGroupPolicy"]}
    assert counts == {"engine": 1, "router": 4}


async def test_defect_19_a_role_that_waits_for_another_does_not_hold_its_gang(volcano: GroupLab):
    roles = placed(standalone("a")), placed(standalone("b", dependencies=["a"]))
    await volcano.apply(group(*roles, **GANG))
    await volcano.until(lambda: bool(volcano.all(POD_GROUP)) and bool(volcano.pods()))
    assert minimum(volcano) == 2
    await volcano.until(lambda: volcano.is_done() and minimum(volcano) == 4, 120)


async def test_a_component_that_starts_later_does_not_hold_its_gang(volcano: GroupLab):
    later = {labels.DEPENDS_ON: orjson.dumps({"startAfter": ["store"]}).decode()}
    listed = [
        {"name": name, "size": 1, "template": {"metadata": {"annotations": notes}, "spec": spec}}
        for name, notes in (("store", {}), ("engine", later))
        for spec in [{"containers": [{"name": "c", "image": "c:1"}]}]
    ]
    role = {"name": "kv", "replicas": 2, "customComponentsPattern": {"components": listed}}
    await start(volcano, placed(role), **GANG)
    await volcano.run(5)
    assert minimum(volcano) == 4


async def test_instances_that_come_one_by_one_do_not_hold_their_gang(volcano: GroupLab):
    await start(volcano, placed(standalone(replicas=3, podManagementPolicy="OrderedReady")), **GANG)
    await volcano.run(5)
    assert minimum(volcano) == 3


async def test_a_gang_has_its_topology_to_itself(volcano: GroupLab):
    topology = {labels.EXCLUSIVE_TOPOLOGY: RACK}
    await start(volcano, placed(leader_worker()), **GANG, **topology)
    nodes = {pod["spec"]["nodeName"] for pod in volcano.pods().values()}
    racks = {
        labels_of(node).get(RACK)
        for node in volcano.all(kinds.NODE)
        if node["metadata"]["name"] in nodes
    }
    assert len(racks) == 1
    assert all(labels.GROUP_HASH in labels_of(pod) for pod in volcano.pods().values())


async def test_a_gang_that_is_asked_for_no_more_goes_and_its_pods_stay(volcano: GroupLab):
    await start(volcano, placed(standalone()), **GANG)
    before = volcano.uids()
    await volcano.set_field(f"/metadata/annotations/{labels.GANG.replace('/', '~1')}", "false")
    await volcano.until(lambda: not volcano.all(POD_GROUP) and volcano.is_done())
    assert volcano.uids() == before


async def test_a_gang_that_another_client_deletes_is_made_anew(volcano: GroupLab):
    await start(volcano, placed(standalone()), **GANG)
    await volcano.delete(POD_GROUP, "x")
    await volcano.until(lambda: bool(volcano.all(POD_GROUP)))
    assert minimum(volcano) == 2


async def test_queue_and_priority_come_from_annotations(volcano: GroupLab):
    body = {"metadata": {"name": "high"}, "value": 7}
    await volcano.api.create(volcano.api.target(kinds.PRIORITY_CLASS), body, WriteOptions())
    asked = {labels.GANG_QUEUE: "default", labels.GANG_PRIORITY: "high"}
    await start(volcano, placed(standalone()), **GANG, **asked)
    spec = gang(volcano)["spec"]
    assert (spec["queue"], spec["priorityClassName"]) == ("default", "high")


async def test_at_rest_nothing_is_written_about_a_gang(volcano: GroupLab):
    await start(volcano, placed(leader_worker()), placed(standalone()), **GANG)
    await volcano.run(5)
    before = dict(volcano.cluster.tried)
    await volcano.run(600)
    assert dict(volcano.cluster.tried) == before


async def test_a_rollout_keeps_its_gang(volcano: GroupLab):
    strategy = {"rollingUpdate": {"type": "RecreatePod", "maxUnavailable": 1}}
    await start(volcano, placed(standalone(replicas=3, rolloutStrategy=strategy)), **GANG)
    await volcano.set_image("engine:2")
    await volcano.until(lambda: volcano.is_done() and volcano.images() == {"engine:2"}, 240)
    assert minimum(volcano) == 3


async def test_scheduler_plugins_are_the_default_where_no_scheduler_is_named():
    lab = await open_lab("coscheduling", Settings())
    asked = {**GANG, labels.GANG_TIMEOUT: "90"}
    await start(lab, placed(standalone(), "scheduler-plugins-scheduler"), **asked)
    found = lab.find(PLUGINS_GROUP, "x")
    assert found is not None
    assert (found["spec"]["minMember"], found["spec"]["scheduleTimeoutSeconds"]) == (2, 90)
    assert {labels_of(p)[labels.GANG_LABEL] for p in lab.pods().values()} == {"x"}
    await lab.close()


async def test_without_a_gang_scheduler_pods_are_placed_one_by_one(lab: GroupLab):
    await start(lab, standalone(), **GANG)
    assert not any(labels.GANG_LABEL in labels_of(pod) for pod in lab.pods().values())
    await lab.delete(KIND, "x")


async def test_other_schedulers_are_told_when_pods_are_made():
    lab = await open_lab("kai", Settings(gangs=(KAI,)))
    await start(lab, placed(leader_worker(), KAI.scheduler), **GANG)
    (found,) = lab.all(KAI_GROUP)
    assert found["spec"]["minMember"] == 4
    assert {each["name"] for each in found["spec"]["subGroups"]} >= {"engine-0", "engine-1"}
    assert {annotations_of(p)[labels.GANG_DIALECT] for p in lab.pods().values()} == {"kai"}
    await lab.close()


async def test_pods_that_come_step_by_step_are_in_subgroups_that_kai_knows():
    """KAI does not see a pod whose subgroup is not there, and waits for one that no pod joins."""
    lab = await open_lab("kai", Settings(gangs=(KAI,)))
    later = {labels.DEPENDS_ON: orjson.dumps({"startAfter": ["store"]}).decode()}
    listed = [
        {"name": name, "size": 1, "template": {"metadata": {"annotations": notes}, "spec": spec}}
        for name, notes in (("store", {}), ("engine", later))
        for spec in [{"containers": [{"name": "c", "image": "c:1"}]}]
    ]
    stepwise = {"name": "kv", "replicas": 2, "customComponentsPattern": {"components": listed}}
    roles = (placed(stepwise, KAI.scheduler), placed(standalone(), KAI.scheduler))
    await start(lab, *roles, **GANG, **{labels.GANG_QUEUE: "default"})
    await lab.run(5)
    (found,) = lab.all(KAI_GROUP)
    needs = {each["name"]: each["minMember"] for each in found["spec"]["subGroups"]}
    assert needs == {"kv-0": 2, "kv-1": 2, "router-0": 1, "router-1": 1}
    assert {labels_of(p)[SUBGROUP_NAME] for p in lab.pods().values()} == set(needs)
    await lab.close()
