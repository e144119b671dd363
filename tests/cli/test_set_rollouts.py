"""``kohort rollout`` steers a RoleInstanceSet that a user made by hand."""

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


@pytest.fixture
def hand(kohort: RunKohort, cluster: Path, request: pytest.FixtureRequest) -> Hand:
    """A set of two instances that serves."""
    name = f"set{abs(hash(request.node.name)) % 10**6}"
    found = Hand(cluster, name, labels.INSTANCE_SET)
    marks = {"app": name}
    component = {"name": "engine", "size": 1, "template": TEMPLATE}
    spec = {"selector": {"matchLabels": marks}, "replicas": 2}
    found.make({**spec, "roleInstanceTemplate": {"components": [component]}}, labels=marks)
    assert kohort("rollout", "status", f"ris/{name}", "--timeout", "60s").code == 0
    return found


def name_of(hand: Hand) -> str:
    return "ris/" + hand.read()["metadata"]["name"]


def image_of(found: Object) -> str:
    (component,) = found["spec"]["roleInstanceTemplate"]["components"]
    return str(component["template"]["spec"]["containers"][0]["image"])


def is_seen(found: Object) -> bool:
    seen = found.get("status", {}).get("observedGeneration")
    return bool(seen == found["metadata"]["generation"])


def test_a_set_gets_another_image_and_goes_back(kohort: RunKohort, hand: Hand):
    name = name_of(hand)
    told = kohort("rollout", "set-image", name, "engine=engine:2")
    assert told.code == 0, told.err
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0
    assert image_of(hand.read()) == "engine:2"
    assert "engine:2" in kohort("rollout", "history", name, "--revision", "2").out
    told = kohort("rollout", "undo", name)
    assert (told.code, image_of(hand.read())) == (0, "engine:1"), told.err
    assert "goes back to revision 1" in told.out
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0
    assert "3 (wanted)" in kohort("rollout", "history", name).out
    told = kohort("rollout", "undo", name)
    assert (told.code, image_of(hand.read())) == (0, "engine:2"), told.err


def test_a_set_is_paused_and_goes_on(kohort: RunKohort, hand: Hand):
    name = name_of(hand)
    told = kohort("rollout", "pause", name)
    assert (told.code, told.out.strip()) == (0, f"{name} is paused"), told.err
    kohort("rollout", "restart", name)
    hand.wait_for(is_seen)
    assert "paused" in kohort("rollout", "status", name, "--timeout", "0").out
    assert kohort("rollout", "resume", name).code == 0
    assert hand.read()["spec"]["updateStrategy"]["paused"] is False
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0
