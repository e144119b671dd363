"""``kohort rollout`` steers the groups of a RoleBasedGroupSet by its template."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Told
from workload_hand import Hand

from kohort.apis.rolebasedgroup import labels
from kohort.cluster.objects import Object

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]


def make_role(name: str, **rolling: object) -> Object:
    spec = {"containers": [{"name": name, "image": f"{name}:1"}]}
    strategy = {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}
    pattern = {"standalonePattern": {"template": {"spec": spec}}}
    return {"name": name, "replicas": 1, **pattern, **(strategy if rolling else {})}


@pytest.fixture
def hand(kohort: RunKohort, cluster: Path, request: pytest.FixtureRequest) -> Hand:
    """A set of two groups with two roles each, which serves."""
    found = Hand(cluster, f"set{abs(hash(request.node.name)) % 10**6}", labels.SET_KIND)
    roles = [make_role("engine"), make_role("router")]
    found.make({"replicas": 2, "groupTemplate": {"spec": {"roles": roles}}})
    assert kohort("rollout", "status", name_of(found), "--timeout", "60s").code == 0
    return found


def name_of(hand: Hand) -> str:
    return "rbgs/" + hand.read()["metadata"]["name"]


def roles_of(hand: Hand) -> list[Object]:
    roles: list[Object] = hand.read()["spec"]["groupTemplate"]["spec"]["roles"]
    return roles


def image_of(role: Object) -> str:
    return str(role["standalonePattern"]["template"]["spec"]["containers"][0]["image"])


def test_a_set_gets_another_image_in_one_role(kohort: RunKohort, hand: Hand):
    name = name_of(hand)
    told = kohort("rollout", "set-image", name, "engine=engine:2", "--role", "engine")
    assert told.code == 0, told.err
    assert list(map(image_of, roles_of(hand))) == ["engine:2", "router:1"]
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0
    told = kohort("rollout", "status", name.replace("rbgs/", "rbg/") + "-1", "--timeout", "60s")
    assert told.code == 0, told.err


def has_new_image(group: Object) -> bool:
    """Whether the operator has seen a group whose engine gets another image."""
    seen = group.get("status", {}).get("observedGeneration")
    image = image_of(group["spec"]["roles"][0])
    return bool(image == "engine:2" and seen == group["metadata"]["generation"])


def test_a_set_is_paused_and_goes_on(kohort: RunKohort, hand: Hand, cluster: Path):
    name = name_of(hand)
    told = kohort("rollout", "pause", name)
    assert (told.code, told.out.strip()) == (0, f"{name} is paused"), told.err
    assert "already" in kohort("rollout", "pause", name).out
    assert f"'kohort rollout resume {name}' lets it go on" in kohort("why", name).out
    assert kohort("rollout", "set-image", name, "engine=engine:2").code == 0
    child = Hand(cluster, name.removeprefix("rbgs/") + "-1", labels.KIND)
    child.wait_for(has_new_image)
    told = kohort("why", name.replace("rbgs/", "rbg/") + "-1")
    assert f"next      kohort rollout resume {name}\n" in told.out
    told = kohort("rollout", "resume", name)
    assert (told.code, told.out.strip()) == (0, f"{name} goes on"), told.err
    rolling = [role["rolloutStrategy"]["rollingUpdate"]["paused"] for role in roles_of(hand)]
    assert rolling == [False, False]


def test_a_restart_of_a_set_is_shown_first_and_done_then(kohort: RunKohort, hand: Hand):
    name, before = name_of(hand), roles_of(hand)
    told = kohort("rollout", "restart", name, "--dry-run")
    assert told.code == 0, told.err
    assert "nothing was changed" in told.out
    assert roles_of(hand) == before
    assert kohort("rollout", "restart", name).code == 0
    assert roles_of(hand) != before
    assert kohort("rollout", "status", name, "--timeout", "60s").code == 0


@pytest.mark.parametrize("command", ["undo", "history", "diff"])
def test_a_set_says_what_to_do_instead_of_going_back(kohort: RunKohort, hand: Hand, command: str):
    told = kohort("rollout", command, name_of(hand))
    assert told.code == 1
    assert "stores no revisions: apply its former manifest" in told.err
    assert "kohort rollout history rbg/NAME" in told.err


def test_an_unknown_role_of_a_set_is_told(kohort: RunKohort, hand: Hand):
    told = kohort("rollout", "pause", name_of(hand), "--role", "rooter")
    assert told.code == 1
    assert "it has: engine, router" in told.err
