"""What people see of a RoleBasedGroup or a set by hand that waits: which role, and no group."""

from typing import Any

import orjson
from group_lab import KIND, GroupLab, standalone, start
from single_lab import SingleLab, component, instance_set

from kohort.apis.api import Api
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apis.rolebasedgroup.single_role.api import ROLE_INSTANCE_SET
from kohort.cli.render.explanations import write_explanation
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.simulator.stages import PULL_ERROR
from kohort.views.explain import explain
from kohort.views.picture import Picture, take_picture
from kohort.views.samples import gather

LAB = SingleLab
ROLES = "/spec/roles"
RECREATE = {"type": "RecreatePod", "maxUnavailable": 1}


def take_view(lab: GroupLab, api: Api, **pods: Object) -> Picture:
    """The workload; ``pods`` are fields that all its pods have instead of theirs."""
    children = {
        watched.kind: [orjson.dumps(found) for found in lab.all(watched.kind)]
        for watched in api.watched
        if watched.is_needed
    }
    children[POD] = [orjson.dumps(_merge(pod, pods)) for pod in lab.all(POD)]
    (root,) = lab.all(api.kind)
    (sample,) = gather(api, [orjson.dumps(root)], children)
    return take_picture(api, sample, lab.clock.now())


def _merge(pod: Object, fields: Object) -> Object:
    return {**pod, **{name: {**pod[name], **value} for name, value in fields.items()}}


def describe(lab: GroupLab, api: Api) -> str:
    picture = take_view(lab, api)
    return "\n".join(write_explanation(explain(picture), lab.clock.now()))


def recreated(name: str, replicas: int, **more: Any) -> dict[str, Any]:
    return standalone(name, replicas, rolloutStrategy={"rollingUpdate": {**RECREATE, **more}})


async def test_a_role_that_waits_is_named_without_its_only_group(lab: GroupLab):
    await start(lab, recreated("prefill", 2), standalone("decode", 1))
    broken = {"metadata": {"annotations": {PULL_ERROR: "manifest unknown"}}}
    path = f"{ROLES}/0/standalonePattern/template/metadata"
    await lab.set_field(path, broken["metadata"])
    await lab.run(30)
    picture = take_view(lab, ROLE_BASED_GROUP)
    assert picture.plan is not None
    (blocker,) = [b for b in picture.plan.report.blockers if b.line.role]
    assert blocker.message.startswith("role prefill: 1 of 2 instances wait for the new revision")
    text = describe(lab, ROLE_BASED_GROUP)
    assert "x-prefill-1" in text and "group 0" not in text


async def roll_a_set_to_an_image_that_is_not_there(lab: GroupLab) -> None:
    """A set by hand whose rollout waits for its first new pod."""
    await lab.apply(instance_set(component(), updateStrategy=RECREATE))
    await lab.until(lambda: len(lab.pods()) == 2)
    await lab.run(30)
    path = "/spec/roleInstanceTemplate/components/0/template/metadata"
    change = {"op": "add", "path": path, "value": {"annotations": {PULL_ERROR: "manifest unknown"}}}
    await lab.edit("x", change, kind=ROLE_INSTANCE_SET.kind)
    await lab.run(30)


async def test_a_set_by_hand_that_waits_names_neither_role_nor_group(lab: GroupLab):
    await roll_a_set_to_an_image_that_is_not_there(lab)
    picture = take_view(lab, ROLE_INSTANCE_SET)
    assert picture.plan is not None
    (blocker,) = [b for b in picture.plan.report.blockers if b.line.role]
    assert blocker.message.startswith("1 of 2 instances wait for the new revision")
    assert "group 0" not in describe(lab, ROLE_INSTANCE_SET)


async def test_a_paused_role_is_resumed_while_another_waits_for_the_user(lab: GroupLab):
    await start(lab, standalone("prefill", 1), standalone("decode", 1))
    await lab.edit(
        "x",
        {"op": "add", "path": f"{ROLES}/0/engineRuntimes", "value": [{"profileName": "absent"}]},
        {
            "op": "add",
            "path": f"{ROLES}/1/rolloutStrategy",
            "value": {"rollingUpdate": {"paused": True}},
        },
        kind=KIND,
    )
    for index in (0, 1):
        await lab.set_image("engine:2", index)
    await lab.run(30)
    found = explain(take_view(lab, ROLE_BASED_GROUP))
    assert found.waits.startswith("WaitingForProfile: role prefill names")
    assert "kohort rollout resume rbg/x --role decode" in found.commands
    assert not any(
        c.startswith("kohort rollout resume rbg/x --role prefill") for c in found.commands
    )


async def test_a_paused_set_by_hand_whose_pod_is_broken_says_how_it_goes_on(lab: GroupLab):
    await roll_a_set_to_an_image_that_is_not_there(lab)
    pause = {"op": "add", "path": "/spec/updateStrategy/paused", "value": True}
    await lab.edit("x", pause, kind=ROLE_INSTANCE_SET.kind)
    await lab.run(10)
    commands = explain(take_view(lab, ROLE_INSTANCE_SET)).commands
    assert commands[-1] == "kohort rollout resume ris/x"
