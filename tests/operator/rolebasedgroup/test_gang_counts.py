"""What a gang asks for where ordinals have gaps, pods wait, or the user takes a wish back."""

from group_gang_lab import GANG, STATELESS, GangLab, stepwise
from group_lab import KIND, group, leader_worker, standalone, start

from kohort.apis.gangs.dialects.kai import SUBGROUP_NAME
from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import annotations_of, labels_of

SLOW = {
    "type": "RecreateRoleInstanceOnPodRestart",
    "baseDelaySeconds": 3000,
    "maxDelaySeconds": 3000,
}
PRIORITY = f"/metadata/annotations/{labels.GANG_PRIORITY.replace('/', '~1')}"


async def test_a_settled_gang_keeps_the_subgroups_that_its_pods_name(kai: GangLab):
    role = kai.placed(standalone(replicas=3, annotations=STATELESS))
    await start(kai, role, **GANG, **{labels.GANG_QUEUE: "default"})
    await kai.replace_first()
    await kai.run(30)
    named = {labels_of(pod)[SUBGROUP_NAME] for pod in kai.live().values()}
    assert named == {each["name"] for each in kai.gang()["subGroups"]} and len(named) == 3


async def test_an_instance_with_a_high_ordinal_that_backs_off_is_not_waited_for(volcano: GangLab):
    role = leader_worker(replicas=3, size=1, annotations=STATELESS)
    role["leaderWorkerPattern"]["restartPolicyConfig"] = SLOW
    await start(volcano, volcano.placed(role), **GANG)
    before = set(volcano.pods())
    await volcano.replace_first()
    (last,) = set(volcano.live()) - before
    uid = volcano.uids()[last]
    await volcano.fail_pod(last)
    await volcano.until(lambda: volcano.is_done() and volcano.uids().get(last, uid) != uid, 240)
    await volcano.run(5)
    assert volcano.gang()["minMember"] == 3
    await volcano.fail_pod(last)
    await volcano.run(5)
    assert volcano.gang()["minMember"] == 2


async def test_pods_that_do_not_wait_are_among_the_resources_of_their_gang(volcano: GangLab):
    await volcano.apply(group(volcano.placed(stepwise()), **GANG))
    await volcano.until(lambda: bool(volcano.gang()))
    asked = volcano.gang()
    assert (asked["minMember"], asked["minResources"]) == (2, {"cpu": "2"})
    await volcano.until(volcano.is_done, 120)
    await volcano.until(lambda: volcano.gang()["minResources"] == {"cpu": "4"})


async def make_priority(lab: GangLab) -> None:
    body = {"metadata": {"name": "high"}, "value": 7}
    await lab.api.create(lab.api.target(kinds.PRIORITY_CLASS), body, WriteOptions())


async def test_a_priority_that_is_wanted_no_more_goes_while_no_pod_has_a_node(volcano: GangLab):
    await make_priority(volcano)
    role = volcano.placed(leader_worker(), cpu="9999")
    await volcano.apply(group(role, **GANG, **{labels.GANG_PRIORITY: "high"}))
    await volcano.until(lambda: volcano.gang().get("priorityClassName") == "high")
    await volcano.edit("x", {"op": "remove", "path": PRIORITY}, kind=KIND)
    await volcano.until(lambda: "priorityClassName" not in volcano.gang())
    assert labels.GANG_PRIORITY not in annotations_of(volcano.group())


async def test_a_gang_whose_pods_have_nodes_keeps_its_priority(volcano: GangLab):
    await make_priority(volcano)
    await start(volcano, volcano.placed(standalone()), **GANG, **{labels.GANG_PRIORITY: "high"})
    await volcano.edit("x", {"op": "remove", "path": PRIORITY}, kind=KIND)
    await volcano.run(30)
    assert volcano.gang()["priorityClassName"] == "high"
