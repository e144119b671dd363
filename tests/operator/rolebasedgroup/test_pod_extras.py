"""Ports, addresses of other components, and nodes that recreated pods prefer."""

import json
from typing import Any

import pytest
from group_lab import GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.ports import choose_ports
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, name_of

RECREATE = {"rollingUpdate": {"type": "RecreatePod", "maxUnavailable": 2}}


def component(name: str, size: int = 1, **notes: Any) -> Object:
    held = {key: json.dumps(value) for key, value in notes.items()}
    found = {
        "component_discovery": labels.DISCOVERY,
        "port_allocator": labels.PORT_ALLOCATOR,
    }
    metadata = {"annotations": {found[key]: text for key, text in held.items()}}
    spec = {"containers": [{"name": "c", "image": "c:1"}]}
    return {"name": name, "size": size, "template": {"metadata": metadata, "spec": spec}}


def asks(name: str, env: str, scope: str, **more: str) -> Object:
    return {"allocations": [{"name": name, "env": env, "scope": scope, **more}]}


def served(replicas: int = 2) -> Object:
    """Workers with ports of their own, and a router that is told all of them."""
    refs = {
        "addressRefs": [{"env": "STORE", "component": "store", "index": 0}],
        "portRefs": [
            {"env": "STORE_PORT", "component": "store", "portName": "rpc"},
            {"env": "WORKER_1", "component": "worker", "portName": "http", "index": 1},
        ],
    }
    listed = [
        component("store", port_allocator=asks("rpc", "PORT", "RoleScoped", annotationKey="a/p")),
        component("worker", 2, port_allocator=asks("http", "PORT", "PodScoped")),
        component("router", component_discovery=refs),
    ]
    pattern = {"customComponentsPattern": {"components": listed}}
    return {"name": "kv", "replicas": replicas, **pattern}


def env_of(pod: Object) -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in pod["spec"]["containers"][0]["env"]}


class TestPorts:
    async def test_each_pod_has_a_port_of_its_own_and_a_role_has_one(self, lab: GroupLab):
        await start(lab, served())
        pods = lab.pods()
        workers = [env_of(pods[f"x-kv-{i}-worker-{j}"])["PORT"] for i in (0, 1) for j in (0, 1)]
        stores = {env_of(pods[f"x-kv-{i}-store-0"])["PORT"] for i in (0, 1)}
        assert len(set(workers)) == 4 and len(stores) == 1 and not stores & set(workers)
        assert all(30_000 <= int(port) < 35_000 for port in (*workers, *stores))
        assert {annotations_of(pods[f"x-kv-{i}-store-0"])["a/p"] for i in (0, 1)} == stores

    async def test_ports_stand_on_instances_and_sets_by_upstreams_keys(self, lab: GroupLab):
        await start(lab, served())
        (held,) = lab.all(labels.INSTANCE_SET)
        assert "store.rpc" in annotations_of(held)
        instance = lab.find(labels.INSTANCE, "x-kv-0")
        assert instance is not None
        assert {"x-kv-0-worker-0.http", "x-kv-0-worker-1.http"} <= set(annotations_of(instance))

    async def test_a_component_gets_addresses_and_ports_of_others(self, lab: GroupLab):
        await start(lab, served())
        pods = lab.pods()
        router = env_of(pods["x-kv-1-router-0"])
        assert router["STORE"] == "x-kv-1-store-0.s-x-kv.default.svc.cluster.local"
        assert router["STORE_PORT"] == env_of(pods["x-kv-1-store-0"])["PORT"]
        assert router["WORKER_1"] == env_of(pods["x-kv-1-worker-1"])["PORT"]

    async def test_a_pod_that_is_made_anew_has_its_port_again(self, lab: GroupLab):
        await start(lab, served())
        before = env_of(lab.pods()["x-kv-0-worker-0"])["PORT"]
        await lab.stop_operator()
        lab.start_operator()
        old = lab.uids()
        await lab.delete(kinds.POD, "x-kv-0-worker-0")
        await lab.until(lambda: len(lab.pods()) == len(old) and lab.uids() != old)
        assert env_of(lab.pods()["x-kv-0-worker-0"])["PORT"] == before

    async def test_a_role_is_told_the_port_of_another(self, lab: GroupLab):
        wants = {"references": [{"env": "KV_PORT", "from": "kv.store.rpc"}]}
        client = component("client", port_allocator=wants)
        role = {"name": "web", "replicas": 1}
        role["customComponentsPattern"] = {"components": [client]}
        await start(lab, served(1), role)
        pods = lab.pods()
        assert env_of(pods["x-web-0-client-0"])["KV_PORT"] == env_of(pods["x-kv-0-store-0"])["PORT"]

    async def test_at_rest_nothing_is_written_about_ports(self, lab: GroupLab):
        await start(lab, served())
        await lab.run(5)
        before = dict(lab.cluster.tried)
        await lab.run(600)
        assert dict(lab.cluster.tried) == before

    async def test_an_instance_that_lost_its_ports_gets_new_ones(self, lab: GroupLab):
        await start(lab, served(1))
        path = "/metadata/annotations/x-kv-0-worker-0.http"
        await lab.edit("x-kv-0", {"op": "remove", "path": path}, kind=labels.INSTANCE)
        old = lab.uids()
        await lab.delete(kinds.POD, "x-kv-0-worker-0")
        await lab.until(lambda: len(lab.pods()) == len(old) and lab.uids() != old)
        assert env_of(lab.pods()["x-kv-0-worker-0"])["PORT"]


def lone(scope: str) -> Object:
    """A role of one pod that asks for one port."""
    listed = [component("worker", port_allocator=asks("http", "PORT", scope))]
    return {"name": "kv", "replicas": 1, "customComponentsPattern": {"components": listed}}


def first_choice(name: str, scope: str) -> int:
    """The port that a group of that name would have in an empty cluster."""
    is_pod = scope == "PodScoped"
    key = f"{name}-kv-0-worker-0.http" if is_pod else "worker.http"
    owner = f"default/{name}-kv-0" if is_pod else f"default/{name}-kv"
    return choose_ports([key], (), owner=owner)[key]


def find_rival(scope: str) -> str:
    """The name of another group whose first choice is the same."""
    asked = first_choice("x", scope)
    return next(f"g{n}" for n in range(100_000) if first_choice(f"g{n}", scope) == asked)


class TestPortsOfSeveralGroups:
    @pytest.mark.parametrize("scope", ["PodScoped", "RoleScoped"])
    async def test_a_group_takes_no_port_that_another_has(self, lab: GroupLab, scope: str):
        await start(lab, lone(scope))
        name, second = find_rival(scope), group(lone(scope))
        second["metadata"]["name"] = name
        await lab.apply(second)
        await lab.until(lambda: f"{name}-kv-0-worker-0" in lab.pods())
        ports = [env_of(pod)["PORT"] for pod in lab.pods().values()]
        assert len(ports) == len(set(ports)) == 2

    @pytest.mark.parametrize("scope", ["PodScoped", "RoleScoped"])
    async def test_groups_that_choose_at_the_same_moment_end_with_two_ports(
        self, lab: GroupLab, scope: str
    ):
        second = group(lone(scope))
        second["metadata"]["name"] = find_rival(scope)
        await lab.apply(group(lone(scope)))
        await lab.apply(second)
        await lab.until(lambda: len(lab.pods()) == 2)
        ports = {env_of(pod)["PORT"] for pod in lab.pods().values()}
        owners = lab.all(labels.INSTANCE if scope == "PodScoped" else labels.INSTANCE_SET)
        stored = [a for owner in owners for a in annotations_of(owner).values()]
        assert len(ports) == 2 and ports <= set(stored)


def settled(mode: str = "Preferred", **more: str) -> dict[str, str]:
    return {labels.IN_PLACE_SCHEDULING: mode, **more}


def nodes_of(lab: GroupLab) -> dict[str, str]:
    return {name: pod["spec"].get("nodeName", "") for name, pod in lab.pods().items()}


def remembers(lab: GroupLab, name: str = "x-router") -> dict[str, list[str]]:
    found = lab.find(labels.INSTANCE_SET, name)
    assert found is not None
    held: dict[str, list[str]] = json.loads(annotations_of(found).get(labels.FORMER_NODES, "{}"))
    return held


def group_nodes(lab: GroupLab) -> dict[str, set[str]]:
    """The nodes of leaders, and those of workers."""
    found: dict[str, set[str]] = {}
    for name, node in nodes_of(lab).items():
        found.setdefault(name.rpartition("-")[2], set()).add(node)
    return found


class TestFormerNodes:
    async def test_defect_22_a_pod_returns_to_its_node_after_a_restart_of_the_operator(
        self, lab: GroupLab
    ):
        role = standalone(replicas=3, annotations=settled(), rolloutStrategy=RECREATE)
        await start(lab, role)
        await lab.until(lambda: len(remembers(lab)) == 3)
        before = nodes_of(lab)
        await lab.stop_operator()
        lab.start_operator()
        await lab.set_image("engine:2")
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
        assert nodes_of(lab) == before
        for name, pod in lab.pods().items():
            rules = pod["spec"]["affinity"]["nodeAffinity"]
            (term,) = rules["preferredDuringSchedulingIgnoredDuringExecution"]
            assert term["preference"]["matchExpressions"][0]["values"] == [before[name]]

    async def test_a_component_returns_to_any_node_of_its_own(self, lab: GroupLab):
        notes = settled(**{labels.IN_PLACE_GRANULARITY: "Component"})
        await start(lab, leader_worker(annotations=notes))
        await lab.until(
            lambda: set(remembers(lab, "x-engine")) == {"engine-leader", "engine-worker"}
        )
        leaders = {n for name, n in nodes_of(lab).items() if name.endswith("-0")}
        assert set(remembers(lab, "x-engine")["engine-leader"]) == leaders
        before = lab.uids()
        await lab.delete(kinds.POD, "x-engine-0-1")
        await lab.until(
            lambda: lab.uids().get("x-engine-0-1") not in (None, before["x-engine-0-1"])
        )
        terms = lab.pods()["x-engine-0-1"]["spec"]["affinity"]["nodeAffinity"]
        (term,) = terms["preferredDuringSchedulingIgnoredDuringExecution"]
        named = term["preference"]["matchExpressions"][0]["values"]
        assert named == remembers(lab, "x-engine")["engine-worker"]

    async def test_a_required_node_to_avoid_leaves_the_pod_pending(self, lab: GroupLab):
        notes = settled("Required", **{labels.IN_PLACE_AVOID: "example.com/bad"})
        await start(lab, standalone(replicas=1, annotations=notes))
        await lab.until(lambda: bool(remembers(lab)))
        node = nodes_of(lab)["x-router-0"]
        mark = {"op": "add", "path": "/metadata/labels/example.com~1bad", "value": "1"}
        await lab.edit(node, mark, kind=kinds.NODE)
        await lab.delete(kinds.POD, "x-router-0")
        await lab.run(60)
        assert nodes_of(lab) == {"x-router-0": ""}

    async def test_components_stay_on_nodes_of_their_own_over_an_upgrade(self, lab: GroupLab):
        notes = settled(**{labels.IN_PLACE_GRANULARITY: "Component"})
        await start(lab, leader_worker(annotations=notes, rolloutStrategy=RECREATE))
        await lab.until(lambda: len(remembers(lab, "x-engine")) == 2)
        before, uids = group_nodes(lab), set(lab.uids().values())
        await lab.set_image("engine:2", 0, "leaderWorkerPattern")
        await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
        assert not uids & set(lab.uids().values())
        assert group_nodes(lab) == before

    async def test_avoided_nodes_are_left_where_others_are_allowed(self, lab: GroupLab):
        notes = settled(**{labels.IN_PLACE_AVOID: "example.com/bad"})
        await start(lab, standalone(replicas=1, annotations=notes))
        node = nodes_of(lab)["x-router-0"]
        mark = {"op": "add", "path": "/metadata/labels/example.com~1bad", "value": "1"}
        await lab.edit(node, mark, kind=kinds.NODE)
        await lab.delete(kinds.POD, "x-router-0")
        await lab.until(lambda: nodes_of(lab).get("x-router-0") not in (None, "", node))

    async def test_a_node_that_is_gone_is_forgotten(self, lab: GroupLab):
        await start(lab, standalone(replicas=1, annotations=settled("Required")))
        await lab.until(lambda: bool(remembers(lab)))
        node = nodes_of(lab)["x-router-0"]
        lab.namespace = ""
        await lab.delete(kinds.NODE, node)
        lab.namespace = "default"
        await lab.until(lambda: nodes_of(lab).get("x-router-0", node) not in (node, ""), 900)

    async def test_nodes_cost_one_write_and_none_at_rest(self, lab: GroupLab):
        await start(lab, standalone(replicas=8, annotations=settled()))
        await lab.run(10)
        assert lab.cluster.tried["patch", "RoleInstanceSet"] == 2  # the other one made it
        before = dict(lab.cluster.tried)
        await lab.run(600)
        assert dict(lab.cluster.tried) == before

    async def test_without_the_annotation_nothing_is_remembered(self, lab: GroupLab):
        await lab.apply(group(standalone(replicas=1)))
        await lab.until(lab.is_done)
        assert name_of(lab.all(labels.INSTANCE_SET)[0]) == "x-router" and not remembers(lab)
