"""The administrator's ConfigMap is deleted or edited badly, and names are held by others."""

import json

from service_lab import KIND, ServiceLab, service, start

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.cluster.kinds import AUTOSCALER, CONFIG_MAP, INGRESS, SERVICE
from kohort.cluster.objects import Object, find_controller
from kohort.cluster.port import PatchType

NAME = "inferenceservice-config"
INGRESSES: Object = {"ingressGateway": "g", "ingressService": "s", "ingressDomain": "example.org"}


def write(ingress: Object) -> Object:
    metadata = {"name": NAME, "namespace": "ome"}
    data = {"ingress": json.dumps(ingress)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def configure(lab: ServiceLab, ingress: Object) -> None:
    await lab.api.create(lab.api.target(CONFIG_MAP, "ome"), write(ingress), WriteOptions())


async def begin(lab: ServiceLab, ingress: Object) -> None:
    """A service that serves under a configuration."""
    await lab.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ome"}})
    await configure(lab, ingress)
    await start(lab)


async def test_a_deleted_configuration_takes_no_host_away(lab: ServiceLab):
    await begin(lab, INGRESSES)
    before = lab.find(INGRESS, "chat")
    await lab.api.delete(lab.api.target(CONFIG_MAP, "ome", NAME), DeleteOptions())
    await lab.run(30)
    assert lab.find(INGRESS, "chat") == before
    ready = lab.condition()
    assert (ready["status"], ready["reason"]) == ("False", "InternalError")
    assert "ConfigMap inferenceservice-config is missing in namespace ome" in ready["message"]
    assert "Ingress chat came of it" in ready["message"]
    await configure(lab, INGRESSES)
    await lab.until(lab.is_ready)
    assert lab.find(INGRESS, "chat") == before


async def test_after_a_deleted_configuration_a_user_may_do_without_hosts(lab: ServiceLab):
    await begin(lab, INGRESSES)
    await lab.api.delete(lab.api.target(CONFIG_MAP, "ome", NAME), DeleteOptions())
    await lab.run(5)
    await lab.annotate(labels.INGRESS_DISABLE_CREATION, "true")
    await lab.until(lambda: lab.is_ready() and lab.find(INGRESS, "chat") is None)
    assert lab.find(SERVICE, "chat") is not None


async def test_a_switch_that_is_a_text_changes_no_exposure(lab: ServiceLab):
    """Upstream cannot read it either; to take it for false would replace the Service."""
    await begin(lab, {**INGRESSES, "disableIngressCreation": True})
    before = lab.find(SERVICE, "chat")
    target = lab.api.target(CONFIG_MAP, "ome", NAME)
    body = {"data": write({**INGRESSES, "disableIngressCreation": "true"})["data"]}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="admin"))
    await lab.run(30)
    assert lab.find(INGRESS, "chat") is None
    assert lab.find(SERVICE, "chat") == before
    assert lab.condition()["message"] == (
        "disableIngressCreation in key ingress of ConfigMap inferenceservice-config must be true "
        'or false, not "true"'
    )


async def test_an_autoscaler_of_a_user_with_our_name_and_label_is_left_alone_and_named(
    lab: ServiceLab,
):
    await lab.stock()
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}
    foreign = {
        "apiVersion": "autoscaling/v2",
        "kind": AUTOSCALER.name,
        "metadata": {"name": "chat-engine", "labels": {labels.SERVICE_NAME: "chat"}},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 3},
    }
    await lab.apply(foreign)
    before = lab.find(AUTOSCALER, "chat-engine")
    await lab.apply(service())
    await lab.run(30)
    after = lab.find(AUTOSCALER, "chat-engine")
    assert (after["spec"], find_controller(after)) == (before["spec"], None)
    stalled = lab.condition("Stalled")
    assert "HorizontalPodAutoscaler chat-engine exists and lacks our labels" in stalled["message"]
    await lab.delete(AUTOSCALER, "chat-engine")
    uid = lab.service()["metadata"]["uid"]
    await lab.until(
        lambda: (
            (find_controller(lab.find(AUTOSCALER, "chat-engine") or {}) or {}).get("uid") == uid
        ),
        60,
    )


async def test_a_service_made_anew_waits_for_no_object_of_the_one_before(lab: ServiceLab):
    """Objects of the former uid are collected; their names are no other owner's."""
    await start(lab)
    former = lab.service()["metadata"]["uid"]
    await lab.delete(KIND, "chat")
    await lab.apply(service())
    await lab.until(lab.is_ready, 60)
    assert lab.service()["metadata"]["uid"] != former
    assert find_controller(lab.find(AUTOSCALER, "chat-engine"))["uid"] != former
