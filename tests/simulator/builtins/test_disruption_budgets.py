"""What disruption budgets allow."""

from typing import Any

from builtins_world import World, messages

from kohort.cluster.kinds import BUDGET, POD, STATEFUL_SET
from kohort.cluster.objects import Object, find_condition
from kohort.simulator.builtins.budgets import Budgets


def world_with(replicas: int = 3, ready: int = 3, **spec: Any) -> World:
    world = World(Budgets())
    owner = world.create(STATEFUL_SET, {"metadata": {"name": "s"}, "spec": {"replicas": replicas}})
    controller = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "s",
        "uid": owner.uid,
        "controller": True,
    }
    for index in range(replicas):
        metadata = {"name": f"p{index}", "labels": {"app": "a"}, "ownerReferences": [controller]}
        world.create(POD, {"metadata": metadata, "spec": {}})
        world.set_ready(f"p{index}", ready=index < ready)
    spec = {"selector": {"matchLabels": {"app": "a"}}, **spec}
    world.create(BUDGET, {"metadata": {"name": "b"}, "spec": spec})
    world.settle()
    return world


def status(world: World) -> Object:
    return world.read(BUDGET, "b")["status"]


def numbers(world: World) -> tuple[int, int, int, int]:
    names = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    one, two, three, four = (status(world)[name] for name in names)
    return one, two, three, four


def test_a_share_is_of_what_the_controllers_ask_for():
    world = world_with(minAvailable="50%")
    assert numbers(world) == (3, 2, 3, 1)
    world.remove_pod("p2")
    world.settle()
    assert numbers(world) == (3, 2, 2, 0)


def test_max_unavailable_is_subtracted_from_what_is_expected():
    assert numbers(world_with(maxUnavailable=1)) == (3, 2, 3, 1)
    assert numbers(world_with(maxUnavailable=1, ready=1)) == (3, 2, 1, 0)


def test_a_resized_controller_changes_what_is_expected():
    world = world_with(maxUnavailable=1)
    world.patch(STATEFUL_SET, "s", {"spec": {"replicas": 5}})
    world.settle()
    assert numbers(world) == (5, 4, 3, 0)


def test_the_condition_says_whether_pods_may_be_disrupted():
    world = world_with(minAvailable=2)
    condition = find_condition(world.read(BUDGET, "b"), "DisruptionAllowed")
    assert condition and (condition["status"], condition["reason"]) == ("True", "SufficientPods")
    world.set_ready("p0", ready=False)
    world.settle()
    condition = find_condition(world.read(BUDGET, "b"), "DisruptionAllowed")
    assert condition and (condition["status"], condition["reason"]) == ("False", "InsufficientPods")


def test_a_budget_without_pods_allows_nothing():
    world = world_with(replicas=0, maxUnavailable=1)
    assert numbers(world) == (0, 0, 0, 0)
    assert messages(world, "NoPods") == ["No matching pods found"]


def test_a_granted_eviction_counts_until_the_pod_goes_or_time_is_up():
    world = world_with(minAvailable=1)
    granted = {"disruptedPods": {"p0": world.moment.stamp, "gone": world.moment.stamp}}
    world.patch(BUDGET, "b", {"status": granted})
    world.settle()
    assert status(world)["disruptedPods"] == {"p0": world.moment.stamp}
    assert status(world)["disruptionsAllowed"] == 1
    world.advance(122)
    assert "disruptedPods" not in status(world)
    assert status(world)["disruptionsAllowed"] == 2


def test_pods_of_an_unknown_controller_allow_nothing():
    world = world_with(maxUnavailable=1)
    world.delete(STATEFUL_SET, "s")
    world.settle()
    condition = find_condition(world.read(BUDGET, "b"), "DisruptionAllowed")
    assert condition and condition["reason"] == "SyncFailed"
    assert status(world)["disruptionsAllowed"] == 0


def test_nothing_is_written_when_nothing_changed():
    world = world_with(maxUnavailable=1)
    world.wake("default/b")
    assert world.settle() == 0
