"""The status of a ResourceQuota says what is used, of what is limited and nothing else."""

from builtins_world import World

from kohort.cluster.kinds import POD, QUOTA
from kohort.simulator.builtins.quotas import Quotas


def start(name: str = "limits", **hard: str) -> World:
    world = World(Quotas())
    world.create(QUOTA, {"metadata": {"name": name}, "spec": {"hard": hard}})
    world.settle()
    return world


def used(world: World, name: str = "limits") -> dict[str, str]:
    found: dict[str, str] = world.read(QUOTA, name)["status"]["used"]
    return found


def test_a_pod_that_has_ended_uses_nothing():
    world = start(pods="2", cpu="4")
    asked = {"requests": {"cpu": "3"}}
    container = {"name": "c", "image": "i", "resources": asked}
    world.create(POD, {"metadata": {"name": "p"}, "spec": {"containers": [container]}})
    world.settle()
    assert used(world) == {"pods": "1", "cpu": "3"}
    world.set_ready("p", False, "Failed")
    world.settle()
    assert used(world) == {"pods": "0", "cpu": "0"}


def test_a_limit_that_is_taken_away_is_gone_from_the_status():
    world = start(pods="2", secrets="3")
    world.patch(QUOTA, "limits", {"spec": {"hard": {"secrets": None}}})
    world.settle()
    assert world.read(QUOTA, "limits")["status"] == {"hard": {"pods": "2"}, "used": {"pods": "0"}}


def test_quotas_are_counted_too():
    world = start(resourcequotas="2")
    assert used(world) == {"resourcequotas": "1"}
    world.create(QUOTA, {"metadata": {"name": "more"}, "spec": {"hard": {"pods": "1"}}})
    world.settle()
    assert used(world) == {"resourcequotas": "2"}
