"""Another image in a running pod, and readiness gates: what a kubelet does then."""

from copy import deepcopy

import pytest
from test_pod_life import bound, condition, container, start

from kohort.cluster.kinds import POD
from scheduling_views import TinyWorld

GATES = [{"conditionType": "example.com/a"}, {"conditionType": "example.com/b"}]


def change_image(world: TinyWorld, image: str = "server:2", number: int = 0) -> None:
    changed = world.pod("p")
    changed["spec"]["containers"][number]["image"] = image
    changed["metadata"]["generation"] = changed["metadata"].get("generation", 1) + 1
    world.put(POD, changed)


def set_gate(world: TinyWorld, name: str, status: str) -> None:
    changed = world.pod("p")
    conditions = [c for c in changed["status"]["conditions"] if c["type"] != name]
    changed["status"]["conditions"] = [*conditions, {"type": name, "status": status}]
    world.put(POD, changed)
    world.settle()


def ready_message(world: TinyWorld) -> str:
    found = {c["type"]: c for c in world.pod("p")["status"]["conditions"]}
    return str(found["Ready"].get("message", ""))


def two_containers(**spec: object) -> dict:
    made = bound(**spec)
    first = made["spec"]["containers"][0]
    made["spec"]["containers"].append({**deepcopy(first), "name": "side", "image": "side:1"})
    return made


def test_the_old_container_runs_on_until_it_has_stopped():
    world = start(bound(), 5)
    change_image(world)
    world.settle()
    assert "running" in container(world)["state"]
    assert container(world)["image"] == "server:1"
    assert world.events()[-1] == "Killing: Container main definition changed, will be restarted"


def test_between_two_images_the_container_waits_and_the_pod_is_not_ready():
    world = start(bound(), 5)
    before = container(world)
    change_image(world)
    world.settle(1)
    now = container(world)
    assert now["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert now["lastState"]["terminated"]["containerID"] == before["containerID"]
    assert (now["ready"], now["restartCount"]) == (False, 0)
    assert (condition(world, "ContainersReady"), condition(world, "Ready")) == ("False", "False")
    assert world.pod("p")["status"]["phase"] == "Running"


def test_the_new_image_runs_in_the_same_pod():
    world = start(bound(), 5)
    before = deepcopy(world.pod("p"))
    change_image(world)
    world.settle(10)
    now, old = container(world), before["status"]["containerStatuses"][0]
    assert (now["image"], now["restartCount"], now["ready"]) == ("server:2", 1, True)
    assert now["imageID"] != old["imageID"]
    assert now["containerID"] != old["containerID"]
    after = world.pod("p")
    assert after["status"]["podIP"] == before["status"]["podIP"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["startTime"] == before["status"]["startTime"]
    assert condition(world, "Ready") == "True"


def test_the_new_image_is_pulled_and_events_tell_of_it():
    world = start(bound(), 5)
    count = len(world.events())
    change_image(world)
    world.settle(10)
    told = [event.partition(":")[0] for event in world.events()[count:]]
    assert told == ["Killing", "Pulling", "Pulled", "Created", "Started"]
    assert 'Successfully pulled image "server:2"' in world.events()[-3]


def test_only_the_container_that_changed_starts_again():
    world = start(two_containers(), 5)
    before = world.pod("p")["status"]["containerStatuses"][1]
    change_image(world)
    world.settle(10)
    assert container(world)["restartCount"] == 1
    assert world.pod("p")["status"]["containerStatuses"][1] == before


def test_an_image_that_cannot_be_pulled_leaves_the_pod_unready_and_another_mends_it():
    world = start(bound(), 5)
    failing = world.pod("p")
    failing["metadata"]["annotations"]["sim.kohort.dev/pull-error"] = "no such image"
    world.put(POD, failing)
    change_image(world, "server:none")
    world.settle(10)
    now = container(world)
    assert now["state"]["waiting"]["reason"] == "ImagePullBackOff"
    assert (now["restartCount"], now["ready"]) == (0, False)
    mended = world.pod("p")
    del mended["metadata"]["annotations"]["sim.kohort.dev/pull-error"]
    world.put(POD, mended)
    change_image(world, "server:3")
    world.settle(10)
    assert (container(world)["image"], container(world)["restartCount"]) == ("server:3", 1)
    assert condition(world, "Ready") == "True"


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
def test_another_image_starts_a_running_container_whatever_its_restart_policy(policy):
    world = start(bound(annotations={"run-for": "1h"}, restartPolicy=policy), 5)
    phases = set()
    change_image(world)
    for _ in range(40):
        world.settle(0.25)
        phases.add(world.pod("p")["status"]["phase"])
    assert phases == {"Running"}
    assert (container(world)["image"], container(world)["restartCount"]) == ("server:2", 1)


def test_another_image_does_not_start_a_container_that_has_ended_for_good():
    made = two_containers(annotations={"crash-after": "1s", "crash-exit-code": "0"})
    made["spec"]["restartPolicy"] = "Never"
    made["metadata"]["annotations"]["sim.kohort.dev/run-for"] = "1h"
    world = start(made, 10)
    assert "terminated" in container(world)["state"]
    change_image(world)
    world.settle(10)
    assert "terminated" in container(world)["state"]
    assert container(world)["restartCount"] == 0


def test_an_image_by_its_digest_is_told_by_that_digest():
    digest = "sha256:" + "a" * 64
    world = start(bound(), 5)
    change_image(world, f"server@{digest}")
    world.settle(10)
    assert container(world)["imageID"] == f"server@{digest}"


def test_a_gate_counts_only_when_some_client_has_set_it():
    world = start(bound(readinessGates=GATES), 5)
    assert {c["type"] for c in world.pod("p")["status"]["conditions"]}.isdisjoint(
        {"example.com/a", "example.com/b"}
    )
    gate = 'corresponding condition of pod readiness gate "example.com/{}" does not exist.'
    assert ready_message(world) == f"{gate.format('a')}, {gate.format('b')}"
    assert condition(world, "ContainersReady") == "True"


def test_all_gates_must_be_true_and_one_that_closes_takes_ready_away():
    world = start(bound(readinessGates=GATES), 5)
    set_gate(world, "example.com/a", "True")
    assert condition(world, "Ready") == "False"
    set_gate(world, "example.com/b", "True")
    assert condition(world, "Ready") == "True"
    set_gate(world, "example.com/a", "False")
    assert condition(world, "Ready") == "False"
    assert ready_message(world) == (
        'the status of pod readiness gate "example.com/a" is not "True", but False'
    )
    assert condition(world, "ContainersReady") == "True"


def test_an_update_in_place_behind_a_gate_is_ready_when_the_gate_opens_again():
    world = start(bound(readinessGates=GATES[:1]), 5)
    set_gate(world, "example.com/a", "True")
    set_gate(world, "example.com/a", "False")
    change_image(world)
    world.settle(10)
    assert container(world)["image"] == "server:2"
    assert (condition(world, "ContainersReady"), condition(world, "Ready")) == ("True", "False")
    set_gate(world, "example.com/a", "True")
    assert condition(world, "Ready") == "True"
