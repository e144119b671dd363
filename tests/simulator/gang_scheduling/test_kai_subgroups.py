"""Subgroups as KAI has them: their minima count, and nothing is seen that is in none."""

from gang_builders import node, pod
from gang_world import KAI_GROUP, GangWorld

from kohort.cluster.kinds import POD

Needs = dict[str, int | None]


def make_world(needs: Needs, *nodes: int, minimum: int = 1) -> GangWorld:
    world = GangWorld(*(node(f"n{at}", gpus) for at, gpus in enumerate(nodes)))
    parts = [{"name": name} | ({"minMember": n} if n else {}) for name, n in needs.items()]
    spec = {"minMember": minimum, "queue": "q", "subGroups": parts}
    world.put(KAI_GROUP, {"metadata": {"name": "g"}, "spec": spec})
    return world


def place(world: GangWorld, **pods: str) -> set[str]:
    """Put pods with the subgroup that each names; the names of those that got a node."""
    for name, part in pods.items():
        made = pod(name, 1, labels={"kai.scheduler/subgroup-name": part} if part else {})
        made["metadata"]["annotations"] = {"pod-group-name": "g"}
        made["spec"]["schedulerName"] = "kai-scheduler"
        world.put(POD, made)
    world.settle()
    return set(world.placed())


def test_a_pod_whose_subgroup_is_not_there_is_never_placed_and_does_not_count():
    world = make_world({"a": 1}, 8)
    assert place(world, p="a", q="b") == {"p"}
    assert "the subgroup that a pod names does not exist" in world.reason("q")
    assert place(make_world({"a": 2}, 8, minimum=2), p="a", q="b") == set()


def test_the_default_subgroup_is_waited_for():
    world = make_world({"a": 1, "default": 1}, 8)
    assert place(world, p="a") == set()
    assert place(world, q="") == {"p", "q"}


def test_the_minima_of_subgroups_count_and_that_of_the_group_does_not():
    assert place(make_world({"a": 1, "b": 1}, 1), p="a", q="b") == set()
    assert place(make_world({"a": 1}, 1, minimum=9), p="a") == {"p"}


def test_a_subgroup_without_a_minimum_is_placed_as_there_is_room():
    assert place(make_world({"a": 1, "b": None}, 1), p="a", q="b", r="b") == {"p"}
    assert place(make_world({"a": 1, "b": None}, 2), q="b", r="b", p="a") in (
        {"p", "q"},
        {"p", "r"},
    )
