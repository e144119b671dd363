"""A Ray cluster that KubeRay calls ready, but whose prober is not available, is made anew."""

import json

import pytest
from service_lab import ServiceLab, kinds, model, runtime, service
from test_service_modes import GANG

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.objects import Object, annotations_of, name_of, uid_of
from kohort.cluster.port import PatchType

ALLOWED_SECONDS = 300
PROBER = {"image": "prober:1", "unavailableThresholdSeconds": ALLOWED_SECONDS}
INGRESS = {"ingressGateway": "g", "ingressService": "s", "disableIngressCreation": True}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "inferenceservice-config", "namespace": "ome"},
    "data": {"multinodeProber": json.dumps(PROBER), "ingress": json.dumps(INGRESS)},
}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "rayclusters.ray.io"},
    "spec": {
        "group": "ray.io",
        "scope": "Namespaced",
        "names": {"kind": "RayCluster", "plural": "rayclusters", "singular": "raycluster"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": OPEN},
                "subresources": {"status": {}},
            }
        ],
    },
}


def cluster(lab: ServiceLab) -> Object:
    found = lab.find(kinds.RAY_CLUSTER, "chat-engine-0")
    assert found is not None
    return found


def since(lab: ServiceLab) -> str | None:
    return annotations_of(cluster(lab)).get(labels.RAY_UNAVAILABLE)


async def report(lab: ServiceLab, workers: int) -> None:
    """KubeRay says how many workers the cluster has."""
    target = lab.api.target(kinds.RAY_CLUSTER, lab.namespace, "chat-engine-0", "status")
    body = {"status": {"state": "ready", "availableWorkerReplicas": workers}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="kuberay"))


async def begin(lab: ServiceLab, workers: int = 1) -> str:
    """A Ray cluster whose prober finds no node; its uid."""
    await lab.api.create(lab.api.target(builtin.DEFINITION), DEFINITION, WriteOptions())
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ome"}}
    await lab.stock(home, model(), runtime(engineConfig=GANG))
    await lab.api.create(lab.api.target(builtin.CONFIG_MAP, "ome"), CONFIG, WriteOptions())
    await lab.cordon()
    obj = service("engine")
    obj["spec"]["engine"]["annotations"] = {labels.DEPLOYMENT_MODE: "MultiNodeRayVLLM"}
    await lab.apply(obj)
    await lab.until(lambda: bool(lab.all(kinds.RAY_CLUSTER)), 120)
    await report(lab, workers)
    await lab.run(2)
    return uid_of(cluster(lab))


async def test_one_whose_prober_fails_for_long_is_made_anew(lab: ServiceLab):
    first = await begin(lab)
    assert since(lab)
    await lab.run(ALLOWED_SECONDS - 10)
    assert uid_of(cluster(lab)) == first
    await lab.run(20)
    assert uid_of(cluster(lab)) != first
    assert since(lab) is None
    (event,) = [e for e in lab.all(builtin.EVENT) if e["reason"] == "RayClusterRenewed"]
    assert "its prober was not available for 300 s" in event["message"]


async def test_the_wait_outlives_the_operator(lab: ServiceLab):
    first = await begin(lab)
    await lab.run(ALLOWED_SECONDS / 2)
    await lab.stop_operator()
    lab.start_operator()
    await lab.run(ALLOWED_SECONDS / 2 + 20)
    assert uid_of(cluster(lab)) != first


async def test_a_prober_that_answers_ends_the_wait(lab: ServiceLab):
    first = await begin(lab)
    for node in lab.all(builtin.NODE):
        target = lab.api.target(builtin.NODE, "", name_of(node))
        body = {"spec": {"unschedulable": None}}
        await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())
    await lab.until(lambda: since(lab) is None, 120)
    await lab.run(2 * ALLOWED_SECONDS)
    assert uid_of(cluster(lab)) == first


async def test_one_without_workers_is_left_to_kuberay(lab: ServiceLab):
    first = await begin(lab, workers=0)
    await lab.run(2 * ALLOWED_SECONDS)
    assert (uid_of(cluster(lab)), since(lab)) == (first, None)


@pytest.mark.parametrize("noted", ["not a time", "2999-01-01T00:00:00Z"])
async def test_a_moment_that_cannot_be_begins_the_wait_anew(lab: ServiceLab, noted: str):
    first = await begin(lab)
    path = f"/metadata/annotations/{labels.RAY_UNAVAILABLE.replace('/', '~1')}"
    operation = {"op": "add", "path": path, "value": noted}
    await lab.edit("chat-engine-0", operation, kind=kinds.RAY_CLUSTER)
    await lab.until(lambda: since(lab) != noted)
    assert uid_of(cluster(lab)) == first
    await lab.run(ALLOWED_SECONDS + 20)
    assert uid_of(cluster(lab)) != first


async def test_while_it_waits_nothing_else_is_written(lab: ServiceLab):
    await begin(lab)
    await lab.run(ALLOWED_SECONDS / 2)
    before = dict(lab.cluster.tried)
    await lab.run(ALLOWED_SECONDS / 3)
    assert dict(lab.cluster.tried) == before
