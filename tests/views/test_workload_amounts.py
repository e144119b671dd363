"""Pods and GPUs of workloads that other controllers run, and what a rollout of theirs adds."""

from typing import Any

import pytest

from kohort.apis.inferenceservice import kinds
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Kind, Object
from kohort.views.object_forecasts import count_extra, count_workloads


def make_template(image: str = "engine:1", gpus: int = 2) -> Object:
    limits = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return {"spec": {"containers": [{"name": "engine", "image": image, "resources": limits}]}}


def hold(kind: Kind, spec: Object) -> dict[Kind, dict[str, Object]]:
    metadata = {"name": "x", "namespace": "default", "uid": "u", "generation": 1}
    obj = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}
    return {kind: {"x": obj}}


def deploy(image: str = "engine:1", **spec: Any) -> dict[Kind, dict[str, Object]]:
    return hold(DEPLOYMENT, {"template": make_template(image), **spec})


def make_set(image: str) -> dict[Kind, dict[str, Object]]:
    rolling = {"maxUnavailable": 1, "maxSurge": 1}
    spec = {
        "replicas": 3,
        "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling},
        "leaderWorkerTemplate": {"size": 2, "workerTemplate": make_template(image)},
    }
    return hold(kinds.LEADER_WORKER_SET, spec)


def test_a_deployment_that_does_not_say_its_replicas_has_one():
    assert count_workloads(deploy()) == (1, 2)
    assert count_workloads(deploy(replicas=3)) == (3, 6)


def test_a_ray_cluster_has_a_head_and_workers():
    worker = {"replicas": 2, "numOfHosts": 2, "template": make_template(gpus=4)}
    spec = {"headGroupSpec": {"template": make_template()}, "workerGroupSpecs": [worker]}
    assert count_workloads(hold(kinds.RAY_CLUSTER, spec)) == (5, 18)


@pytest.mark.parametrize(
    ("strategy", "extra"),
    [
        ({"rollingUpdate": {"maxSurge": 1}}, (1, 2)),
        ({"rollingUpdate": {"maxSurge": "50%"}}, (3, 6)),
        ({}, (2, 4)),  # a quarter of five, rounded up
        ({"type": "Recreate"}, (0, 0)),
    ],
)
def test_a_new_image_of_a_deployment_needs_extra_pods(strategy: Object, extra: tuple[int, int]):
    old, new = (deploy(i, replicas=5, strategy=strategy) for i in ("engine:1", "engine:2"))
    assert count_extra(old, new) == extra


def test_other_replicas_and_fields_that_the_server_filled_in_replace_no_pod():
    old = deploy(replicas=5)
    pod = old[DEPLOYMENT]["x"]["spec"]["template"]["spec"]
    pod["containers"][0]["imagePullPolicy"] = "IfNotPresent"
    assert count_extra(old, deploy(replicas=6)) == (0, 0)


def test_a_new_image_of_a_leader_worker_set_needs_an_extra_group():
    assert count_extra(make_set("engine:1"), make_set("engine:2")) == (2, 4)
    assert count_extra(make_set("engine:1"), make_set("engine:1")) == (0, 0)


def test_a_workload_that_is_new_has_nothing_on_top():
    assert count_extra({}, deploy()) == (0, 0)
