"""
Objects that a former controller made are taken over: no pod restarts, whatever we would render.

Fields of that controller become ours when one of them changes, not before.

They are what our own rendering gives, signed by the other's field manager and without the mark of
ours: that both controllers render the same is the matter of golden values elsewhere.
"""

from copy import deepcopy

import pytest
from races import act_before_patch
from service_lab import RBG, ServiceLab, kinds, service, start

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster.objects import Kind, Object, annotations_of, name_of
from kohort.cluster.port import PatchType

CARRIERS = (kinds.DEPLOYMENT, kinds.ROLE_BASED_GROUP)
VARIABLE = {"name": "FORMER", "value": "1"}


async def disown(lab: ServiceLab) -> None:
    """Make all workloads of services look as the former controller left them."""
    for kind in CARRIERS:
        for found in lab.all(kind):
            await disown_one(lab, kind, found)


async def disown_one(lab: ServiceLab, kind: Kind, found: Object) -> None:
    fields = deepcopy(found["metadata"]["managedFields"])
    for entry in fields:
        if entry["operation"] == "Apply":
            entry |= {"manager": "manager", "operation": "Update"}
    change = [{"op": "replace", "path": "/metadata/managedFields", "value": fields}]
    target = lab.api.target(kind, lab.namespace, name_of(found))
    await lab.api.patch(target, PatchBody(PatchType.JSON, change), WriteOptions(manager="manager"))
    note = {"metadata": {"annotations": {labels.RENDERED_FROM: None}}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, note), WriteOptions(manager="manager"))


def find_variables(lab: ServiceLab) -> list[str]:
    found = lab.find(kinds.DEPLOYMENT, "chat-engine")
    container = found["spec"]["template"]["spec"]["containers"][0]
    return [entry["name"] for entry in container.get("env", ())]


@pytest.mark.parametrize("mode", ["", RBG], ids=["apart", "group"])
async def test_no_pod_restarts_and_the_mark_is_set(lab: ServiceLab, mode: str):
    await start(lab, service("engine", "router", mode=mode))
    await lab.stop_operator()
    await disown(lab)
    before = lab.uids()
    lab.start_operator()
    await lab.run(60)
    assert lab.uids() == before
    carriers = [found for kind in CARRIERS for found in lab.all(kind)]
    assert len(carriers) == (1 if mode == RBG else 2)
    for found in carriers:
        assert labels.RENDERED_FROM in annotations_of(found)
    await lab.run(5)
    rest = dict(lab.cluster.tried)
    await lab.run(300)
    assert dict(lab.cluster.tried) == rest


async def test_a_variable_of_the_former_controller_goes_when_no_spec_has_it(lab: ServiceLab):
    await start(lab)
    await lab.set_field("/spec/engine/runner", {"env": [VARIABLE]})
    await lab.run(30)
    await lab.stop_operator()
    await disown(lab)
    lab.start_operator()
    await lab.run(10)
    await lab.set_field("/spec/engine/runner", {"env": []})
    await lab.run(30)
    assert "FORMER" not in find_variables(lab)


async def test_what_we_would_render_otherwise_waits_for_an_edit_of_the_service(lab: ServiceLab):
    await start(lab)
    await lab.stop_operator()
    await disown(lab)
    image = {"op": "replace", "path": "/spec/engineConfig/runner/image", "value": "engine:2"}
    await lab.edit("srt", image, kind=kinds.CLUSTER_SERVING_RUNTIME)
    before = lab.uids()
    lab.start_operator()
    await lab.run(60)
    assert lab.uids() == before
    assert lab.condition("UpdateHeld")["status"] == "True"
    await lab.set_field("/spec/engine/labels", {"edited": "yes"})
    await lab.run(60)
    images = {pod["spec"]["containers"][0]["image"] for pod in lab.pods("engine").values()}
    assert images == {"engine:2"}
    assert lab.condition("UpdateHeld") == {}


async def test_no_note_is_left_on_a_workload_that_another_client_made_meanwhile(lab: ServiceLab):
    await start(lab)
    await lab.stop_operator()
    await disown(lab)
    image = {"op": "replace", "path": "/spec/engineConfig/runner/image", "value": "engine:2"}
    await lab.edit("srt", image, kind=kinds.CLUSTER_SERVING_RUNTIME)
    kept = lab.find(kinds.DEPLOYMENT, "chat-engine")

    async def take_the_name() -> None:
        await lab.delete(kinds.DEPLOYMENT, "chat-engine")
        metadata = {"name": "chat-engine", "namespace": lab.namespace}
        await lab.apply({**kept, "metadata": metadata})

    lab.start_operator()
    notes = act_before_patch(lab.cluster, kinds.DEPLOYMENT, take_the_name)
    await lab.run(60)
    assert [list(note["metadata"]) for note in notes] == [["uid", "annotations"]]
    found = lab.find(kinds.DEPLOYMENT, "chat-engine")
    assert labels.RENDERED_FROM not in annotations_of(found)


async def test_a_rendering_that_is_the_same_again_is_held_no_more(lab: ServiceLab):
    await start(lab)
    await lab.stop_operator()
    await disown(lab)
    before = lab.uids()
    place = {"op": "replace", "path": "/spec/engineConfig/runner/image"}
    await lab.edit("srt", {**place, "value": "engine:2"}, kind=kinds.CLUSTER_SERVING_RUNTIME)
    lab.start_operator()
    await lab.run(30)
    await lab.edit("srt", {**place, "value": "engine:1"}, kind=kinds.CLUSTER_SERVING_RUNTIME)
    await lab.run(30)
    assert lab.condition("UpdateHeld") == {}
    assert lab.uids() == before


async def test_annotations_of_the_former_controller_on_pods_do_not_restart_them(lab: ServiceLab):
    await start(lab)
    await lab.stop_operator()
    note = {"spec": {"template": {"metadata": {"annotations": {labels.SERVICE_TYPE: "ClusterIP"}}}}}
    target = lab.api.target(kinds.DEPLOYMENT, lab.namespace, "chat-engine")
    await lab.api.patch(target, PatchBody(PatchType.MERGE, note), WriteOptions(manager="manager"))
    await lab.run(60)
    await disown(lab)
    before = lab.uids()
    lab.start_operator()
    await lab.run(60)
    assert lab.uids() == before
