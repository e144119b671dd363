"""Model, modes, accelerators and the former form: what a service comes to."""

import pytest
from isvc_builders import accelerator, known, model, resolved, runtime, service, weight

from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.accelerators import find_exclusion
from kohort.apis.inferenceservice.resolution.migration import migrate, needs_migration
from kohort.apis.inferenceservice.resolution.modes import service_mode
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, read_service

ENGINE = ComponentType.ENGINE


def test_a_model_of_the_namespace_comes_first_unless_the_cluster_is_named():
    both = (model(), model(namespace="ml"), runtime())
    assert resolved(service(), *both).model.namespace == "ml"
    explicit = service(model={"name": "llama", "kind": "ClusterBaseModel"})
    assert resolved(explicit, *both).model.namespace == ""


def test_the_kind_that_the_server_fills_in_does_not_hide_a_model_of_the_namespace():
    obj = service(model={"name": "llama", "kind": "ClusterBaseModel"})
    assert resolved(obj, model(namespace="ml"), runtime()).model.namespace == "ml"


@pytest.mark.parametrize(
    ("obj", "held", "words", "failure"),
    [
        (service(), (runtime(),), "no BaseModel llama in namespace ml", "BaseModelNotFound"),
        (service(), (model(namespace="other"), runtime()), "no BaseModel", "BaseModelNotFound"),
        (
            service(model={"name": "llama", "kind": "BaseModel"}),
            (model(), runtime()),
            "no BaseModel llama",
            "BaseModelNotFound",
        ),
        (service(), (model(disabled=True), runtime()), "is disabled", "BaseModelNotReady"),
        (service(model=None), (runtime(),), "names no model", "BaseModelNotFound"),
        (
            service(model={"name": "llama", "fineTunedWeights": ["a", "b"]}),
            (model(), runtime()),
            "one fine-tuned weight",
            "InvalidPredictorSpec",
        ),
        (
            service(model={"name": "llama", "fineTunedWeights": ["a"]}),
            (model(), runtime()),
            "no FineTunedWeight a",
            "BaseModelNotFound",
        ),
        (
            service(model={"name": "llama", "fineTunedWeights": ["tuned"]}),
            (model(), runtime(), weight(disabled=True)),
            "FineTunedWeight tuned is disabled",
            "BaseModelNotReady",
        ),
    ],
)
def test_a_model_that_cannot_be_served_is_an_error(obj, held, words, failure):
    with pytest.raises(ServiceError, match=words) as error:
        resolved(obj, *held)
    assert (error.value.reason, error.value.failure) == ("ModelReconcileError", failure)


def test_a_fine_tuned_weight_brings_its_base_model():
    obj = service(model={"name": "tuned", "kind": "FineTunedWeight"})
    assert resolved(obj, model(), runtime(), weight()).model.name == "llama"


PARTS = {"leader": {}, "worker": {"size": 1}}


def note(mode: str) -> dict:
    return {"annotations": {"ome.io/deploymentMode": mode}}


@pytest.mark.parametrize(
    ("spec", "modes"),
    [
        ({}, ("RawDeployment", None, None)),
        ({"engine": {"minReplicas": 0}}, ("Serverless", None, None)),
        ({"engine": PARTS}, ("MultiNode", None, None)),
        ({"engine": {"worker": {"size": 1}}}, ("MultiNode", None, None)),
        ({"engine": note("MultiNodeRayVLLM")}, ("MultiNodeRayVLLM", None, None)),
        ({"engine": note("RoleBasedGroup")}, ("RawDeployment", None, None)),
        ({"engine": note("PDDisaggregated")}, ("RawDeployment", None, None)),
        ({"engine": {"minReplicas": 0}, "decoder": {}}, ("RawDeployment", "RawDeployment", None)),
        ({"decoder": PARTS}, ("RawDeployment", "MultiNode", None)),
        ({"decoder": {"minReplicas": 0}}, ("RawDeployment", "RawDeployment", None)),
        ({"router": {}}, ("RawDeployment", None, "RawDeployment")),
        ({"router": {"minReplicas": 0}}, ("RawDeployment", None, "Serverless")),
    ],
)
def test_each_component_has_a_mode(spec: dict, modes: tuple):
    found = resolved(service(**spec), model(), runtime()).modes
    assert (found.engine, found.decoder, found.router) == modes


def test_a_router_of_the_runtime_alone_makes_no_router():
    found = resolved(service(), model(), runtime())
    assert list(found.components) == [ENGINE]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (None, "Serverless"),
        ("RawDeployment", "RawDeployment"),
        ("RoleBasedGroup", "RoleBasedGroup"),
        ("PDDisaggregated", "Serverless"),
        ("nonsense", "Serverless"),
    ],
)
def test_the_annotation_of_the_service_is_its_mode_if_it_is_one(text, mode):
    notes = {"ome.io/deploymentMode": text} if text else None
    asked = read_service(service(annotations=notes))
    assert service_mode(asked, DeploymentMode.SERVERLESS) == mode


def test_a_service_without_an_engine_says_so():
    with pytest.raises(ServiceError, match="has no engine") as error:
        resolved(service(engine=None, router={}), model(), runtime())
    assert error.value.reason == "DeploymentModeError"


def test_the_ingress_mode_is_that_of_the_component_in_front():
    found = resolved(service(engine=PARTS, decoder={}, router={})).modes
    assert found.ingress == "RawDeployment"
    assert resolved(service(engine=PARTS)).modes.ingress == "MultiNode"


SMALL = accelerator(
    "small",
    vendor="nvidia",
    family="ampere",
    capabilities={
        "memoryGB": "40Gi",
        "computeCapability": "8.0",
        "memoryBandwidthGBps": "1500",
        "features": ["NVLink"],
        "performance": {"fp16Tflops": 300},
    },
    cost={"perHour": "2"},
)
LARGE = accelerator(
    "large",
    vendor="nvidia",
    family="hopper",
    capabilities={
        "memoryGB": "80Gi",
        "computeCapability": "9.0",
        "memoryBandwidthGBps": "3000",
        "features": ["NVLink", "FP8"],
        "performance": {"fp16Tflops": 900, "int8Tops": 1800},
    },
    cost={"perHour": "4", "spotPerHour": "1"},
)
BOTH = {"acceleratorRequirements": {"acceleratorClasses": ["small", "large", "small"]}}


def selected(*classes, needs=None, **selector) -> str | None:
    obj = service(acceleratorSelector=selector)
    found = resolved(obj, model(), runtime(**(needs or BOTH)), *(classes or (SMALL, LARGE)))
    return found.accelerators[ENGINE].accelerator.name if found.accelerators else None


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ({}, None),
        ({"acceleratorClass": "large"}, "large"),
        ({"policy": "FirstAvailable"}, "small"),
        ({"policy": "BestFit"}, "small"),
        ({"policy": "BestFit", "constraints": {"minMemory": 40}}, "small"),
        ({"policy": "BestFit", "constraints": {"minComputePerformanceTFLOPS": 900}}, "large"),
        ({"policy": "BestFit", "constraints": {"preferredPrecisions": ["fp8"]}}, "large"),
        ({"policy": "Cheapest"}, "large"),
        ({"policy": "MostCapable"}, "large"),
        ({"policy": "FirstAvailable", "constraints": {"excludedClasses": ["small"]}}, "large"),
        ({"policy": "FirstAvailable", "constraints": {"minMemory": 200}}, None),
        ({"policy": "Nonsense"}, None),
    ],
)
def test_an_accelerator_is_chosen_by_name_or_by_policy(selector: dict, name: str | None):
    assert selected(**selector) == name


def test_a_runtime_that_lists_no_accelerators_gets_none():
    assert selected(needs={"disabled": False}, policy="FirstAvailable") is None


def test_a_policy_over_an_accelerator_that_is_missing_chooses_none():
    assert selected(SMALL, policy="FirstAvailable") is None


def test_the_component_overrides_the_service():
    obj = service(
        acceleratorSelector={"policy": "FirstAvailable"},
        engine={"acceleratorOverride": {"policy": "MostCapable"}},
    )
    found = resolved(obj, model(), runtime(**BOTH), SMALL, LARGE)
    assert found.accelerators[ENGINE].accelerator.name == "large"
    assert found.accelerators[ENGINE].reason == "policy MostCapable"


def test_a_named_accelerator_that_is_missing_is_an_error():
    with pytest.raises(ServiceError, match="no AcceleratorClass large") as error:
        selected(SMALL, acceleratorClass="large")
    assert error.value.reason == "AcceleratorClassError"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"architectureFamilies": ["hopper"]}, "its family is another"),
        ({"architectureFamilies": ["Nvidia-Ampere"]}, ""),
        ({"maxMemory": 30}, "too much memory"),
        ({"requiredFeatures": ["fp8"]}, "a feature is missing"),
        ({"requiredFeatures": ["nvlink"]}, ""),
        ({"minArchitectureVersion": "8.6"}, "its architecture is too old"),
    ],
)
def test_constraints_exclude_with_a_reason(limits: dict, why: str):
    selector = read_service(service(acceleratorSelector={"constraints": limits})).accelerator
    assert find_exclusion(known(SMALL).accelerators["small"], selector.constraints) == why


def test_the_former_form_becomes_engine_model_and_runtime():
    predictor = {
        "minReplicas": 2,
        "model": {"baseModel": "llama", "runtime": "srt", "protocolVersion": "openAI"},
        "containers": [{"name": "side"}, {"name": "my-ome", "env": [{"name": "A", "value": "1"}]}],
        "workerSpec": {"size": 1},
    }
    obj = service(predictor=predictor)
    del obj["spec"]["engine"], obj["spec"]["model"]
    spec = migrate(obj)["spec"]
    assert spec["model"] == {"name": "llama", "kind": "ClusterBaseModel", "apiGroup": "ome.io"}
    assert spec["runtime"]["name"] == "srt"
    assert spec["engine"] == {
        "minReplicas": 2,
        "containers": [{"name": "side"}],
        "runner": {
            "name": "my-ome",
            "env": [{"name": "A", "value": "1"}, {"name": "PROTOCOL_VERSION", "value": "openAI"}],
        },
        "worker": {"size": 1},
    }
    assert spec["predictor"] == predictor
    assert "deprecated" in migrate(obj)["metadata"]["annotations"]["ome.io/deprecation-warning"]
    assert not needs_migration(migrate(obj))


def test_a_predictor_that_names_its_container_inline_gives_a_runner():
    inline = {"baseModel": "llama", "name": "c", "image": "i", "storageUri": "hf://x"}
    obj = service(predictor={"model": inline})
    del obj["spec"]["engine"], obj["spec"]["model"]
    spec = migrate(obj, lambda name: False)["spec"]
    assert spec["model"]["kind"] == "BaseModel"
    env = [{"name": "STORAGE_URI", "value": "hf://x"}]
    assert spec["engine"]["runner"] == {"name": "c", "image": "i", "env": env}


def test_an_empty_predictor_beside_an_engine_is_left_alone():
    obj = service(predictor={})
    assert migrate(obj) is obj


def test_a_runner_with_an_image_overrides_a_runtimes_and_needs_none():
    own = {"runner": {"image": "mine:1"}}
    found = resolved(service(engine=own))
    assert found.runtime.name == "srt"
    assert found.components[ENGINE].runner["args"] == ["--model-path=$(MODEL_PATH)"]
    assert resolved(service(engine=own), model()).runtime is None
    assert resolved(service(engine=own), model(modelFormat=None)).runtime is None
    alone = resolved(service(engine=own, model=None), runtime())
    assert (alone.model, alone.runtime) == (None, None)
    both = {"leader": {"runner": {"image": "a"}}, "worker": {"runner": {"image": "b"}}}
    assert resolved(service(engine=both), model()).modes.engine == "MultiNode"
    with pytest.raises(ServiceError, match="no runtime for model"):
        resolved(service(engine={"leader": {"runner": {"image": "a"}}}), model())
