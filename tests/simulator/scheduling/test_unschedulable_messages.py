"""What an unschedulable pod is told; each text was seen from a real kube-scheduler 1.36."""

from test_placing_examples import HOST, place, required, world

from kohort.cluster.kinds import NODE, POD
from scheduling_views import node, pod

TAIL = "no new claims to deallocate, preemption: 0/2 nodes are available: "
HELPLESS = "2 Preemption is not helpful for scheduling."
NO_VICTIMS = "2 No preemption victims found for incoming pod."


def told(*pods: dict) -> str:
    made = world(node("a"), node("b"))
    place(made, *pods)
    (condition,) = made.pod(pods[-1]["metadata"]["name"])["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "False")
    assert condition["reason"] == "Unschedulable"
    assert made.events()[-1] == f"FailedScheduling: {condition['message']}"
    return str(condition["message"])


def test_nodes_that_lack_several_resources_are_counted_for_each():
    expected = "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory. "
    assert told(pod("p", requests={"memory": "1Ti", "cpu": "100"})) == expected + TAIL + HELPLESS


def test_room_that_others_took_could_be_given_back():
    pods = [pod(f"p{i}", requests={"cpu": "8"}) for i in range(3)]
    expected = "0/2 nodes are available: 2 Insufficient cpu. "
    assert told(*pods) == expected + TAIL + NO_VICTIMS


def test_a_selector_that_no_node_matches():
    expected = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. "
    assert told(pod("p", nodeSelector={"a": "b"})) == expected + TAIL + HELPLESS


def test_company_that_is_not_there():
    near = required("podAffinity", HOST, {"matchLabels": {"a": "b"}})
    expected = "0/2 nodes are available: 2 node(s) didn't match pod affinity rules. "
    assert told(pod("p", affinity=near)) == expected + TAIL + HELPLESS


def test_a_label_that_spreading_needs_is_missing():
    rule = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    expected = (
        "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints "
        "(missing required label). "
    )
    assert told(pod("p", topologySpreadConstraints=[rule])) == expected + TAIL + HELPLESS


def test_cordons_taints_and_full_nodes_are_told_apart():
    made = world(
        node("a", unschedulable=True),
        node("b", taints=[{"key": "k", "effect": "NoExecute"}]),
        node("c", room={"pods": "1"}),
    )
    place(made, pod("first"), pod("second"))
    (condition,) = made.pod("second")["status"]["conditions"]
    assert condition["message"] == (
        "0/3 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are "
        "available: 1 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )


def test_a_cluster_without_nodes():
    made = world()
    place(made, pod("p"))
    assert made.events() == ["FailedScheduling: no nodes available to schedule pods"]


def test_the_message_is_written_only_when_it_changes():
    made = world(node("a", room={"cpu": "1"}))
    place(made, pod("p", requests={"cpu": "2"}))
    assert made.settle(600) == []
    made.put(NODE, node("b", room={"cpu": "1"}))
    changed = made.settle()
    assert len(changed) == 2
    made.put(POD, made.pod("p"))
    assert made.settle() == []


def test_a_claim_that_does_not_exist():
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}
    expected = '0/2 nodes are available: persistentvolumeclaim "nope" not found. not found'
    assert told(pod("p", volumes=[volume])) == expected
