"""
Objects that a former controller made are taken over: no pod restarts, and its fields become ours.

They are what our own rendering gives, signed by the other's field manager and without the mark of
ours: that both controllers render the same is the matter of golden values elsewhere.
"""

from copy import deepcopy

from service_lab import ServiceLab, kinds, service, start

from kohort.apis.inferenceservice import labels
from kohort.cluster.objects import annotations_of, name_of
from kohort.simulator.api.requests import Patch, PatchType, WriteOptions

VARIABLE = {"name": "FORMER", "value": "1"}


async def disown(lab: ServiceLab) -> None:
    """Make all Deployments look as the former controller left them."""
    for found in lab.all(kinds.DEPLOYMENT):
        fields = deepcopy(found["metadata"]["managedFields"])
        for entry in fields:
            if entry["operation"] == "Apply":
                entry |= {"manager": "manager", "operation": "Update"}
        change = [{"op": "replace", "path": "/metadata/managedFields", "value": fields}]
        target = lab.api.target(kinds.DEPLOYMENT, lab.namespace, name_of(found))
        await lab.api.patch(target, Patch(PatchType.JSON, change), WriteOptions(manager="manager"))
        note = {"metadata": {"annotations": {labels.RENDERED_FROM: None}}}
        await lab.api.patch(target, Patch(PatchType.MERGE, note), WriteOptions(manager="manager"))


def find_variables(lab: ServiceLab) -> list[str]:
    found = lab.find(kinds.DEPLOYMENT, "chat-engine")
    container = found["spec"]["template"]["spec"]["containers"][0]
    return [entry["name"] for entry in container.get("env", ())]


async def test_no_pod_restarts_and_the_mark_is_set(lab: ServiceLab):
    await start(lab, service("engine", "router"))
    await lab.stop_operator()
    await disown(lab)
    before = lab.uids()
    lab.start_operator()
    await lab.run(60)
    assert lab.uids() == before
    for found in lab.all(kinds.DEPLOYMENT):
        assert labels.RENDERED_FROM in annotations_of(found)
        managers = {e["manager"] for e in found["metadata"]["managedFields"]}
        assert "manager" not in managers
    await lab.run(5)
    rest = dict(lab.cluster.tried)
    await lab.run(300)
    assert dict(lab.cluster.tried) == rest


async def test_a_variable_of_the_former_controller_goes_when_nobody_wants_it(lab: ServiceLab):
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
