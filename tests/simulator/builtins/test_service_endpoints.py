"""Endpoints and EndpointSlices of services."""

from typing import Any

from builtins_world import World

from kohort.cluster.kinds import ENDPOINT_SLICE, ENDPOINTS, NODE, POD, SERVICE
from kohort.cluster.objects import Object
from kohort.simulator.builtins.endpoints.controller import EndpointsKeeper


def world_with(pods: int, **spec: Any) -> World:
    world = World(EndpointsKeeper())
    zone = {"topology.kubernetes.io/zone": "zone-1"}
    world.create(NODE, {"metadata": {"name": "node-0", "labels": zone}})
    service = {"selector": {"app": "a"}, "ports": [{"name": "http", "port": 80}], **spec}
    world.create(SERVICE, {"metadata": {"name": "svc", "labels": {"s": "t"}}, "spec": service})
    for index in range(pods):
        add_pod(world, f"p{index:03}")
    world.settle()
    return world


def add_pod(world: World, name: str, ready: bool = True, **spec: Any) -> None:
    world.create(POD, {"metadata": {"name": name, "labels": {"app": "a"}}, "spec": spec})
    world.set_ready(name, ready)


def slices(world: World) -> list[Object]:
    return world.all(ENDPOINT_SLICE)


def test_a_service_without_pods_has_an_empty_slice():
    world = world_with(0)
    (portion,) = slices(world)
    assert portion.get("endpoints") is None and portion.get("ports") is None
    assert portion["metadata"]["labels"] == {
        "s": "t",
        "kubernetes.io/service-name": "svc",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert len(portion["metadata"]["name"]) == len("svc-12345")
    assert "subsets" not in world.read(ENDPOINTS, "svc")


def test_the_empty_slice_is_used_when_pods_come():
    world = world_with(0)
    add_pod(world, "p", hostname="p", subdomain="svc")
    world.settle()
    (portion,) = slices(world)
    pod = world.read(POD, "p")
    target = {"kind": "Pod", "namespace": "default", "name": "p", "uid": pod["metadata"]["uid"]}
    assert portion["endpoints"] == [
        {
            "addresses": [pod["status"]["podIP"]],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "hostname": "p",
            "nodeName": "node-0",
            "targetRef": target,
            "zone": "zone-1",
        }
    ]
    assert portion["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]


def test_endpoints_tell_ready_from_unready_addresses():
    world = world_with(1)
    add_pod(world, "unready", ready=False)
    world.settle()
    (subset,) = world.read(ENDPOINTS, "svc")["subsets"]
    assert [a["targetRef"]["name"] for a in subset["addresses"]] == ["p000"]
    assert [a["targetRef"]["name"] for a in subset["notReadyAddresses"]] == ["unready"]


def test_addresses_that_are_not_ready_are_published_if_asked_for():
    world = world_with(0, publishNotReadyAddresses=True)
    add_pod(world, "unready", ready=False)
    world.settle()
    (portion,) = slices(world)
    conditions = {"ready": True, "serving": False, "terminating": False}
    assert portion["endpoints"][0]["conditions"] == conditions
    assert "addresses" in world.read(ENDPOINTS, "svc")["subsets"][0]


def test_a_pod_that_leaves_is_in_the_slice_and_not_in_the_endpoints():
    world = world_with(1)
    world.delete(POD, "p000")
    world.settle()
    (portion,) = slices(world)
    conditions = {"ready": False, "serving": True, "terminating": True}
    assert portion["endpoints"][0]["conditions"] == conditions
    assert not world.read(ENDPOINTS, "svc").get("subsets")


def test_a_headless_service_is_labelled_and_may_have_no_ports():
    world = world_with(1, clusterIP="None", ports=[])
    (portion,) = slices(world)
    assert portion["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    assert portion["ports"] is None
    assert "ports" not in world.read(ENDPOINTS, "svc")["subsets"][0]


def test_a_named_port_is_found_in_the_pod():
    world = world_with(0, ports=[{"name": "http", "port": 80, "targetPort": "web"}])
    container = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}
    add_pod(world, "p", containers=[container])
    world.settle()
    assert slices(world)[0]["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]


def test_a_slice_holds_a_hundred_and_a_pod_that_goes_changes_one():
    world = world_with(150)
    assert sorted(len(portion["endpoints"]) for portion in slices(world)) == [50, 100]
    before = {p["metadata"]["name"]: p["metadata"]["resourceVersion"] for p in slices(world)}
    world.remove_pod("p001")
    world.settle()
    after = {p["metadata"]["name"]: p["metadata"]["resourceVersion"] for p in slices(world)}
    assert len([name for name in before if before[name] != after[name]]) == 1


def test_endpoints_go_with_their_service():
    world = world_with(1)
    world.delete(SERVICE, "svc")
    world.settle()
    assert not world.exists(ENDPOINTS, "svc")


def test_a_service_without_selector_is_left_alone():
    world = world_with(1, selector=None)
    assert not slices(world) and not world.exists(ENDPOINTS, "svc")


def test_nothing_is_written_when_nothing_changed():
    world = world_with(3)
    world.wake("default/svc")
    assert world.settle() == 0
