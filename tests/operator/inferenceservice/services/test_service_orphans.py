"""A service that is deleted without its objects, and applied again, takes them back."""

import pytest
from service_lab import KIND, RBG, ServiceLab, service, start

from kohort.apis.inferenceservice import labels
from kohort.cluster.kinds import AUTOSCALER, BUDGET, DEPLOYMENT, SERVICE
from kohort.cluster.objects import Object, find_controller


async def forget(lab: ServiceLab) -> None:
    """``kubectl delete --cascade=orphan``, until the service has gone."""
    await lab.delete(KIND, "chat", propagation="Orphan")
    await lab.until(lambda: lab.find(KIND, "chat") is None)


def make_budget(name: str) -> Object:
    """A budget that a user made, with the label of the service."""
    metadata = {"name": name, "labels": {labels.SERVICE_NAME: "chat"}}
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "other"}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata} | {
        "spec": spec
    }


@pytest.mark.parametrize("mode", ["", RBG])
async def test_orphans_are_adopted_and_no_pod_restarts(lab: ServiceLab, mode: str):
    obj = service("engine", "router", mode=mode)
    await start(lab, obj)
    before = lab.uids()
    await forget(lab)
    await lab.apply(obj)
    await lab.until(lab.is_ready, 120)
    assert lab.uids() == before
    uid = lab.service()["metadata"]["uid"]
    for name, kind in (("chat", SERVICE), ("chat-engine", AUTOSCALER)):
        assert find_controller(lab.find(kind, name))["uid"] == uid


async def test_an_orphan_of_the_other_form_goes_when_the_new_one_serves(lab: ServiceLab):
    await start(lab, service("engine"))
    await forget(lab)
    await lab.apply(service("engine", mode=RBG))
    await lab.until(lambda: lab.find(DEPLOYMENT, "chat-engine") is None, 240)
    await lab.until(lab.is_ready, 120)
    assert len(lab.pods("engine")) == 1


async def test_an_object_that_a_user_made_is_not_adopted(lab: ServiceLab):
    await lab.stock()
    await lab.apply(make_budget("mine"))
    await lab.apply(service("engine"))
    await lab.until(lab.is_ready, 120)
    assert find_controller(lab.find(BUDGET, "mine")) is None
