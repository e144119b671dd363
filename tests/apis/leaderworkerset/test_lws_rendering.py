"""The objects of the sample (docs/examples/sample/lws.yaml), and what makes them differ."""

import pytest
from lws_builders import POD_TEMPLATE, lws, pod_from

from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.admission.pods import mutate_pod
from kohort.apis.leaderworkerset.objects.services import group_service, shared_service
from kohort.apis.leaderworkerset.objects.sets import leader_set, worker_set
from kohort.apis.leaderworkerset.objects.templates import Following, leader_template
from kohort.cluster.objects import Object, annotations_of, labels_of

NAME, KEY = "leaderworkerset-sample", "6859c84d69"


def leader_pod(workload: Object | None = None, group: int = 0) -> Object:
    template = leader_template(workload or lws(), KEY)
    pod = mutate_pod(pod_from(template, f"{NAME}-{group}", NAME))
    assert isinstance(pod, dict)
    return pod


def owner(kind: str, name: str, uid: str, version: str = "v1") -> Object:
    return {
        "apiVersion": version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def test_the_set_of_leaders_has_exactly_the_metadata_that_upstream_applies():
    found = leader_set(lws(), KEY, 3, 0)
    assert (found["apiVersion"], found["kind"]) == ("apps/v1", "StatefulSet")
    assert found["metadata"] == {
        "name": NAME,
        "namespace": "default",
        "labels": {labels.NAME: NAME, labels.REVISION: KEY},
        "annotations": {labels.REPLICAS: "3"},
        "ownerReferences": [
            owner("LeaderWorkerSet", NAME, "lws-uid", "leaderworkerset.x-k8s.io/v1")
        ],
    }


def test_the_set_of_leaders_has_exactly_the_fields_that_upstream_applies():
    rolling = {"partition": 0, "maxUnavailable": 1}
    marks = {labels.NAME: NAME, labels.REVISION: KEY, labels.WORKER_INDEX: "0"}
    assert leader_set(lws(), KEY, 3, 0)["spec"] == {
        "serviceName": NAME,
        "replicas": 3,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {labels.NAME: NAME, labels.WORKER_INDEX: "0"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "template": {
            "metadata": {"labels": marks, "annotations": {labels.SIZE: "4"}},
            "spec": POD_TEMPLATE["spec"],
        },
    }


@pytest.mark.parametrize("group", [0, 1, 2])
def test_the_set_of_workers_belongs_to_its_leader(group: int):
    leader = f"{NAME}-{group}"
    found = worker_set(lws(), leader_pod(group=group))
    selector = {
        labels.NAME: NAME,
        labels.GROUP_INDEX: str(group),
        labels.GROUP_KEY: names.group_key("default", leader),
    }
    assert found["metadata"]["name"] == leader
    assert found["metadata"]["ownerReferences"] == [owner("Pod", leader, leader)]
    spec = found["spec"]
    assert labels_of(found) == {**selector, labels.REVISION: KEY}
    assert spec["selector"] == {"matchLabels": selector}
    assert (spec["replicas"], spec["ordinals"], spec["serviceName"]) == (3, {"start": 1}, NAME)
    assert spec["template"]["metadata"] == {
        "labels": {**selector, labels.REVISION: KEY},
        "annotations": {labels.SIZE: "4", labels.LEADER_NAME: leader},
    }
    assert "updateStrategy" not in spec


def test_the_shared_service_is_headless_and_selects_the_whole_set():
    assert shared_service(lws())["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {labels.NAME: NAME},
    }


def test_a_service_of_ones_own_selects_one_group_and_belongs_to_its_leader():
    service = group_service(lws(), leader_pod(group=2))
    assert service["metadata"]["name"] == f"{NAME}-2"
    assert service["metadata"]["ownerReferences"] == [owner("Pod", f"{NAME}-2", f"{NAME}-2")]
    assert service["spec"]["selector"] == {labels.NAME: NAME, labels.GROUP_INDEX: "2"}


def test_workers_with_a_subdomain_of_their_own_use_their_leaders_service():
    unique = lws(subdomain="UniquePerReplica")
    assert worker_set(unique, leader_pod(unique))["spec"]["serviceName"] == f"{NAME}-0"
    assert leader_set(unique, KEY, 3, 0)["spec"]["serviceName"] == NAME


def test_leaders_have_a_template_of_their_own_if_there_is_one():
    other = {"metadata": {"labels": {"role": "leader"}}, "spec": {"containers": [{"name": "l"}]}}
    template = leader_template(lws(leaderTemplate=other), KEY)
    assert template["spec"]["containers"] == [{"name": "l", "resources": {}}]
    assert template["metadata"]["labels"]["role"] == "leader"


def test_our_marks_win_over_those_of_a_template():
    other = {"metadata": {"labels": {labels.NAME: "x"}, "annotations": {labels.SIZE: "99"}}}
    template = leader_template(lws(workerTemplate={**other, "spec": {"containers": []}}), KEY)
    assert template["metadata"]["labels"][labels.NAME] == NAME
    assert template["metadata"]["annotations"][labels.SIZE] == "4"


def test_metadata_of_the_user_goes_onto_the_sets_but_for_what_is_private():
    workload = lws(
        annotations={
            "team": "red",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "kohort.dev/rollout-strategy": "compatible",
        }
    )
    workload["metadata"]["labels"] = {"app": "demo", labels.NAME: "forged"}
    found = leader_set(workload, KEY, 3, 0)
    assert annotations_of(found) == {"team": "red", labels.REPLICAS: "3"}
    assert labels_of(found)["app"] == "demo"
    assert labels_of(found)[labels.NAME] == NAME
    assert annotations_of(worker_set(workload, leader_pod(workload))) == {"team": "red"}


def test_workers_follow_their_leader_into_its_topology():
    found = worker_set(lws(), leader_pod(), Following(node_selector={"rack": "r1"}))
    assert found["spec"]["template"]["spec"]["nodeSelector"] == {"rack": "r1"}


@pytest.mark.parametrize(
    ("rollout", "at_once"),
    [
        ({"maxUnavailable": 2, "maxSurge": 2}, 4),
        ({"maxUnavailable": 0, "maxSurge": 9}, 3),
        ({"maxUnavailable": "34%", "maxSurge": "34%"}, 3),
        ({"maxUnavailable": 0, "maxSurge": 0}, 1),
    ],
)
def test_leaders_may_be_replaced_within_budget_and_surge(rollout: Object, at_once: int):
    strategy = leader_set(lws(rollout=rollout), KEY, 3, 0)["spec"]["updateStrategy"]
    assert strategy["rollingUpdate"]["maxUnavailable"] == at_once


def test_a_leader_made_while_the_webhook_was_away_still_gets_its_workers():
    bare = pod_from(leader_template(lws(), KEY), f"{NAME}-1", NAME)
    marks = labels_of(worker_set(lws(), bare))
    assert marks[labels.GROUP_INDEX] == "1"
    assert marks[labels.GROUP_KEY] == names.group_key("default", f"{NAME}-1")


def test_values_are_written_as_the_server_stores_them():
    container = {
        "name": "a",
        "stdin": False,
        "env": [{"name": "E", "value": ""}],
        "resources": {"limits": {"memory": "1024Mi", "cpu": 2}},
    }
    workload = lws(workerTemplate={"spec": {"containers": [container], "volumes": None}})
    assert leader_template(workload, KEY)["spec"] == {
        "containers": [
            {
                "name": "a",
                "env": [{"name": "E"}],
                "resources": {"limits": {"memory": "1Gi", "cpu": "2"}},
            }
        ]
    }
