"""Objects of ome.io as values: what is read, what is absent, and what is said of broken ones."""

import orjson
import pytest
from isvc_builders import (
    OME,
    accelerator,
    model,
    needs_shared,
    runtime,
    service,
    shipped,
    shipped_models,
    shipped_runtimes,
    weight,
)

from kohort.apis.inferenceservice.configuration import (
    Configuration,
    read_configuration,
    resolve_ingress,
)
from kohort.apis.inferenceservice.models import VersionedName, read_model, read_weight
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.runtimes import read_accelerator, read_runtime
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, read_service


def test_a_component_is_parted_into_pod_runner_and_counts():
    obj = service(engine={"minReplicas": 0, "nodeSelector": {"a": "b"}, "runner": {"image": "x"}})
    engine = read_service(obj).find(ComponentType.ENGINE)
    assert engine.pod == {"nodeSelector": {"a": "b"}}
    assert engine.runner == {"image": "x"}
    assert (engine.extension.min_replicas, engine.extension.max_replicas) == (0, 0)
    assert read_service(obj).find(ComponentType.ROUTER) is None


def test_a_worker_has_a_size_and_a_leader_none():
    obj = service(engine={"leader": {"hostNetwork": True}, "worker": {"size": 3}})
    engine = read_service(obj).find(ComponentType.ENGINE)
    assert (engine.leader.pod, engine.leader.size) == ({"hostNetwork": True}, None)
    assert (engine.worker.pod, engine.worker.size) == ({}, 3)


def test_annotations_that_belong_to_the_object_alone_are_not_handed_on():
    notes = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "a"}
    assert read_service(service(annotations=notes)).annotations == {"team": "a"}


@pytest.mark.parametrize("broken", [None, 3, "text", [], {"engine": []}, {"model": "llama"}])
def test_a_spec_of_a_wrong_type_reads_as_an_empty_one(broken):
    found = read_service({**service(), "spec": broken})
    assert found.components == {}
    assert found.model is None


def test_a_model_keeps_apart_what_is_not_known_and_what_is_empty():
    found = read_model(model(modelFormat=None, quantization=""))
    assert (found.format, found.quantization, found.kind) == (None, "", "ClusterBaseModel")
    assert read_model(model(namespace="ml")).kind == "BaseModel"


def test_a_weight_that_is_not_said_is_the_definitions_default():
    found = read_runtime(runtime()).formats[0]
    assert found.format == VersionedName("safetensors", "1.0.0", "Equal", 1)


def test_fine_tuned_weights_without_a_configuration_are_not_merged():
    assert not read_weight(weight()).is_merged
    assert read_weight(weight(configuration={"merged_weights": True})).is_merged
    assert read_weight(weight(strategy="")).strategy == ""


def test_an_accelerator_has_memory_in_gibibytes_and_the_spot_price_first():
    found = read_accelerator(
        accelerator(
            "h100",
            capabilities={"memoryGB": "80Gi", "performance": {"fp16Tflops": 989}},
            cost={"perHour": "4", "spotPerHour": "1.5"},
            resources=[{"name": "nvidia.com/gpu"}],
        )
    )
    assert (found.memory_gib, found.per_hour) == (80, 1_500_000_000)
    assert found.performance["fp16"] == 989
    assert found.resources == {"nvidia.com/gpu": "1"}


def config_map(**data) -> dict:
    texts = {k: v if isinstance(v, str) else orjson.dumps(v).decode() for k, v in data.items()}
    return {"kind": "ConfigMap", "data": texts}


def test_an_empty_configuration_has_upstreams_defaults():
    found = read_configuration(config_map())
    assert found.default_mode is DeploymentMode.RAW
    assert (found.ingress.domain, found.ingress.url_scheme) == ("example.com", "http")
    assert not found.ingress.is_disabled


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"deploy": "{"}, "key deploy of ConfigMap inferenceservice-config is not JSON"),
        ({"deploy": "[]"}, "key deploy of ConfigMap inferenceservice-config must be a JSON object"),
        ({"deploy": {"defaultDeploymentMode": "MultiNode"}}, "must be RawDeployment or Serverless"),
        ({"ingress": {"ingressService": "s"}}, "lacks ingressGateway"),
        (
            {"ingress": {"ingressGateway": "g", "ingressService": "s", "pathTemplate": "/x"}},
            "pathTemplate needs ingressDomain",
        ),
        ({"ingress": {"enableGatewayAPI": "true"}}, 'must be true or false, not "true"'),
        ({"ingress": {"urlScheme": 1}}, "urlScheme in key ingress .* must be a text, not 1"),
        ({"ingress": {"additionalIngressDomains": "x.org"}}, "must be a list"),
        ({"deploy": {"defaultDeploymentMode": 1}}, "must be a text, not 1"),
        ({"multinodeProber": {"cpuLimit": 1}}, "cpuLimit in key multinodeProber"),
        ({"multinodeProber": {"startupPeriodSeconds": "30"}}, "must be a number"),
    ],
)
def test_a_broken_configuration_is_named(data: dict, words: str):
    with pytest.raises(ServiceError, match=words):
        read_configuration(config_map(**data))


def test_a_missing_configuration_is_named():
    with pytest.raises(ServiceError, match="inferenceservice-config is missing in namespace ome"):
        read_configuration(None)


def test_annotations_override_the_ingress_of_one_service():
    notes = {
        "ome.io/ingress-domain": "x.org",
        "ome.io/ingress-additional-domains": "y.org, z.org",
        "ome.io/ingress-disable-creation": "true",
    }
    found = resolve_ingress(Configuration().ingress, read_service(service(annotations=notes)))
    assert (found.domain, found.additional_domains) == ("x.org", ("y.org", "z.org"))
    assert found.is_disabled


@needs_shared
def test_all_runtimes_of_upstream_load():
    found = shipped_runtimes()
    assert len(found) == 207
    engines = [each.components[ComponentType.ENGINE] for each in found]
    assert sum(1 for engine in engines if engine.runner) == 204
    assert sum(1 for engine in engines if engine.leader and engine.worker) == 3
    assert sum(1 for each in found if ComponentType.ROUTER in each.components) == 189
    assert sum(1 for each in found if ComponentType.DECODER in each.components) == 11
    chosen = [form.auto_select for each in found for form in each.formats]
    assert (chosen.count(True), chosen.count(False)) == (83, 127)


@needs_shared
def test_all_models_of_upstream_load():
    found = shipped_models()
    assert len(found) == 32
    assert all(each.storage.uri for each in found.values())
    assert sum(1 for each in found.values() if each.format) == 9


@needs_shared
def test_the_configuration_of_upstream_loads():
    (obj,) = (o for o in shipped("configmap") if o["metadata"]["name"] == "inferenceservice-config")
    found = read_configuration(obj)
    assert found.ingress.is_disabled
    assert (found.ingress.domain, found.ingress.class_name) == ("svc.cluster.local", "istio")
    assert found.prober.startup["failureThreshold"] == 150
    assert found.prober.unavailable_seconds == 1800
    assert (found.adapter, found.model_init["authType"]) == (None, "InstancePrincipal")
    assert (OME / "configmap").exists()
