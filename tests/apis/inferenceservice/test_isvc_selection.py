"""Which runtime serves a model, with a score, and with a reason for each that was passed over."""

import pytest
from isvc_builders import (
    RUNNER,
    known,
    model,
    model_format,
    needs_shared,
    resolved,
    runtime,
    service,
    shipped_models,
    shipped_runtimes,
)

from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution import ReferencedObjects, resolve
from kohort.apis.inferenceservice.resolution.selection import select_runtime
from kohort.apis.inferenceservice.spec import read_service


def chosen(*objects, obj=None, **how) -> str:
    held = objects if any("Model" in o["kind"] for o in objects) else (model(), *objects)
    return resolved(obj or service(), *held, **how).runtime.name


def reasons_of(*objects) -> dict[str, str]:
    found = resolved(service(), model(), *objects).selection
    return {each.runtime.name: each.reason for each in found.passed_over}


def test_a_runtime_of_the_namespace_comes_before_those_of_the_cluster():
    local = runtime("local", namespace="ml", formats=[model_format(priority=1)])
    assert chosen(runtime("a", formats=[model_format(priority=9)]), local) == "local"
    assert reasons_of(runtime("a"), local) == {
        "a": "ServingRuntime local is of the service's namespace"
    }


def test_a_runtime_of_another_namespace_is_not_seen():
    assert chosen(runtime("other", namespace="elsewhere"), runtime("a")) == "a"


def test_the_higher_score_wins():
    first, second = runtime("a"), runtime("b", formats=[model_format(priority=2)])
    assert chosen(first, second) == "b"
    assert reasons_of(first, second) == {"a": "ClusterServingRuntime b has the higher score 4"}


def test_a_score_is_the_priority_times_the_weights():
    heavy = model_format(
        priority=3,
        modelFormat={"name": "safetensors", "version": "1.0.0", "weight": 4},
        modelFramework={"name": "transformers", "version": "4.43.0", "weight": 0},
    )
    found = resolved(service(), model(), runtime("a", formats=[heavy])).selection
    assert found.score == 3 * (4 + 5)


def test_of_equal_scores_the_nearer_range_wins():
    wide = runtime("a", modelSizeRange={"min": "1B", "max": "90B"})
    near = runtime("b", modelSizeRange={"min": "7B", "max": "9B"})
    assert chosen(wide, near) == "b"
    assert reasons_of(wide, near) == {"a": "the sizes of ClusterServingRuntime b are nearer to 8B"}


def test_a_runtime_without_a_container_for_a_component_is_passed_over():
    """Upstream takes it if its name comes first, and then cannot make the component."""
    bare = runtime("a")
    bare["spec"].pop("decoderConfig", None)
    whole = runtime("b", decoderConfig={"runner": RUNNER})
    obj = service(decoder={})
    selection = resolved(obj, model(), bare, whole).selection
    assert selection.chosen.name == "b"
    assert [str(each) for each in selection.passed_over] == [
        "ClusterServingRuntime a (score 2): neither it nor the service gives decoder a container"
    ]
    assert resolved(service(), model(), bare, whole).runtime.name == "a"
    own = service(decoder={"runner": RUNNER})
    assert resolved(own, model(), bare, whole).runtime.name == "a"
    assert resolved(obj, model(), bare).runtime.name == "a"


def test_of_equal_ranges_the_name_decides_and_the_reason_is_given_for_the_other():
    assert chosen(runtime("b"), runtime("a")) == "a"
    assert "set distinct priorities" in reasons_of(runtime("b"), runtime("a"))["b"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"disabled": True}, "it is disabled"),
        ({"formats": []}, "it supports no format"),
        ({"formats": [model_format(autoSelect=False)]}, "autoSelect is not true"),
        ({"formats": [model_format(autoSelect=None)]}, "autoSelect is not true"),
        ({"formats": [model_format(modelArchitecture="Qwen")]}, "architecture (LlamaForCausalLM)"),
        ({"formats": [model_format(modelArchitecture=None)]}, "architecture (LlamaForCausalLM)"),
        ({"formats": [model_format(quantization="fp8")]}, "quantization (none)"),
        ({"formats": [model_format(modelFormat={"name": "onnx"})]}, "format (safetensors 1.0.0)"),
        (
            {"formats": [model_format(modelFormat={"name": "safetensors"})]},
            "format (safetensors 1.0.0)",
        ),
        (
            {"formats": [model_format(modelFramework={"name": "x", "version": "1"})]},
            "framework (transformers 4.43.0)",
        ),
        ({"modelSizeRange": {"min": "70B", "max": "80B"}}, "serves models of 70B to 80B"),
        ({"formats": [model_format(diffusionPipeline={"className": "P"})]}, "diffusion pipeline"),
    ],
)
def test_a_runtime_that_does_not_fit_has_a_reason(spec: dict, reason: str):
    odd = runtime("odd", **spec)
    assert reason in reasons_of(runtime("a"), odd)["odd"]
    with pytest.raises(ServiceError) as none:
        chosen(odd)
    assert none.value.reason == "RuntimeSelectionError"
    assert none.value.failure == "NoSupportingRuntime"
    assert "0 in namespace ml and 1 of the cluster" in str(none.value)
    assert reason in str(none.value)


@pytest.mark.parametrize("facts", [{"quantization": "fp8"}, {"modelArchitecture": None}])
def test_a_fact_that_only_one_side_states_is_a_mismatch(facts: dict):
    with pytest.raises(ServiceError, match="no format of it takes the model's"):
        chosen(model(**facts), runtime("a"))


def test_a_pipeline_is_matched_part_by_part():
    part = {"library": "diffusers", "type": "VAE"}
    takes = model_format(diffusionPipeline={"className": "P", "vae": part})
    extra = model_format(diffusionPipeline={"additionalComponents": {"guide": {"type": "G"}}})
    whole = {"className": "P", "vae": part, "additionalComponents": {"guide": {"type": "G"}}}
    fitting = model(diffusionPipeline=whole)
    assert chosen(fitting, runtime("a", formats=[takes])) == "a"
    assert chosen(fitting, runtime("a", formats=[extra])) == "a"
    for broken in ({"className": "Q", "vae": part}, {"className": "P"}, None):
        with pytest.raises(ServiceError, match="diffusion pipeline"):
            chosen(model(diffusionPipeline=broken), runtime("a", formats=[takes]))


@pytest.mark.parametrize(
    "obj",
    [
        service(annotations={"ome.io/accelerator-class": "h200"}),
        service(acceleratorSelector={"acceleratorClass": "h200"}),
        service(engine={"acceleratorOverride": {"acceleratorClass": "h200"}}),
    ],
)
def test_a_runtime_must_support_the_accelerator_that_is_named(obj):
    with pytest.raises(ServiceError, match="does not support accelerator h200"):
        chosen(runtime("a"), obj=obj)


def test_a_named_runtime_need_not_select_itself():
    obj = service(runtime={"name": "a"})
    found = resolved(obj, model(), runtime("a", formats=[model_format(autoSelect=False)]))
    assert (found.runtime.name, found.selection.is_named) == ("a", True)


@pytest.mark.parametrize(
    ("held", "reason", "failure"),
    [
        (runtime("b"), "RuntimeFetchError", "RuntimeNotRecognized"),
        (runtime("a", disabled=True), "RuntimeValidationError", "RuntimeDisabled"),
        (runtime("a", formats=[]), "RuntimeValidationError", "NoSupportingRuntime"),
    ],
)
def test_a_named_runtime_that_cannot_serve_is_an_error(held, reason, failure):
    with pytest.raises(ServiceError) as error:
        resolved(service(runtime={"name": "a"}), model(), held)
    assert (error.value.reason, error.value.failure) == (reason, failure)


def test_a_named_runtime_of_the_namespace_hides_that_of_the_cluster():
    obj = service(runtime={"name": "a", "kind": "ClusterServingRuntime"})
    found = resolved(obj, model(), runtime("a"), runtime("a", namespace="ml"))
    assert found.runtime.namespace == "ml"


def test_a_model_without_a_format_is_not_parsed_yet():
    with pytest.raises(
        ServiceError, match="wait until the model agent has read its files"
    ) as error:
        resolved(service(), model(modelFormat=None), runtime())
    assert error.value.failure == "BaseModelNotReady"


def test_upstreams_rule_lets_any_format_switch_a_runtime_on():
    mixed = runtime(
        "a", formats=[model_format(autoSelect=None), model_format(modelArchitecture="Q")]
    )
    with pytest.raises(ServiceError):
        chosen(mixed)
    assert chosen(mixed, is_lenient=True) == "a"


def test_the_choice_does_not_depend_on_the_order_of_the_input():
    names = [
        runtime(n, modelSizeRange={"min": "7B", "max": m})
        for n, m in zip("abc", ("9B", "8B", "9B"), strict=True)
    ]
    found = {chosen(*order) for order in (names, names[::-1], names[1:] + names[:1])}
    assert found == {"b"}


@needs_shared
@pytest.mark.parametrize(
    ("name", "runtime_name"),
    [
        # Several fit equally well; the one of a larger sibling comes first by name.
        ("llama-4-scout-17b-16e-instruct", "srt-llama-4-maverick-17b-128e-instruct-fp8"),
        ("gpt-oss-20b", "srt-gpt-oss-120b-grpc"),
        ("qwen3-32b", "srt-qwen3-32b"),
    ],
)
def test_shipped_models_find_their_runtime(name: str, runtime_name: str):
    found = shipped_models()[name]
    selection = select_runtime(shipped_runtimes(), found, read_service(service()))
    assert selection.chosen.name == runtime_name
    assert len(selection.passed_over) == 206
    assert all(each.reason for each in selection.passed_over)


@needs_shared
def test_a_shipped_model_that_was_not_parsed_waits_for_it():
    held = ReferencedObjects(tuple(shipped_models().values()), shipped_runtimes())
    with pytest.raises(ServiceError, match="has no modelFormat yet"):
        resolve(read_service(service(model={"name": "deepseek-v3"})), held)


def test_nothing_is_known_of_an_empty_cluster():
    with pytest.raises(ServiceError, match="looked at 0 in namespace ml and 0 of the cluster"):
        resolve(read_service(service()), known(model()))
