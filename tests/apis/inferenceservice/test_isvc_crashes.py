"""A component that crashes is not ready: beside pods that serve, and between two crashes."""

import json
from typing import Any

import pytest
from isvc_builders import model, multi_node, planned, rbg, service
from test_isvc_status import (
    ENGINE,
    LATER,
    NOW,
    OPEN,
    conditions,
    crashed,
    deployment,
    group,
    knative,
    pod,
    status_of,
    with_condition,
)

from kohort.apis.carriers.members import read_moment
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.handover import plan_handover
from kohort.apis.inferenceservice.read import find_serving
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.status.crashes import find_crash, list_crash_ends
from kohort.cluster.kinds import DEPLOYMENT, SERVICE
from kohort.cluster.timestamps import write_moment

TEXT = (
    "component engine crashes: container ome-container of pod b ended with exit code 137: no memory"
)
LWS = {kinds.LEADER_WORKER_SET: {"lws-chat-engine": with_condition("Available", "True")}}
ROLE = group(replicas=2, readyReplicas=2, updatedReplicas=2)
RAY = {"ome.io/deploymentMode": "MultiNodeRayVLLM"}


def seconds_after(seconds: float) -> str:
    return write_moment(read_moment(NOW) + seconds)


def again(name: str = "b", *, ready: bool = False, ended: Any = None, **fields: Any) -> dict:
    """A pod whose container runs again after it failed, ready since ``NOW`` or not yet."""
    last = {"reason": "Error", "exitCode": 137, "message": "no memory", "finishedAt": NOW}
    entry = {
        "name": "ome-container",
        "state": {"running": {"startedAt": NOW}},
        "lastState": {"terminated": last if ended is None else ended},
        "restartCount": 1,
        **fields,
    }
    obj = pod(name, ready=ready, containerStatuses=[entry])
    obj["status"]["conditions"][0]["lastTransitionTime"] = NOW
    return obj


def find_ready(status: dict, name: str = "Ready") -> dict:
    return next(c for c in status["conditions"] if c["type"] == name)


@pytest.mark.parametrize(
    ("obj", "held", "live"),
    [
        (service(), (), ENGINE),
        (service(), (multi_node(),), LWS),
        (rbg(), (), ROLE),
        (service(engine={"minReplicas": 0}), (), knative(latestCreatedRevisionName="r2")),
    ],
    ids=["Deployment", "LeaderWorkerSet", "RoleBasedGroup", "Knative"],
)
def test_a_service_is_not_ready_while_a_pod_crashes_beside_others(obj, held, live):
    held = (model(), *held) if held else ()
    for failing in (crashed("b"), again()):
        status = status_of(obj, *held, live=live, pods=[pod("a"), failing])
        for name in ("Ready", "EngineReady"):
            found = find_ready(status, name)
            said = (found["status"], found["reason"], found["message"])
            assert said == ("False", "CrashLoopBackOff", TEXT)
    assert conditions(status_of(obj, *held, live=live, pods=[pod("a")]))["Ready"][0] == "True"


def test_a_worker_that_crashes_is_found_though_no_service_selects_it():
    worker = crashed("b")
    del worker["metadata"]["labels"]["app"]
    status = status_of(service(), live=ENGINE, pods=[pod("a"), worker])
    assert find_ready(status)["message"] == TEXT


def test_a_crash_of_another_container_is_the_components_and_not_the_models():
    status = status_of(service(), live=ENGINE, pods=[crashed(container="sidecar")])
    assert conditions(status)["EngineReady"] == ("False", "CrashLoopBackOff")
    assert "container sidecar of pod p" in find_ready(status)["message"]
    assert status["modelStatus"]["modelRevisionStates"]["targetModelState"] == "Loaded"


def test_a_crash_beside_pods_that_serve_moves_no_traffic():
    """Addresses, the ingress, the state of the model and a change of the form go by what serves."""
    pods = [pod("a"), crashed("b")]
    config = Configuration(ingress=OPEN)
    status = status_of(service(), live=ENGINE, pods=pods, config=config)
    assert conditions(status)["IngressReady"][0] == "True"
    assert status["components"]["engine"]["url"]
    assert status["modelStatus"]["modelCopies"] == {"failedCopies": 1, "totalCopies": 2}
    assert status["modelStatus"]["transitionStatus"] == "UpToDate"
    plan = planned(service())
    edited = {"metadata": {"name": "chat-engine"}, "spec": {"selector": {"app": "other"}}}
    existing = {**ENGINE, SERVICE: {"chat-engine": edited, "chat": edited}}
    assert not plan_handover(plan, existing, find_serving(plan, existing, pods)).services


def test_a_component_whose_only_pod_crashes_does_not_serve():
    plan = planned(service())
    assert find_serving(plan, ENGINE, [pod("a"), crashed("b")])[ComponentType.ENGINE]
    assert not find_serving(plan, ENGINE, [crashed("b")])[ComponentType.ENGINE]


def test_a_crash_is_over_when_its_pod_has_been_ready_for_a_while():
    pods = [pod("a"), again(ready=True)]
    assert conditions(status_of(service(), live=ENGINE, pods=pods))["Ready"][0] == "False"
    later = status_of(service(), live=ENGINE, pods=pods, now=seconds_after(10))
    assert conditions(later)["Ready"] == ("True", "")
    assert list(list_crash_ends(pods)) == [read_moment(NOW) + 10]
    gone = status_of(service(), live=ENGINE, pods=[pod("a")])
    assert conditions(gone)["Ready"] == ("True", "")


def test_a_pod_that_crashed_long_ago_is_no_crash():
    """What another controller left at rest changes nothing when the operator takes it over."""
    pods = [again(ready=True, restartCount=7)]
    before = status_of(service(), live=ENGINE, pods=pods, now=LATER)
    assert conditions(before)["Ready"] == ("True", "")


def test_a_restart_that_the_ready_condition_missed_counts_from_its_start():
    found = again(ready=True, state={"running": {"startedAt": seconds_after(60)}})
    assert find_crash([found], read_moment(NOW) + 65) is not None
    assert find_crash([found], read_moment(NOW) + 70) is None


def test_a_clock_that_is_far_ahead_holds_a_service_for_no_longer():
    found = again(ready=True, state={"running": {"startedAt": seconds_after(3600)}})
    assert find_crash([found], read_moment(NOW)) is None


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_ended_for_good_was_replaced(phase: str):
    pods = [pod("a"), crashed("b", phase=phase)]
    assert conditions(status_of(service(), live=ENGINE, pods=pods))["Ready"] == ("True", "")


def test_a_pod_that_leaves_does_not_crash():
    leaving = crashed("b")
    leaving["metadata"]["deletionTimestamp"] = NOW
    pods = [pod("a"), leaving]
    assert conditions(status_of(service(), live=ENGINE, pods=pods))["Ready"] == ("True", "")


def test_a_container_that_waits_to_start_again_still_crashes():
    found = again(state={"waiting": {"reason": "ContainerCreating"}})
    assert find_crash([found], read_moment(LATER)) is not None


def test_a_container_that_ends_well_again_and_again_crashes():
    well = {"reason": "Completed", "exitCode": 0}
    assert find_crash([again(ended=well)], read_moment(NOW)) is None
    found = find_crash([again(ended=well, restartCount=2)], read_moment(NOW))
    assert found is not None
    assert (found.reason, found.exit_code) == ("CrashLoopBackOff", 0)


def test_the_reason_of_the_kubelet_is_kept():
    ended = {"reason": "OOMKilled", "exitCode": 137}
    found = find_crash([again(ended=ended)], read_moment(NOW))
    assert found is not None
    assert found.reason == "OOMKilled"


@pytest.mark.parametrize(
    ("state", "crashes"),
    [
        ({"terminated": {"reason": "Completed", "exitCode": 0}}, False),
        ({"terminated": {"reason": "Error", "exitCode": 1}}, True),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, True),
        ({"running": {}}, True),
    ],
)
def test_an_init_container_crashes_until_it_ends_well(state: dict, crashes: bool):
    last = {"terminated": {"reason": "Error", "exitCode": 1}}
    entry = {"name": "model-init", "state": state, "lastState": last, "restartCount": 3}
    found = find_crash([pod("b", ready=False, initContainerStatuses=[entry])], 0.0)
    assert (found is not None) is crashes


@pytest.mark.parametrize(
    ("before", "restarts", "state", "crashes"),
    [
        ({"restartCount": 0}, 1, {"running": {}}, False),
        ({"restartCount": 0}, 2, {"running": {}}, True),
        ({"restartCount": 0, "pendingImage": "engine:1"}, 2, {"running": {}}, False),
        ({"restartCount": 0}, 0, {"terminated": {"exitCode": 137}}, False),
        ({"restartCount": 0}, 1, {"terminated": {"exitCode": 137}}, True),
        ({"restartCount": 0}, 1, {"waiting": {"reason": "CrashLoopBackOff"}}, True),
        ({}, 5, {"running": {}}, False),  # upstream's has no counts
    ],
)
def test_a_restart_by_an_update_in_place_is_no_crash(before, restarts, state, crashes):
    note = json.dumps({"lastContainerStatuses": {"ome-container": before}})
    found = again(state=state, restartCount=restarts)
    found["metadata"]["annotations"] = {labels.IN_PLACE_STATE: note}
    assert (find_crash([found], 0.0) is not None) is crashes


def test_a_pod_of_a_ray_cluster_that_crashes_holds_the_service():
    prober = deployment()
    live = {DEPLOYMENT: {"chat-engine-0-mnp": prober}}
    obj = service(annotations=RAY)
    status = status_of(
        obj, model(), multi_node(), live=live, pods=[crashed("b", app="chat-engine")]
    )
    assert find_ready(status, "EngineReady")["message"] == TEXT
