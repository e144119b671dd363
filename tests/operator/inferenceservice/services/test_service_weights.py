"""Fine-tuned weights on the cluster: fetched before the engine starts, in both strategies."""

import json
from copy import deepcopy

import pytest
from service_lab import API, RBG, ServiceLab, service

from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE
from kohort.cluster.objects import Object

BOTH = pytest.mark.parametrize("mode", ["", RBG], ids=["apart", "group"])
MISSING = "key fineTunedAdapter of ConfigMap inferenceservice-config is missing: pods need it"
AGENT = {
    "image": "agent:1",
    "compartmentId": "c",
    "authType": "InstancePrincipal",
    "region": "r",
    "memoryRequest": "1Gi",
    "memoryLimit": "1Gi",
    "cpuRequest": "1",
    "cpuLimit": "1",
}
CONFIGURATION = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "inferenceservice-config", "namespace": "ome"},
    "data": {"fineTunedAdapter": json.dumps(AGENT)},
}
WEIGHT = {
    "apiVersion": API,
    "kind": "FineTunedWeight",
    "metadata": {"name": "tuned"},
    "spec": {
        "baseModelRef": {"name": "llama"},
        "modelType": "llama",
        "hyperParameters": {"strategy": "lora"},
        "storage": {"storageUri": "oci://n/space/b/bucket/o/tuned"},
    },
}


def tuned(mode: str) -> Object:
    obj = service("engine", mode=mode)
    obj["spec"]["model"]["fineTunedWeights"] = ["tuned"]
    return obj


async def configure(lab: ServiceLab) -> None:
    """Bring the configuration that a cluster of upstream lacks, in the operator's namespace."""
    if lab.api.context.find(lab.api.target(NAMESPACE, "", "ome")) is None:
        space = {"metadata": {"name": "ome"}}
        await lab.api.create(lab.api.target(NAMESPACE), space, WriteOptions())
    await lab.api.create(lab.api.target(CONFIG_MAP, "ome"), deepcopy(CONFIGURATION), WriteOptions())


@BOTH
async def test_an_adapter_fetches_the_weights_before_the_engine_starts(lab: ServiceLab, mode: str):
    await lab.stock()
    await lab.apply(WEIGHT)
    await configure(lab)
    await lab.apply(tuned(mode))
    await lab.until(lab.is_ready, 120)
    (pod,) = lab.pods("engine").values()
    assert [each["name"] for each in pod["spec"]["initContainers"]] == ["fine-tuned-adapter"]
    assert pod["metadata"]["labels"]["fine-tuned-serving"] == "true"


@BOTH
async def test_pods_that_admission_refuses_are_told_and_come_once_it_lets_them(
    lab: ServiceLab, mode: str
):
    await lab.stock()
    await lab.apply(WEIGHT)
    await lab.apply(tuned(mode))
    await lab.run(30)
    assert MISSING in lab.condition()["message"]
    assert not lab.pods()
    await configure(lab)
    await lab.until(lab.is_ready, 120)
