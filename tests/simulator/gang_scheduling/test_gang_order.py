"""Which gang goes first, which stand apart, and that none waits for ever."""

from gang_builders import node, pod
from gang_world import GangWorld, hard

from kohort.apis.gangs.dialects.volcano import QUEUE
from kohort.cluster.kinds import NODE, POD, PRIORITY_CLASS
from kohort.simulator.scheduling.gangs.fairness import PASSED_MAX

RACK = "rack"


def world(count: int = 4, gpus: int = 4) -> GangWorld:
    nodes = (node(f"n{at}", gpus, {RACK: f"r{at // 2}"}) for at in range(count))
    return GangWorld(*nodes).declare_racks(*([f"n{at}", f"n{at + 1}"] for at in range(0, count, 2)))


def fill(made: GangWorld) -> None:
    """Take all room, one pod of its own on each node."""
    for name in ("n0", "n1", "n2", "n3"):
        made.put(POD, pod(f"taken-{name}", 4, nodeName=name))


def test_the_higher_priority_goes_first():
    made = world()
    made.put(PRIORITY_CLASS, {"metadata": {"name": "high"}, "value": 10})
    fill(made)
    made.gang("low", 4, gpus=4)
    made.gang("high", 4, gpus=4, priorityClassName="high")
    for name in ("n0", "n1", "n2", "n3"):
        made.remove(POD, "default", f"taken-{name}")
    made.settle()
    assert (len(made.where("high")), len(made.where("low"))) == (4, 0)


def test_among_equals_the_older_goes_first():
    made = world()
    fill(made)
    made.gang("b", 4, gpus=4)
    made.gang("a", 4, gpus=4)
    for name in ("n0", "n1", "n2", "n3"):
        made.remove(POD, "default", f"taken-{name}")
    made.settle()
    assert (len(made.where("b")), len(made.where("a"))) == (4, 0)


def flow(made: GangWorld, rounds: int) -> int | None:
    """Small gangs come and go, two at a time; after how many rounds the large one is placed."""
    made.gang("s0", 1, gpus=8)
    made.gang("s1", 1, gpus=8)
    made.gang("large", 2, gpus=8)
    for at in range(2, rounds):
        made.gang(f"s{at}", 1, gpus=8)
        made.remove(POD, "default", f"s{at - 2}-0")
        made.settle()
        if made.where("large"):
            return at
    return None


def test_a_large_gang_is_not_passed_over_for_ever():
    made = world(2, gpus=8)
    placed = flow(made, 40)
    assert placed is not None
    assert placed <= PASSED_MAX + 6


def test_those_who_may_not_use_what_is_kept_are_told():
    made = world(2, gpus=8)
    assert flow(made, PASSED_MAX + 4) is None
    waiting = [name for name in ("s6-0", "s7-0") if name not in made.placed()]
    assert "kept for large, which was passed over too often" in made.reason(waiting[0])


def test_what_was_kept_is_free_again_when_the_large_gang_goes():
    made = world(2, gpus=8)
    flow(made, PASSED_MAX + 4)
    for at in range(2):
        made.remove(POD, "default", f"large-{at}")
    made.settle()
    assert len(made.placed()) == 2


def test_what_was_kept_is_free_again_when_the_large_gang_loses_a_member():
    made = world(2, gpus=8)
    flow(made, PASSED_MAX + 4)
    made.remove(POD, "default", "large-1")
    made.settle()
    assert len(made.placed()) == 2


def test_a_first_come_first_served_queue_holds_the_others_up():
    made = world()
    made.put(QUEUE, {"metadata": {"name": "q"}, "spec": {"dequeueStrategy": "fifo"}})
    assert made.gang("large", 5, gpus=4, queue="q") == {}
    assert made.gang("small", 1, queue="q") == {}
    assert "large is before it in queue q" in made.reason("small-0")
    made.put(NODE, node("more", 4))
    made.settle()
    assert len(made.where("large")) == 5


def exclusive(name: str, size: int, gpus: int = 4) -> list[dict]:
    """Members that stand with their own group and with no other, by rack."""
    near = {"labelSelector": {"matchLabels": {"group": name}}, "topologyKey": RACK}
    others = [
        {"key": "group", "operator": "Exists"},
        {"key": "group", "operator": "NotIn", "values": [name]},
    ]
    far = {"labelSelector": {"matchExpressions": others}, "topologyKey": RACK}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity = {"podAffinity": {required: [near]}, "podAntiAffinity": {required: [far]}}
    return [
        pod(f"{name}-{at}", gpus, group=name, labels={"group": name}, affinity=affinity)
        for at in range(size)
    ]


def play_exclusive(made: GangWorld, *groups: tuple[str, int, int]) -> None:
    for name, size, gpus in groups:
        made.group(name, size)
        for member in exclusive(name, size, gpus):
            made.put(POD, member)
    made.settle()


def racks_of(made: GangWorld, name: str) -> set[int]:
    return {int(at[1:]) // 2 for at in made.where(name).values()}


def test_exclusive_groups_have_a_rack_to_themselves():
    made = world()
    play_exclusive(made, ("a", 2, 1), ("b", 2, 1), ("c", 1, 1))
    assert {frozenset(racks_of(made, "a")), frozenset(racks_of(made, "b"))} == {
        frozenset({0}),
        frozenset({1}),
    }
    assert made.where("c") == {}
    assert "didn't match pod anti-affinity rules" in made.reason("c-0")


def test_the_first_member_does_not_choose_a_rack_that_is_too_small_for_all():
    made = world()
    made.put(POD, pod("taken", 3, nodeName="n0"))
    play_exclusive(made, ("a", 2, 4))
    assert racks_of(made, "a") == {1}


def test_exclusive_groups_obey_a_hard_limit_too():
    made = world()
    made.group("a", 2, networkTopology=hard(1))
    for member in exclusive("a", 2):
        made.put(POD, member)
    made.settle()
    assert len(racks_of(made, "a")) == 1


def test_a_group_that_was_tried_in_vain_leaves_nothing_behind():
    made = world()
    play_exclusive(made, ("a", 3, 4), ("b", 2, 4))
    assert made.where("a") == {}
    assert len(made.where("b")) == 2
    made.remove(POD, "default", "a-2")
    made.group("a", 2)
    made.settle()
    assert len(racks_of(made, "a")) == 1
