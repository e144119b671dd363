"""What a status must not hide: refusals of workloads, failures beside what is not known yet."""

import pytest
from isvc_builders import model, multi_node, service
from test_isvc_status import LATER, conditions, crashed, deployment, pod, status_of, with_condition

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.status.pods import read_model_state
from kohort.cluster.kinds import DEPLOYMENT


@pytest.mark.parametrize("name", ["ReplicaFailure", "Stalled", "Blocked"])
def test_why_a_workload_gets_no_pods_is_the_reason(name: str):
    held = deployment("False", reason="MinimumReplicasUnavailable")
    refused = {"type": name, "status": "True", "reason": "FailedCreate", "message": "no quota"}
    held["status"]["conditions"].append(refused)
    status = status_of(service(), live={DEPLOYMENT: {"chat-engine": held}})
    assert conditions(status)["EngineReady"] == ("False", "FailedCreate")
    assert next(c for c in status["conditions"] if c["type"] == "Ready")["message"] == "no quota"


def test_a_refusal_of_a_set_of_groups_is_the_reason():
    held = with_condition("Blocked", "True", "FailedCreate", "StatefulSet x: no quota")
    live = {kinds.LEADER_WORKER_SET: {"lws-chat-engine": held}}
    status = status_of(service(), model(), multi_node(), live=live)
    assert conditions(status)["EngineReady"] == ("False", "FailedCreate")


def test_a_workload_that_serves_is_ready_whatever_else_it_says():
    held = deployment()
    held["status"]["conditions"].append({"type": "Blocked", "status": "True", "reason": "Slow"})
    status = status_of(service(), live={DEPLOYMENT: {"chat-engine": held}})
    assert conditions(status)["EngineReady"] == ("True", "")


def test_a_component_that_failed_is_not_hidden_by_one_that_is_not_known_yet():
    live = {DEPLOYMENT: {"chat-engine": deployment("False", reason="Gone")}}
    found = conditions(status_of(service(router={}), live=live))
    assert found["RouterReady"][0] == "Unknown"
    assert found["Ready"] == ("False", "Gone")


def test_the_newest_pod_says_how_far_the_model_is():
    old, new = crashed("a"), pod("b", ready=False)
    new["metadata"]["creationTimestamp"] = LATER
    assert read_model_state([old, new], "ome-container", False) == "Pending"
    old["metadata"]["creationTimestamp"] = "2026-01-02T05:00:00Z"
    assert read_model_state([old, new], "ome-container", False) == "FailedToLoad"
