"""What happens to a node that fails, and to the pods on it."""

from typing import Any

from kohort.cluster.kinds import NODE, POD
from kohort.simulator.component import DeleteRequest
from kohort.simulator.nodes import NodeMake, Nodes, make_node, name_node
from scheduling_views import TinyWorld, pod

STAMP = "2026-01-01T00:00:00Z"
TOLERATIONS = [
    {
        "key": f"node.kubernetes.io/{name}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for name in ("not-ready", "unreachable")
]


def make_world() -> TinyWorld:
    world = TinyWorld(Nodes())
    world.put(NODE, make_node(0, NodeMake(nodes=2), STAMP))
    return world


def running(name: str = "p", **spec: Any) -> dict:
    spec.setdefault("tolerations", TOLERATIONS)
    made = pod(name, nodeName="gpu-00", **spec)
    made["status"] = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": STAMP}],
    }
    return made


def annotate(world: TinyWorld, name: str, value: str | None) -> None:
    node = world.node("gpu-00")
    annotations = node["metadata"].setdefault("annotations", {})
    annotations.pop(f"sim.kohort.dev/{name}", None)
    if value is not None:
        annotations[f"sim.kohort.dev/{name}"] = value
    world.put(NODE, node)


def ready(world: TinyWorld) -> dict:
    conditions = world.node("gpu-00")["status"]["conditions"]
    return next(c for c in conditions if c["type"] == "Ready")


def taints(world: TinyWorld) -> list[tuple[str, str]]:
    found = world.node("gpu-00")["spec"].get("taints", [])
    return [(t["key"].rpartition("/")[2], t["effect"]) for t in found]


def test_names_have_as_many_digits_as_the_last_one_needs():
    assert [name_node(i, 8) for i in (0, 7)] == ["gpu-00", "gpu-07"]
    assert name_node(7, 1000) == "gpu-007"
    assert name_node(1000, 1001) == "gpu-1000"


def test_racks_are_filled_one_after_the_other():
    make = NodeMake(nodes=8, racks=2)
    labels = [make_node(i, make, STAMP)["metadata"]["labels"] for i in range(8)]
    racks = [item["topology.kohort.dev/rack"] for item in labels]
    assert racks == ["rack-0"] * 4 + ["rack-1"] * 4


def test_a_healthy_node_at_rest_is_never_written():
    world = make_world()
    assert world.settle(86400) == []


def test_a_node_without_conditions_becomes_ready():
    world = TinyWorld(Nodes())
    capacity = {"cpu": "4", "pods": "10"}
    world.put(NODE, {"metadata": {"name": "gpu-00"}, "spec": {}, "status": {"capacity": capacity}})
    world.settle()
    assert ready(world)["status"] == "True"
    assert world.node("gpu-00")["status"]["allocatable"] == capacity
    assert world.settle(3600) == []


def test_a_cordon_is_also_a_taint():
    world = make_world()
    node = world.node("gpu-00")
    node["spec"]["unschedulable"] = True
    world.put(NODE, node)
    world.settle()
    assert taints(world) == [("unschedulable", "NoSchedule")]
    node = world.node("gpu-00")
    node["spec"]["unschedulable"] = False
    world.put(NODE, node)
    world.settle()
    assert taints(world) == []


def test_a_silent_node_is_noticed_after_a_while():
    world = make_world()
    world.put(POD, running())
    annotate(world, "failed", "true")
    assert world.settle(39) == []
    world.settle(1)
    assert (ready(world)["status"], ready(world)["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert taints(world) == [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
    assert world.pod("p")["status"]["conditions"][0]["status"] == "False"
    assert "Node gpu-00 status is now: NodeNotReady" in " ".join(world.events())


def test_its_pods_leave_when_their_toleration_is_over():
    world = make_world()
    world.put(POD, running())
    annotate(world, "failed", "true")
    world.settle(339)
    assert "deletionTimestamp" not in world.pod("p")["metadata"]
    world.settle(1)
    assert "deletionTimestamp" in world.pod("p")["metadata"]
    assert world.pod("p")["status"]["conditions"][-1]["reason"] == "DeletionByTaintManager"
    assert "TaintManagerEviction: Marking for deletion Pod default/p" in world.events()
    assert world.settle(86400) == []


def test_pods_that_tolerate_nothing_leave_at_once_and_some_never():
    world = make_world()
    world.put(POD, running("hasty", tolerations=[]))
    world.put(POD, running("steady", tolerations=[{"operator": "Exists"}]))
    annotate(world, "failed", "true")
    world.settle(41)
    assert "deletionTimestamp" in world.pod("hasty")["metadata"]
    world.settle(86400)
    assert "deletionTimestamp" not in world.pod("steady")["metadata"]


def test_the_shortest_of_several_tolerations_counts():
    world = make_world()
    short = [{**toleration, "tolerationSeconds": 60} for toleration in TOLERATIONS]
    world.put(POD, running(tolerations=[*TOLERATIONS, *short]))
    annotate(world, "failed", "true")
    world.settle(41 + 61)
    assert "deletionTimestamp" in world.pod("p")["metadata"]


def test_a_node_that_comes_back_is_ready_and_keeps_its_pods():
    world = make_world()
    world.put(POD, running())
    annotate(world, "failed", "true")
    world.settle(100)
    annotate(world, "failed", None)
    world.settle(600)
    assert ready(world)["status"] == "True"
    assert taints(world) == []
    assert "deletionTimestamp" not in world.pod("p")["metadata"]
    annotate(world, "failed", "true")
    world.settle(300)
    assert "deletionTimestamp" not in world.pod("p")["metadata"]


def test_a_node_can_be_not_ready():
    world = make_world()
    annotate(world, "not-ready", "true")
    world.settle()
    assert (ready(world)["status"], taints(world)[0]) == ("False", ("not-ready", "NoSchedule"))


def test_foreign_taints_stay_and_evict_too():
    world = make_world()
    world.put(POD, running())
    node = world.node("gpu-00")
    node["spec"]["taints"] = [{"key": "maintenance", "effect": "NoExecute"}]
    world.put(NODE, node)
    world.settle()
    assert taints(world) == [("maintenance", "NoExecute")]
    assert "deletionTimestamp" in world.pod("p")["metadata"]


def test_pods_of_a_node_that_is_gone_are_collected():
    world = make_world()
    world.put(POD, running())
    world.remove(NODE, "", "gpu-00")
    world.settle(39)
    assert world.find(POD, "default", "p") is not None
    actions = world.settle(1)
    assert world.find(POD, "default", "p") is None
    assert isinstance(actions[-1], DeleteRequest)
    assert actions[-1].grace_seconds == 0


def test_a_pod_that_leaves_without_a_node_is_removed():
    world = make_world()
    world.put(POD, pod("p"))
    world.start_deleting("p")
    world.settle()
    assert world.find(POD, "default", "p") is None
