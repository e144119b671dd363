"""What wakes a service, and what is kept in memory for all of them."""

import pytest
from service_lab import ServiceLab, kinds, model, runtime, service, start

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster.kinds import (
    AUTOSCALER,
    BUDGET,
    CONFIG_MAP,
    DEPLOYMENT,
    SERVICE,
    SERVICE_ACCOUNT,
)
from kohort.cluster.objects import Kind, labels_of
from kohort.cluster.port import PatchType

LABELLED = (
    CONFIG_MAP,
    SERVICE,
    SERVICE_ACCOUNT,
    kinds.ROLE,
    kinds.ROLE_BINDING,
    DEPLOYMENT,
    AUTOSCALER,
    BUDGET,
)


def count_looks(lab: ServiceLab) -> list[str]:
    """The names of services, each time one is looked at from now on."""
    looks: list[str] = []
    controller = lab.operator.controllers[0]
    controller.record = lambda key, result, seconds: looks.append(key[1])
    return looks


async def patch(lab: ServiceLab, kind: Kind, name: str, body: dict, part: str = "") -> None:
    target = lab.api.target(kind, "", name, part)
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="agent"))
    await lab.run(5)


async def test_a_new_status_of_its_model_wakes_no_service(lab: ServiceLab):
    await start(lab)
    looks = count_looks(lab)
    body = {"status": {"nodesFailed": ["node-9"]}}
    await patch(lab, kinds.CLUSTER_BASE_MODEL, "llama", body, "status")
    assert looks == []


@pytest.mark.parametrize(("name", "wakes"), [("llama", True), ("other", False)])
async def test_an_edit_of_a_model_wakes_only_services_that_use_it(
    lab: ServiceLab, name: str, wakes: bool
):
    await lab.stock(model(), model("other"), runtime())
    await lab.apply(service())
    await lab.until(lab.is_ready, 120)
    await lab.run(10)
    looks = count_looks(lab)
    await patch(lab, kinds.CLUSTER_BASE_MODEL, name, {"spec": {"vendor": "acme"}})
    assert bool(looks) is wakes


async def test_objects_of_others_are_not_cached(lab: ServiceLab):
    metadata = {"name": "theirs"}
    await lab.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}})
    await start(lab, service("engine", "router"))
    held = {kind.kind: list(cache) for kind, cache in lab.operator.controllers[0].children}
    for kind in LABELLED[:6]:
        names = {entry.key[1] for entry in held[kind]}
        assert names and all(name.startswith(("chat", "modelconfig")) for name in names)
    named = [cache for ref, cache in lab.operator.controllers[0].references if ref.only]
    assert [list(cache) for cache in named] == [[]]


@pytest.mark.parametrize("mode", ["", "RoleBasedGroup"])
async def test_all_objects_of_a_service_have_its_label(lab: ServiceLab, mode: str):
    await start(lab, service("engine", "decoder", "router", mode=mode))
    uid = lab.service()["metadata"]["uid"]
    for kind in LABELLED:
        for obj in lab.all(kind):
            owners = {each["uid"] for each in obj["metadata"].get("ownerReferences") or ()}
            if uid in owners:
                assert labels_of(obj)[labels.SERVICE_NAME] == "chat"
