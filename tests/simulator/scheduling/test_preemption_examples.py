"""Pods of higher priority make room for themselves."""

from hypothesis import given, settings
from hypothesis import strategies as st
from test_placing_examples import place, world
from test_placing_properties import cluster_of

from kohort.cluster.kinds import NODE, POD
from kohort.simulator.component import DeleteRequest
from scheduling_views import TinyWorld, node, pod


def leaving(made: TinyWorld) -> list[str]:
    return sorted(e.name for e in made.all(POD) if e.facts.is_leaving)


def test_the_least_important_pods_go_and_the_room_is_kept():
    made = world(node("a", room={"cpu": "4"}))
    place(made, *(pod(f"p{i}", requests={"cpu": "1"}, priority=i) for i in range(4)))
    place(made, pod("vip", requests={"cpu": "2"}, priority=9))
    assert leaving(made) == ["p0", "p1"]
    assert made.pod("vip")["status"]["nominatedNodeName"] == "a"
    made.remove(POD, "default", "p0")
    made.put(POD, pod("quick", requests={"cpu": "1"}))
    assert len(made.settle()) < 10
    assert "quick" not in made.placed() and "vip" not in made.placed()
    made.remove(POD, "default", "p1")
    made.settle()
    assert made.placed()["vip"] == "a"
    assert leaving(made) == []


def test_what_is_said_while_victims_leave():
    made = world(node("a", room={"cpu": "1"}))
    place(made, pod("low", requests={"cpu": "1"}))
    place(made, pod("vip", requests={"cpu": "1"}, priority=9))
    uid = made.pod("vip")["metadata"]["uid"]
    assert f"Preempted: Preempted by pod {uid} on node a" in made.events()
    assert "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu." in made.events()
    reasons = [c.get("reason") for c in made.pod("low")["status"]["conditions"]]
    assert "PreemptionByScheduler" in reasons


def test_pods_of_equal_priority_and_those_that_never_preempt_evict_no_pod():
    made = world(node("a", room={"cpu": "1"}))
    place(made, pod("low", requests={"cpu": "1"}))
    place(made, pod("same", requests={"cpu": "1"}))
    place(made, pod("patient", requests={"cpu": "1"}, priority=9, preemptionPolicy="Never"))
    assert not [action for action in made.log if isinstance(action, DeleteRequest)]


def test_no_pod_is_preempted_where_it_would_not_help():
    made = world(
        node("a", room={"cpu": "4"}), node("b", taints=[{"key": "t", "effect": "NoSchedule"}])
    )
    place(made, pod("low", requests={"cpu": "4"}))
    place(made, pod("vip", requests={"cpu": "5"}, priority=9))
    assert leaving(made) == []


def test_a_reservation_ends_with_its_pod_or_its_node():
    for end in ("pod", "node"):
        made = world(node("a", room={"cpu": "1"}))
        place(made, pod("low", requests={"cpu": "1"}))
        place(made, pod("vip", requests={"cpu": "1"}, priority=9))
        if end == "pod":
            made.remove(POD, "default", "vip")
        else:
            made.remove(NODE, "", "a")
            made.remove(POD, "default", "vip")
            made.put(NODE, node("a", room={"cpu": "1"}))
        made.remove(POD, "default", "low")
        assert place(made, pod("next", requests={"cpu": "1"})) == {"next": "a"}


SIZES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), SIZES)
def test_victims_are_worth_it_and_it_all_comes_to_rest(rooms: list[int], sizes: list):
    made = world(*(node(f"n{i}", room={"cpu": str(cpu)}) for i, cpu in enumerate(rooms)))
    for number, (cpu, priority) in enumerate(sizes):
        place(made, pod(f"p{number}", requests={"cpu": str(cpu)}, priority=priority))
        while gone := leaving(made):
            for name in gone:
                assert made.pod(name)["spec"]["priority"] < priority
                made.remove(POD, "default", name)
            made.settle()
    assert made.settle(3600) == []
    cluster = cluster_of(made)
    for entry in made.all(POD):
        if entry.name not in made.placed():
            assert cluster.feasible(entry.decode()) == []
