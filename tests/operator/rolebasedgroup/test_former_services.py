"""Services that former versions named as their workload: pods and addresses name them, too."""

import pytest
from group_lab import GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of, owner_reference

CARRIED = {labels.WORKLOAD_TYPE: "apps/v1/StatefulSet"}


def service(name: str = "x-router", **metadata: object) -> Object:
    marks = {labels.GROUP_NAME: "x", labels.ROLE_NAME: "router"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": marks, **metadata},
        "spec": {"clusterIP": "None", "selector": marks},
    }


def stateful_set(owner: Object, **more: object) -> Object:
    """The StatefulSet of the role, as a former version made it."""
    marks = {labels.GROUP_NAME: "x", labels.ROLE_NAME: "router"}
    pod = {"containers": [{"name": "engine", "image": "engine:1"}]}
    template = {"metadata": {"labels": marks}, "spec": pod}
    fixed = {"serviceName": "x-router", "selector": {"matchLabels": marks}, **more}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": "x-router",
            "labels": marks,
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {"replicas": 2, "template": template, **fixed},
    }


def list_services(lab: GroupLab) -> list[str]:
    return [name_of(obj) for obj in lab.all(kinds.SERVICE) if name_of(obj) != "kubernetes"]


def find_addresses(lab: GroupLab) -> str:
    (config,) = [c for c in lab.all(kinds.CONFIG_MAP) if name_of(c) == "x"]
    text: str = config["data"]["config.yaml"]
    return text


async def test_pods_and_addresses_name_the_service_that_the_group_has(lab: GroupLab):
    await lab.apply(service())
    await start(lab, standalone(replicas=1))
    assert list_services(lab) == ["x-router"]
    assert {pod["spec"]["subdomain"] for pod in lab.pods().values()} == {"x-router"}
    assert "x-router-0.x-router\n" in find_addresses(lab)


async def test_workers_find_their_leader_by_the_service_that_the_group_has(lab: GroupLab):
    await lab.apply(service("x-engine"))
    await start(lab, leader_worker(replicas=1))
    (container,) = lab.pods()["x-engine-0-1"]["spec"]["containers"]
    values = {each["name"]: each.get("value") for each in container["env"]}
    assert values["RBG_LWP_LEADER_ADDRESS"].endswith("-0.x-engine.default")


@pytest.mark.parametrize("management", ["Parallel", "OrderedReady"])
async def test_a_stateful_set_with_a_service_of_a_former_name_can_be_changed(
    lab: GroupLab, management: str
):
    """Neither field can change, so an apply of another value was refused for ever."""
    await lab.stop_operator()
    await lab.apply(service())
    made = await lab.apply(group(standalone(annotations=CARRIED)))
    await lab.apply(stateful_set(made, podManagementPolicy=management))
    lab.start_operator()
    await lab.until(lab.is_done, 240)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
    assert list_services(lab) == ["x-router"]


async def test_a_running_set_keeps_the_name_that_its_pods_have(lab: GroupLab):
    await start(lab, standalone(replicas=1))
    before = lab.uids()
    await lab.apply(service())
    await lab.run(30)
    await lab.set_field("/spec/roles/0/replicas", 2)
    await lab.until(lambda: lab.is_done() and len(lab.pods()) == 2)
    assert before.items() <= lab.uids().items()
    assert {pod["spec"]["subdomain"] for pod in lab.pods().values()} == {"s-x-router"}


@pytest.mark.parametrize("kind", ["InferenceService", ""])
async def test_a_service_of_another_client_is_not_taken(lab: GroupLab, kind: str):
    other = {"apiVersion": "ome.io/v1beta1", "kind": kind, "name": "x", "uid": "of-another"}
    mine = {"ownerReferences": [{**other, "controller": True}]} if kind else {"labels": {}}
    await lab.apply(service(**mine))
    await start(lab, standalone(replicas=1))
    assert {pod["spec"]["subdomain"] for pod in lab.pods().values()} == {"s-x-router"}
