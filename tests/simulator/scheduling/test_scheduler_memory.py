"""What the scheduler keeps is what there is: nothing stays of pods and nodes that went."""

from kohort.cluster.kinds import NODE, POD
from kohort.placement.nodes import NodeIndex, NodeState
from kohort.simulator.scheduling.scheduler import Scheduler
from scheduling_views import TinyWorld, node, pod

HOST = "kubernetes.io/hostname"


def count_entries(scheduler: Scheduler) -> dict[str, int]:
    ledger, queue = scheduler.ledger, scheduler._queue
    book, holders = ledger.book, ledger.holders
    return {
        "ports": len(ledger.ports),
        "label keys": len(book.label_keys) + len(book._pods_with),
        "tallies": len(book._tallies) + len(book._by_pair) + len(book._by_key),
        "holders": len(holders._families) + len(holders._by_pair) + len(holders._by_label),
        "classes": len(queue._classes) + len(queue._parked) + len(queue._for_claim),
        "labels of nodes": len(ledger.index.with_key) + len(ledger.index.with_value),
    }


def choosy(number: int) -> dict:
    """A pod whose labels, ports and terms no other pod has."""
    made = pod(f"p{number}", labels={f"l{number}": "x"})
    made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 1_000 + number}]
    for operator, kind in (("In", "podAffinity"), ("Exists", "podAntiAffinity")):
        values = {"values": ["x"]} if operator == "In" else {}
        chosen = {"matchExpressions": [{"key": f"l{number}", "operator": operator, **values}]}
        terms = [{"labelSelector": chosen, "topologyKey": HOST}]
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        made["spec"].setdefault("affinity", {})[kind] = affinity
    return made


def test_nothing_stays_of_pods_that_were_placed():
    made = TinyWorld(Scheduler())
    made.put(NODE, node("a"))
    before = count_entries(made.component)
    for number in range(20):
        made.put(POD, choosy(number))
        made.settle()
        assert made.placed() == {f"p{number}": "a"}
        made.remove(POD, "default", f"p{number}")
        made.settle()
    assert count_entries(made.component) == before


def test_nothing_stays_of_pods_that_waited():
    made = TinyWorld(Scheduler())
    made.put(NODE, node("a"))
    before = count_entries(made.component)
    for number in range(20):
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": f"c{number}"}}
        made.put(POD, pod("nowhere", nodeSelector={"no": f"x{number}"}))
        made.put(POD, pod("without-claim", volumes=[volume]))
        made.settle()
        assert count_entries(made.component)["classes"] == 3
        made.remove(POD, "default", "nowhere")
        made.remove(POD, "default", "without-claim")
        made.settle()
    assert count_entries(made.component) == before


def test_a_class_stays_as_long_as_one_of_its_pods_waits():
    made = TinyWorld(Scheduler())
    made.put(NODE, node("a", labels={"zone": "x"}))
    for name in ("one", "two", "three"):
        made.put(POD, pod(name, nodeSelector={"zone": "y"}))
    made.settle()
    made.remove(POD, "default", "one")
    made.remove(POD, "default", "three")
    made.put(NODE, node("b", labels={"zone": "y"}))
    made.settle()
    assert made.placed() == {"two": "b"}


def test_nothing_stays_of_the_labels_of_a_node_that_went():
    index = NodeIndex()
    for number in range(20):
        index.put(NodeState(f"n{number}", {f"key{number}": "x"}, (), False, {}))
        index.drop(f"n{number}")
    assert (index.with_key, index.with_value) == ({}, {})
