"""``kohort rollout`` steers a RoleInstance that a user made by hand, as far as it has rollouts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}


def component(name: str, size: int) -> Object:
    return {"name": name, "size": size, "template": TEMPLATE}


@pytest.fixture
def hand(kohort: RunKohort, cluster: Path, request: pytest.FixtureRequest) -> Hand:
    """An instance of a leader and a worker that serves."""
    name = f"one{abs(hash(request.node.name)) % 10**6}"
    found = Hand(cluster, name, labels.INSTANCE)
    found.make({"components": [component("leader", 1), component("worker", 1)]})
    assert kohort("rollout", "status", f"rins/{name}", "--timeout", "60s").code == 0
    return found


def name_of(hand: Hand) -> str:
    return "rins/" + hand.read()["metadata"]["name"]


def images_of(found: Object) -> list[str]:
    listed = found["spec"]["components"]
    return [each["template"]["spec"]["containers"][0]["image"] for each in listed]


def test_an_instance_gets_another_image_and_goes_back(kohort: RunKohort, hand: Hand):
    name = name_of(hand)
    told = kohort("rollout", "set-image", name, "engine=engine:2")
    assert (told.code, images_of(hand.read())) == (0, ["engine:2"] * 2), told.err
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0
    assert "engine:2" in kohort("rollout", "history", name, "--revision", "2").out
    grown = {"op": "replace", "path": "/spec/components/1/size", "value": 2}
    hand.edit(grown)
    told = kohort("rollout", "undo", name)
    assert (told.code, images_of(hand.read())) == (0, ["engine:1"] * 2), told.err
    assert "goes back to revision 1" in told.out
    assert [each["size"] for each in hand.read()["spec"]["components"]] == [1, 2]


def test_an_instance_restarts(kohort: RunKohort, hand: Hand):
    name = name_of(hand)
    told = kohort("rollout", "restart", name)
    assert (told.code, told.out.strip()) == (0, f"{name} restarts"), told.err
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0
    for each in hand.read()["spec"]["components"]:
        assert "kubectl.kubernetes.io/restartedAt" in each["template"]["metadata"]["annotations"]


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_one_instance_cannot_be_held_back(kohort: RunKohort, hand: Hand, verb: str):
    before = hand.read()["spec"]
    told = kohort("rollout", verb, name_of(hand))
    assert told.code == 1 and hand.read()["spec"] == before
    assert "cannot be paused: a RoleInstance is one instance" in told.err
    assert "make a RoleInstanceSet, which can" in told.err


def test_nothing_of_one_instance_can_be_promoted(kohort: RunKohort, hand: Hand):
    told = kohort("rollout", "promote", name_of(hand))
    assert told.code == 0 and "nothing holds it back" in told.out


def test_an_instance_has_no_roles(kohort: RunKohort, hand: Hand):
    told = kohort("rollout", "restart", name_of(hand), "--role", "leader")
    assert told.code == 2 and "a RoleInstance has no roles with names" in told.err


def test_an_instance_of_a_set_is_steered_by_its_set(kohort: RunKohort, cluster: Path):
    made = Hand(cluster, "owner", labels.INSTANCE_SET)
    marks = {"app": "owner"}
    template = {"components": [component("engine", 1)]}
    spec = {"selector": {"matchLabels": marks}, "replicas": 1, "roleInstanceTemplate": template}
    made.make(spec, labels=marks)
    assert kohort("rollout", "status", "ris/owner", "--timeout", "60s").code == 0
    told = kohort("rollout", "restart", "rins/owner-0")
    assert (told.code, told.out) == (1, "")
    assert "rins/owner-0 belongs to ris/owner; name that one instead" in told.err
    told = kohort("rollout", "restart", "rins/owner-1")
    assert "rins/owner-1 does not exist" in told.err
