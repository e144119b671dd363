"""What the simulated kubelet writes, from the bind to the end of a pod."""

from typing import Any

import pytest

from kohort.cluster.kinds import NODE, POD
from kohort.simulator.component import DeleteRequest, EventRequest, MergeRequest
from kohort.simulator.kubelet import Kubelet
from kohort.simulator.stages import KubeletStages
from scheduling_views import TinyWorld, node, pod

STAGES = KubeletStages().with_seconds(pull=1, init=1, start=1, load=3, ready=1, stop=1)


def make_world(stages: KubeletStages = STAGES) -> TinyWorld:
    world = TinyWorld(Kubelet(stages))
    host = node("n")
    host["status"]["addresses"] = [{"type": "InternalIP", "address": "10.0.0.7"}]
    world.put(NODE, host)
    return world


def bound(name: str = "p", annotations: dict[str, str] | None = None, **spec: Any) -> dict:
    made = pod(name, nodeName="n", **spec)
    made["metadata"]["generation"] = 1
    made["metadata"]["annotations"] = {
        f"sim.kohort.dev/{key}": value for key, value in (annotations or {}).items()
    }
    return made


def start(made: dict, seconds: float, stages: KubeletStages = STAGES) -> TinyWorld:
    world = make_world(stages)
    world.put(POD, made)
    world.settle(seconds)
    return world


def condition(world: TinyWorld, name: str) -> str:
    found = {c["type"]: c["status"] for c in world.pod("p")["status"]["conditions"]}
    return str(found[name])


def container(world: TinyWorld) -> dict:
    return world.pod("p")["status"]["containerStatuses"][0]


def patches(world: TinyWorld) -> list[MergeRequest]:
    return [action for action in world.log if isinstance(action, MergeRequest)]


def test_a_bound_pod_is_first_being_created():
    world = start(bound(), 0)
    status = world.pod("p")["status"]
    assert status["phase"] == "Pending"
    assert status["startTime"] == "2026-01-01T00:00:00Z"
    assert container(world)["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert "podIP" not in status
    assert condition(world, "PodReadyToStartContainers") == "False"
    assert condition(world, "Initialized") == "True"


def test_then_it_runs_and_then_it_is_ready():
    world = start(bound(), 2)
    status = world.pod("p")["status"]
    assert (status["phase"], status["podIP"]) == ("Running", "10.244.0.1")
    assert (status["hostIP"], status["observedGeneration"]) == ("10.0.0.7", 1)
    assert container(world)["started"]
    assert condition(world, "Ready") == "False"
    world.settle(1)
    assert condition(world, "Ready") == "True"
    assert container(world)["ready"]


def test_a_start_takes_three_writes_and_then_nothing_is_written():
    world = start(bound(), 3)
    assert len(patches(world)) == 3
    assert world.settle(3600) == []


def test_without_a_readiness_delay_it_takes_two():
    world = start(bound(), 3, STAGES.with_seconds(ready=0))
    assert len(patches(world)) == 2
    assert condition(world, "Ready") == "True"


def test_events_tell_of_the_start():
    reasons = [event.split(":")[0] for event in start(bound(), 5).events()]
    assert reasons == ["Pulling", "Pulled", "Created", "Started"]


def test_a_pod_with_gpus_loads_weights_before_it_is_ready():
    world = start(bound(requests={"nvidia.com/gpu": "8"}), 5)
    assert condition(world, "Ready") == "False"
    world.settle(1)
    assert condition(world, "Ready") == "True"


def test_init_containers_run_one_after_the_other_and_sidecars_stay():
    inits = [
        {"name": "side", "image": "s", "restartPolicy": "Always"},
        {"name": "fetch", "image": "f"},
    ]
    world = start(bound(initContainers=inits), 1)
    status = world.pod("p")["status"]
    assert status["phase"] == "Pending"
    assert "running" in status["initContainerStatuses"][1]["state"]
    assert condition(world, "Initialized") == "False"
    world.settle(3)
    side, fetch = world.pod("p")["status"]["initContainerStatuses"]
    assert side["ready"] and "running" in side["state"]
    assert fetch["state"]["terminated"]["reason"] == "Completed"
    assert condition(world, "Ready") == "True"


def test_a_crash_is_restarted_at_once_and_then_with_growing_backoff():
    world = start(bound(annotations={"crash-after": "5s", "crash-exit-code": "3"}), 7)
    assert container(world)["state"]["terminated"]["exitCode"] == 3
    assert condition(world, "Ready") == "False"
    world.settle(1)
    assert container(world)["restartCount"] == 1
    assert container(world)["lastState"]["terminated"]["exitCode"] == 3
    world.settle(5)
    waiting = container(world)["state"]["waiting"]
    assert waiting["reason"] == "CrashLoopBackOff"
    assert waiting["message"].startswith("back-off 10s restarting failed container=main pod=p_")
    world.settle(10)
    assert container(world)["restartCount"] == 2
    world.settle(5)
    assert "back-off 20s" in container(world)["state"]["waiting"]["message"]
    assert world.pod("p")["status"]["phase"] == "Running"


def test_a_crash_can_happen_once_only():
    world = start(bound(annotations={"crash-after": "5s", "crash-times": "1"}), 60)
    assert container(world)["restartCount"] == 1
    assert condition(world, "Ready") == "True"


@pytest.mark.parametrize(
    ("annotations", "policy", "phase"),
    [
        ({"run-for": "5s"}, "Never", "Succeeded"),
        ({"run-for": "5s"}, "OnFailure", "Succeeded"),
        ({"crash-after": "5s"}, "Never", "Failed"),
        ({"crash-after": "5s"}, "OnFailure", "Running"),
    ],
)
def test_how_a_pod_that_ends_is_counted(annotations: dict, policy: str, phase: str):
    world = start(bound(annotations=annotations, restartPolicy=policy), 7)
    assert world.pod("p")["status"]["phase"] == phase
    assert condition(world, "Ready") == "False"


def test_an_image_that_cannot_be_pulled():
    world = start(bound(annotations={"pull-error": "not found"}), 60)
    assert container(world)["state"]["waiting"]["reason"] == "ImagePullBackOff"
    assert world.pod("p")["status"]["phase"] == "Pending"
    fixed = world.pod("p")
    fixed["metadata"]["annotations"] = {}
    world.put(POD, fixed)
    world.settle(5)
    assert condition(world, "Ready") == "True"


def test_readiness_can_be_late_or_never_come():
    assert condition(start(bound(annotations={"never-ready": "true"}), 99), "Ready") == "False"
    world = start(bound(annotations={"ready-after": "20s"}), 21)
    assert condition(world, "Ready") == "False"
    world.settle(1)
    assert condition(world, "Ready") == "True"


def test_readiness_gates_hold_ready_back():
    world = start(bound(readinessGates=[{"conditionType": "example.com/ok"}]), 5)
    assert condition(world, "ContainersReady") == "True"
    assert condition(world, "Ready") == "False"
    opened = world.pod("p")
    opened["status"]["conditions"].append({"type": "example.com/ok", "status": "True"})
    world.put(POD, opened)
    world.settle()
    assert condition(world, "Ready") == "True"
    assert condition(world, "example.com/ok") == "True"


def test_another_image_restarts_the_container():
    world = start(bound(), 5)
    changed = world.pod("p")
    changed["spec"]["containers"][0]["image"] = "server:2"
    changed["metadata"]["generation"] = 2
    world.put(POD, changed)
    world.settle(5)
    assert (container(world)["image"], container(world)["restartCount"]) == ("server:2", 1)
    assert condition(world, "Ready") == "True"
    assert world.pod("p")["status"]["observedGeneration"] == 2


def test_a_leaving_pod_stops_and_is_removed():
    world = start(bound(), 5)
    world.start_deleting("p")
    world.settle()
    assert world.events()[-1] == "Killing: Stopping container main"
    assert world.find(POD, "default", "p") is not None
    actions = world.settle(1)
    assert isinstance(actions[-1], DeleteRequest)
    assert actions[-1].grace_seconds == 0
    assert world.find(POD, "default", "p") is None


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("start-for", "soonish", "a duration such as 20s or 1m30s"),
        ("run-for", "", "a duration such as 20s or 1m30s"),
        ("crash-times", "often", "a whole number"),
        ("never-ready", "yes", "true or false"),
    ],
)
def test_an_annotation_that_makes_no_sense_is_told_once(name, text, wanted):
    world = start(bound(annotations={name: text, "ready-after": "1s"}), 5)
    key = f"sim.kohort.dev/{name}"
    told = [event for event in world.events() if event.startswith("InvalidAnnotation")]
    assert told == [f'InvalidAnnotation: the annotation {key} is ignored: "{text}" is not {wanted}']


@pytest.mark.parametrize(("policy", "phase"), [("Always", "Succeeded"), ("Never", "Failed")])
def test_work_that_is_cut_short_has_failed_and_a_server_has_ended_well(policy, phase):
    pod = bound(annotations={"run-for": "10h"})
    pod["spec"]["restartPolicy"] = policy
    world = start(pod, 5)
    world.start_deleting("p")
    world.settle()
    status, _ = world.settle(1)[-2:]
    assert isinstance(status, MergeRequest)
    assert status.patch["status"]["phase"] == phase


def test_a_stubborn_pod_takes_its_whole_grace():
    world = start(bound(annotations={"ignore-stop": "true"}), 5)
    world.start_deleting("p", grace=30)
    world.settle(29)
    assert world.find(POD, "default", "p") is not None
    world.settle(1)
    assert world.find(POD, "default", "p") is None


@pytest.mark.parametrize(("own", "seconds"), [({}, 20), ({"stop-for": "2s"}, 2)])
def test_a_node_says_how_long_its_pods_take_to_end_unless_they_do(own, seconds):
    world = start(bound(annotations=own), 5)
    slow = world.node("n")
    slow["metadata"]["annotations"] = {"sim.kohort.dev/stop-for": "20s"}
    world.put(NODE, slow)
    world.start_deleting("p", grace=30)
    world.settle(seconds - 1)
    assert world.find(POD, "default", "p") is not None
    world.settle(1)
    assert world.find(POD, "default", "p") is None


def test_a_failed_node_does_nothing_until_it_is_back():
    world = start(bound(), 5)
    broken = world.node("n")
    broken["metadata"]["annotations"] = {"sim.kohort.dev/failed": "true"}
    world.put(NODE, broken)
    world.start_deleting("p")
    assert world.settle(3600) == []
    healed = world.node("n")
    healed["metadata"]["annotations"] = {}
    world.put(NODE, healed)
    world.settle(1)
    assert world.find(POD, "default", "p") is None


def test_a_pod_marked_unready_by_others_is_set_right():
    world = start(bound(), 5)
    marked = world.pod("p")
    next(c for c in marked["status"]["conditions"] if c["type"] == "Ready")["status"] = "False"
    world.put(POD, marked)
    world.settle()
    assert condition(world, "Ready") == "True"


def test_a_new_process_goes_on_where_the_old_one_stopped():
    for seconds in range(6):
        world = start(bound(annotations={"crash-after": "5s", "crash-times": "1"}), seconds)
        again = make_world()
        again.elapsed = world.elapsed
        again.put(POD, world.pod("p"))
        again.settle(60)
        assert condition(again, "Ready") == "True"
        assert container(again)["restartCount"] == 1


def test_addresses_are_unique_and_not_used_again_at_once():
    world = make_world()
    for number in range(300):
        world.put(POD, bound(f"p{number}"))
    world.settle(5)
    world.remove(POD, "default", "p299")
    world.put(POD, bound("late"))
    world.settle(5)
    addresses = [world.pod(e.name)["status"]["podIP"] for e in world.all(POD)]
    assert len(set(addresses)) == len(addresses) == 300
    assert world.pod("late")["status"]["podIP"] == "10.244.1.47"


def test_a_kubelet_can_keep_its_events_to_itself():
    world = TinyWorld(Kubelet(STAGES, emits=False))
    world.put(NODE, node("n"))
    world.put(POD, bound())
    world.settle(5)
    assert not [action for action in world.log if isinstance(action, EventRequest)]
