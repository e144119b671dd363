"""Admission of services and runtimes: what is filled in, what is refused, what is warned of."""

import pytest
from isvc_builders import (
    known,
    model,
    model_format,
    multi_node,
    needs_shared,
    planned,
    rbg,
    resolved,
    runtime,
    service,
    shipped_runtimes,
)

from kohort.apis.inferenceservice.admission.defaults import default_service
from kohort.apis.inferenceservice.admission.runtimes import validate_runtime
from kohort.apis.inferenceservice.admission.validation import tell_selection, validate_service
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.runtimes import read_runtime
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode

MODE = "ome.io/deploymentMode"


def mode_of(obj: dict, **how) -> str | None:
    return (default_service(obj, **how)["metadata"].get("annotations") or {}).get(MODE)


@pytest.mark.parametrize(
    ("spec", "mode"),
    [
        ({}, "RawDeployment"),
        ({"decoder": {}}, "PDDisaggregated"),
        ({"engine": {"leader": {}, "worker": {"size": 1}}}, "MultiNode"),
        ({"engine": {"leader": {}, "worker": {"size": 0}}}, "RawDeployment"),
        ({"engine": {"worker": {"size": 1}}}, "RawDeployment"),
    ],
)
def test_a_service_gets_a_mode(spec: dict, mode: str):
    assert mode_of(service(**spec)) == mode


def test_a_serverless_default_is_not_written():
    assert mode_of(service(), usual=DeploymentMode.SERVERLESS) is None


@pytest.mark.parametrize("mode", ["RoleBasedGroup", "Serverless", "nonsense", ""])
def test_a_mode_that_the_user_wrote_stays(mode: str):
    obj = service(annotations={MODE: mode}, decoder={})
    assert default_service(obj) == obj


def test_the_former_form_is_migrated():
    obj = service(predictor={"model": {"baseModel": "llama"}})
    del obj["spec"]["engine"], obj["spec"]["model"]
    done = default_service(obj)
    assert done["spec"]["model"]["name"] == "llama"
    assert "engine" in done["spec"]
    assert default_service(done) == done


def test_replicas_of_a_runtime_count_where_the_user_says_nothing():
    held = runtime(engineConfig={"runner": {"name": "c", "image": "i"}, "minReplicas": 4})
    extension = resolved(service(), model(), held).components[ComponentType.ENGINE].extension
    assert (extension.min_replicas, extension.max_replicas) == (4, 3)
    router = resolved(service(router={})).components[ComponentType.ROUTER].extension
    assert (router.min_replicas, router.max_replicas) == (1, 2)


def fields(obj: dict, held=None) -> list[str]:
    return [error.path for error in validate_service(obj, held)[0]]


def test_a_good_service_passes_and_the_runtime_is_named():
    assert validate_service(service()) == ([], [])
    errors, warnings = validate_service(service(), known())
    assert (errors, warnings) == ([], [])
    assert tell_selection(service(), known()) == ("runtime srt was selected for model llama",)


@pytest.mark.parametrize("name", ["1chat", "Chat", "chat-", "chat.x"])
def test_a_name_must_be_one_of_a_service(name: str):
    assert fields(service(name)) == ["metadata.name"]


NOTES = "metadata.annotations"


@pytest.mark.parametrize(
    ("notes", "path"),
    [
        ({"ome.io/autoscalerClass": "vpa"}, f"{NOTES}[ome.io/autoscalerClass]"),
        ({"ome.io/metrics": "gpu"}, f"{NOTES}[ome.io/metrics]"),
        (
            {"ome.io/targetUtilizationPercentage": "0"},
            f"{NOTES}[ome.io/targetUtilizationPercentage]",
        ),
        (
            {"ome.io/targetUtilizationPercentage": "101"},
            f"{NOTES}[ome.io/targetUtilizationPercentage]",
        ),
        (
            {"ome.io/autoscalerClass": "keda", "autoscaling.keda.sh/operator": "Equal"},
            f"{NOTES}[autoscaling.keda.sh/operator]",
        ),
        (
            {"ome.io/autoscalerClass": "keda", "autoscaling.keda.sh/threshold": "much"},
            f"{NOTES}[autoscaling.keda.sh/threshold]",
        ),
        (
            {"ome.io/autoscalerClass": "keda", "autoscaling.keda.sh/prometheus.serverAddress": "x"},
            f"{NOTES}[autoscaling.keda.sh/prometheus.serverAddress]",
        ),
    ],
)
def test_annotations_of_autoscalers_are_checked(notes: dict, path: str):
    assert fields(service(annotations=notes)) == [path]


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("rolling-update-type", ["InPlaceOnly", "RecreatePod"], ["Wrong", "recreatepod"]),
        ("coordination-max-skew", ["0", "2", "10%", "100%"], ["x", "-1", "10 %", "1.5%", "²"]),
    ],
)
def test_annotations_of_groups_are_checked(key: str, good: list[str], bad: list[str]):
    for value in good:
        assert fields(rbg(annotations={f"kohort.dev/{key}": value})) == [], value
        planned(rbg(annotations={f"kohort.dev/{key}": value}, decoder={}), model(), multi_node())
    for value in bad:
        obj = rbg(annotations={f"kohort.dev/{key}": value}, decoder={})
        assert fields(obj) == [f"{NOTES}[kohort.dev/{key}]"], value
        with pytest.raises(ServiceError, match=f"annotation kohort.dev/{key} must be"):
            planned(obj, model(), multi_node())


@pytest.mark.parametrize("mode", ["RolebasedGroup", "Raw", "rolebasedgroup"])
def test_a_mode_that_there_is_not_is_warned_of(mode: str):
    _, warnings = validate_service(service(annotations={MODE: mode}))
    told = (
        f"annotation ome.io/deploymentMode {mode} names no deployment mode, so the default is "
        "used: write RawDeployment, Serverless, MultiNode, MultiNodeRayVLLM, VirtualDeployment "
        "or RoleBasedGroup"
    )
    assert warnings == [told]
    assert told in planned(service(annotations={MODE: mode})).warnings


@pytest.mark.parametrize("mode", ["RoleBasedGroup", "PDDisaggregated", "MultiNode", ""])
def test_modes_that_users_and_the_webhook_write_are_not_warned_of(mode: str):
    assert validate_service(service(annotations={MODE: mode})) == ([], [])
    assert planned(service(annotations={MODE: mode})).warnings == ()


RATIO = "kohort.dev/coordination-ratio"


def test_a_ratio_names_components_of_the_service_with_numbers():
    parts: dict = {"decoder": {}}
    assert fields(rbg(annotations={RATIO: "engine=1, decoder=2"}, **parts)) == []
    for value in ("engine=0", "engine=one", "engine", "router=1"):
        obj = rbg(annotations={RATIO: value}, **parts)
        (error,) = validate_service(obj)[0]
        assert error.path == f"{NOTES}[{RATIO}]", value
        assert "must name components of the service with whole numbers above 0" in error.detail
        assert fields(service(annotations={RATIO: value}, **parts)) == []


@pytest.mark.parametrize(
    ("keda", "field"),
    [
        ({"scalingOperator": "Equal"}, "scalingOperator"),
        ({"scalingThreshold": "x"}, "scalingThreshold"),
        ({"promServerAddress": "ftp://x"}, "promServerAddress"),
        ({"promServerAddress": "http://"}, "promServerAddress"),
        ({"authModes": "basic,magic", "authenticationRef": {"name": "a"}}, "authModes"),
    ],
)
def test_the_configuration_of_keda_is_checked_where_it_is_used(keda: dict, field: str):
    notes = {"ome.io/autoscalerClass": "keda"}
    assert fields(service(annotations=notes, kedaConfig=keda)) == [f"spec.kedaConfig.{field}"]
    own = service(annotations=notes, engine={"kedaConfig": keda})
    assert fields(own) == [f"spec.engine.kedaConfig.{field}"]
    assert fields(service(kedaConfig=keda)) == []


def test_authentication_without_a_reference_is_warned_of():
    _, warnings = validate_service(service(kedaConfig={"authModes": "basic"}))
    assert warnings == ["spec.kedaConfig.authModes has no effect without authenticationRef"]


def test_a_decoder_needs_an_engine():
    obj = service(decoder={})
    del obj["spec"]["engine"]
    assert fields(obj) == ["spec.engine"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("ome.io/deploymentmode", "ome.io/deploymentMode"),
        ("ome.io/deployment-mode", "ome.io/deploymentMode"),
        ("serving.kserve.io/deploymentMode", "ome.io/deploymentMode"),
        ("ome.io/autoscalerclass", "ome.io/autoscalerClass"),
        ("kohort.dev/coordination-ratios", "kohort.dev/coordination-ratio"),
    ],
)
def test_an_annotation_that_looks_like_another_is_warned_of(key: str, meant: str):
    obj = service(annotations={key: "hpa"})
    told = f"annotation {key} has no effect: did you mean {meant}?"
    assert validate_service(obj)[1] == [told]
    assert told in planned(obj).warnings


@pytest.mark.parametrize(
    "key", ["team", "ome.io/metrics", "prometheus.io/port", "example.com/service", "ome.io/other"]
)
def test_annotations_of_others_are_not_warned_of(key: str):
    assert validate_service(service(annotations={key: "cpu"})) == ([], [])


def test_a_model_must_exist_where_it_is_known_what_exists():
    """One error, which names the field that is wrong, and says what to do."""
    held = known(runtime())
    assert fields(service()) == []
    assert fields(service(), held) == ["spec.model.name"]
    [error], _ = validate_service(service(), held)
    assert "create one, or name another" in str(error)


def test_a_service_without_a_model_is_told_to_name_one():
    obj = service()
    del obj["spec"]["model"]
    [error], _ = validate_service(obj, known(model(), runtime()))
    assert str(error) == (
        "spec.model.name: Required value: the service names no model: write spec.model.name"
    )


def test_a_runtime_must_be_found_unless_the_service_names_one_or_needs_none():
    bare = known(model())
    assert fields(service(), bare) == ["spec.runtime"]
    assert fields(service(runtime={"name": "x"}), bare) == []
    assert fields(service(engine={"runner": {"image": "i"}}), bare) == []


def test_two_weights_are_refused():
    obj = service(model={"name": "llama", "fineTunedWeights": ["a", "b"]})
    assert fields(obj) == ["spec.model.fineTunedWeights"]


def runtime_errors(*others, classes=None, **spec) -> tuple[list[str], list[str]]:
    errors, warnings = validate_runtime(
        read_runtime(runtime("mine", **spec)), map(read_runtime, others), classes
    )
    return [error.path for error in errors], warnings


def test_a_good_runtime_passes():
    assert runtime_errors() == ([], [])


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"workers": {"size": 0}}, "spec.workers.size"),
        ({"workers": {}}, "spec.workers.size"),
        (
            {"formats": [model_format(name="a", priority=1), model_format(name="a", priority=2)]},
            "spec.supportedModelFormats[1].priority",
        ),
    ],
)
def test_a_wrong_runtime_is_refused_unless_it_is_disabled(spec: dict, path: str):
    assert runtime_errors(**spec)[0] == [path]
    assert runtime_errors(**spec, disabled=True) == ([], [])


def test_workers_of_the_former_form_do_not_matter_beside_engine_and_decoder():
    assert runtime_errors(workers={"size": 0}, decoderConfig={})[0] == []


def test_an_accelerator_must_exist_where_it_is_known_what_exists():
    needs = {"acceleratorClasses": ["h100", "b200"]}
    assert runtime_errors(acceleratorRequirements=needs)[0] == []
    path = "spec.acceleratorRequirements.acceleratorClasses[1]"
    assert runtime_errors(acceleratorRequirements=needs, classes=["h100"])[0] == [path]


OPEN = {"protocolVersions": ["openAI"]}


def test_a_runtime_that_serves_the_same_models_is_warned_of():
    _, warnings = runtime_errors(runtime("other", **OPEN), **OPEN)
    assert len(warnings) == 1
    assert warnings[0].startswith("ClusterServingRuntime other serves the same models")


@pytest.mark.parametrize(
    "other",
    [
        runtime("other"),
        runtime("other", namespace="ml", **OPEN),
        runtime("other", disabled=True, **OPEN),
        runtime("other", modelSizeRange={"min": "1B"}, **OPEN),
        runtime("other", formats=[model_format(priority=2)], **OPEN),
        runtime("other", formats=[model_format(autoSelect=False)], **OPEN),
        runtime("mine", **OPEN),
    ],
)
def test_a_runtime_that_differs_is_no_clash(other: dict):
    assert runtime_errors(other, **OPEN)[1] == []


@needs_shared
def test_shipped_runtimes_are_taken_and_clashes_among_them_are_warned_of():
    held = shipped_runtimes()
    found = [validate_runtime(each, held) for each in held]
    assert [errors for errors, _ in found if errors] == []
    assert any(warnings for _, warnings in found)


def test_a_new_service_has_at_most_63_characters():
    obj = service()
    obj["metadata"]["name"] = "a" * 63
    assert fields(obj) == []
    obj["metadata"]["name"] = "a" * 64
    assert fields(obj) == ["metadata.name"]
    assert validate_service(obj, is_new=False) == ([], [])
    obj["metadata"]["annotations"] = {"ome.io/deploymentMode": "VirtualDeployment"}
    assert fields(obj) == []
