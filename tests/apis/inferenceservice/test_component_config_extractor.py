"""Engine, decoder and router answer the same five questions, completely and without effects."""

from copy import deepcopy

import pytest
from isvc_builders import (
    PARTS,
    RUNNER,
    accelerator,
    model,
    model_format,
    multi_node,
    resolved,
    runtime,
    service,
    weight,
)

from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.strategies.strategy import make_request


def configs(obj, *held) -> dict[ComponentType, ComponentConfig]:
    return make_request(resolved(obj, *held), Configuration()).extract_configs()


def engine(obj, *held) -> ComponentConfig:
    return configs(obj, *held)[ComponentType.ENGINE]


def runner_of(config: ComponentConfig) -> dict:
    return next(c for c in config.pod_spec["containers"] if c["name"] == config.main_container)


@pytest.mark.parametrize("name", ["engine", "decoder", "router"])
def test_every_component_answers_all_five_questions(name: str):
    obj = service(decoder={}, router={})
    request = make_request(resolved(obj, model(), runtime(decoderConfig={"runner": RUNNER})), None)
    isvc = request.inference_service
    component = dict(request.components())[ComponentType(name)]
    assert component.get_pod_spec(isvc)["containers"]
    assert component.get_worker_pod_spec(isvc) is None
    assert component.get_object_meta(isvc)["name"] == f"chat-{name}"
    assert component.get_component_extension().min_replicas == 1
    assert component.get_worker_size() == 0


def test_asking_twice_gives_the_same_answer_and_changes_nothing():
    held = (model(), multi_node())
    obj = service(decoder={}, router={"config": {"b": "2", "a": "1"}})
    request = make_request(resolved(obj, *held), Configuration())
    before = deepcopy([spec.raw for spec in (request.merged_engine, request.merged_router)])
    assert request.extract_configs() == request.extract_configs()
    assert [spec.raw for spec in (request.merged_engine, request.merged_router)] == before


def test_metadata_say_what_the_pods_serve():
    notes = {"team": "a", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
    held = model(notes={"models.ome.io/category": "LARGE"}), runtime()
    meta = engine(service(annotations=notes, labels={"tier": "gold"}), *held).object_meta
    assert meta["labels"] == {
        "tier": "gold",
        "ome.io/inferenceservice": "chat",
        "component": "engine",
        "serving-runtime": "srt",
        "fine-tuned-serving": "false",
        "base-model-name": "llama",
        "base-model-size": "LARGE",
        "base-model-type": "Serving",
        "base-model-vendor": "meta",
    }
    assert meta["annotations"] == {
        "team": "a",
        "ome.io/base-model-name": "llama",
        "ome.io/base-model-vendor": "meta",
        "ome.io/base-model-format": "safetensors",
        "ome.io/base-model-format-version": "1.0.0",
        "ome.io/serving-runtime": "srt",
    }


def test_labels_of_the_component_win_over_the_services_and_ours_over_both():
    obj = service(labels={"a": "1", "component": "x"}, engine={"labels": {"a": "2"}})
    found = engine(obj).labels
    assert (found["a"], found["component"]) == ("2", "engine")


def test_keys_for_decryption_come_from_the_model():
    key = "ome.io/base-model-decryption-key-name"
    assert engine(service(), model(notes={key: "k"}), runtime()).annotations[key] == "k"


def test_the_runner_gets_the_path_of_the_model_its_mount_and_its_parallelism():
    runner = runner_of(engine(service()))
    assert runner["env"] == [
        {"name": "MODEL_PATH", "value": "/mnt/models/llama"},
        {"name": "PARALLELISM_SIZE", "value": "2"},
    ]
    mount = {"name": "llama", "readOnly": True, "mountPath": "/mnt/models/llama"}
    assert runner["volumeMounts"] == [mount]
    assert engine(service()).pod_spec["volumes"] == [
        {"name": "llama", "hostPath": {"path": "/mnt/models/llama"}}
    ]


def test_a_path_that_is_set_is_kept_and_a_parallelism_is_not():
    env = [{"name": "PARALLELISM_SIZE", "value": "9"}, {"name": "MODEL_PATH", "value": "/x"}]
    runner = runner_of(engine(service(engine={"runner": {"env": env}})))
    assert runner["env"] == [
        {"name": "PARALLELISM_SIZE", "value": "2"},
        {"name": "MODEL_PATH", "value": "/x"},
    ]


def test_parallelism_counts_the_gpus_of_all_pods():
    assert {"name": "PARALLELISM_SIZE", "value": "8"} in runner_of(
        engine(service(), model(), multi_node())
    )["env"]


def test_a_decoder_without_a_leader_or_runner_counts_workers_only():
    pod = {"containers": [{"name": "ome-container"}], "worker": PARTS["worker"]}
    found = configs(service(decoder={}), model(), runtime(decoderConfig=pod))
    worker = found[ComponentType.DECODER].worker_pod_spec["containers"][0]
    assert {"name": "PARALLELISM_SIZE", "value": "6"} in worker["env"]


def test_pods_go_to_nodes_that_have_the_model():
    pod = engine(service()).pod_spec
    assert pod["nodeSelector"] == {"models.ome.io/clusterbasemodel.llama": "Ready"}
    local = engine(service(), model(namespace="ml"), runtime()).pod_spec
    assert local["nodeSelector"] == {"models.ome.io/ml.basemodel.llama": "Ready"}


def test_a_user_may_let_pods_go_to_nodes_that_have_no_model_yet():
    notes = {"ome.io/skip-model-ready-node-selector": "true"}
    assert "nodeSelector" not in engine(service(annotations=notes)).pod_spec


def test_node_selectors_of_the_user_win_over_those_of_accelerator_and_runtime():
    gpu = accelerator("h100", discovery={"nodeSelector": {"gpu": "h100", "zone": "b"}})
    held = runtime(
        nodeSelector={"gpu": "any", "zone": "a", "pool": "x"},
        acceleratorRequirements={"acceleratorClasses": ["h100"]},
    )
    obj = service(
        acceleratorSelector={"acceleratorClass": "h100"}, engine={"nodeSelector": {"zone": "c"}}
    )
    assert engine(obj, model(), held, gpu).pod_spec["nodeSelector"] == {
        "gpu": "h100",
        "zone": "c",
        "pool": "x",
        "models.ome.io/clusterbasemodel.llama": "Ready",
    }


def test_an_accelerator_changes_resources_arguments_and_variables():
    gpu = accelerator(
        "h100",
        resources=[{"name": "nvidia.com/gpu", "quantity": "4"}],
        discovery={"affinity": {"nodeAffinity": {}}},
    )
    override = {
        "tensorParallelismOverride": {"tensorParallelSize": 4},
        "runtimeArgsOverride": ["--mem=0.9", "--new"],
        "environmentOverride": {"B": "2", "A": "1"},
    }
    held = runtime(
        formats=[model_format(acceleratorConfig={"h100": override})],
        engineConfig={"runner": {**RUNNER, "args": ["--mem=0.5", "--tp", "2"]}},
        acceleratorRequirements={"acceleratorClasses": ["h100"]},
    )
    config = engine(service(acceleratorSelector={"acceleratorClass": "h100"}), model(), held, gpu)
    runner = runner_of(config)
    assert runner["args"] == ["--mem=0.9", "--tp", "4", "--new"]
    assert runner["resources"]["limits"] == {"nvidia.com/gpu": "4"}
    assert [entry["name"] for entry in runner["env"]] == ["MODEL_PATH", "A", "B"]
    assert config.pod_spec["affinity"] == {"nodeAffinity": {}}


def test_resources_that_the_user_asks_for_are_left_alone():
    gpu = accelerator("h100", resources=[{"name": "nvidia.com/gpu", "quantity": "4"}])
    held = runtime(acceleratorRequirements={"acceleratorClasses": ["h100"]})
    own = {"runner": {"resources": {"limits": {"nvidia.com/gpu": 1}}}}
    obj = service(acceleratorSelector={"acceleratorClass": "h100"}, engine=own)
    limits = runner_of(engine(obj, model(), held, gpu))["resources"]["limits"]
    assert limits == {"nvidia.com/gpu": "1"}


def test_resources_of_the_former_form_fill_gaps():
    former = [{"name": "ome-container", "resources": {"requests": {"cpu": "4"}}}]
    runner = runner_of(engine(service(), model(), runtime(containers=former)))
    assert runner["resources"]["requests"] == {"cpu": "4", "nvidia.com/gpu": "2"}


def test_a_runner_is_merged_into_its_container_and_arguments_follow_each_other():
    base = {
        "containers": [{"name": "side"}, {"name": "ome-container", "args": ["--a"]}],
        "runner": {"name": "ome-container", "image": "e", "args": ["--b"]},
    }
    containers = engine(service(), model(), runtime(engineConfig=base)).pod_spec["containers"]
    assert [each["name"] for each in containers] == ["side", "ome-container"]
    assert containers[1]["args"] == ["--a", "--b"]


def test_a_runner_without_a_container_of_its_name_comes_last():
    base = {"containers": [{"name": "side"}], "runner": RUNNER}
    containers = engine(service(), model(), runtime(engineConfig=base)).pod_spec["containers"]
    assert [each["name"] for each in containers] == ["side", "ome-container"]


def test_a_component_without_any_container_says_what_is_missing():
    with pytest.raises(
        ServiceError, match=r"neither ClusterServingRuntime srt nor the service gives spec.engine"
    ):
        engine(service(), model(), runtime(engineConfig={}))


def test_a_multi_node_engine_has_a_leader_and_workers():
    config = engine(service(), model(), multi_node())
    assert config.leader_pod_spec is config.pod_spec
    assert config.pod_spec["containers"][0]["image"] == "engine:1"
    assert config.worker_pod_spec["containers"][0]["image"] == "worker:1"
    assert config.worker_size == 3


def test_a_router_reads_its_config_in_a_fixed_order_and_has_an_account():
    config = configs(service(router={"config": {"b": "2", "a": "1"}}))[ComponentType.ROUTER]
    runner = runner_of(config)
    assert runner["env"] == [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]
    assert config.pod_spec["serviceAccountName"] == "chat-router"
    assert "nodeSelector" not in config.pod_spec
    assert config.pod_spec["volumes"] == [
        {"name": "llama", "hostPath": {"path": "/mnt/models/llama"}}
    ]


TUNED = {"name": "llama", "fineTunedWeights": ["tuned"]}


def tuned(held_model=None, held_weight=None, **spec) -> ComponentConfig:
    obj = service(model=TUNED, **spec)
    return engine(obj, held_model or model(), runtime(), held_weight or weight())


def test_annotations_and_labels_name_fine_tuned_weights():
    config = tuned()
    assert config.annotations["ome.io/inject-fine-tuned-adapter"] == "tuned"
    assert config.annotations["ome.io/fine-tuned-weight-ft-strategy"] == "lora"
    assert config.labels["fine-tuned-serving"] == "true"
    assert config.labels["fine-tuned-weight-ft-strategy"] == "lora"
    assert config.labels["fine-tuned-serving-with-merged-weights"] == "false"


def test_weights_of_meta_have_a_served_name():
    runner = runner_of(tuned())
    assert runner["env"][:2] == [
        {"name": "SERVED_MODEL_NAME", "value": "/data/tuned"},
        {"name": "MODEL_PATH", "value": "/opt/ml/model"},
    ]
    assert [m["mountPath"] for m in runner["volumeMounts"]] == [
        "/mnt/models/llama",
        "/opt/ml/model",
    ]
    assert tuned().pod_spec["volumes"][-1] == {
        "name": "model-empty-dir",
        "emptyDir": {"medium": "Memory"},
    }


def test_tfew_weights_of_cohere_lie_beside_the_model():
    config = tuned(model(vendor="cohere"), weight(strategy="tfew"))
    runner = runner_of(config)
    assert runner["env"][0] == {"name": "TFEW_PATH", "value": "/opt/ml/tfew/fastertransformer/1"}
    assert runner["volumeMounts"][1:] == [
        {"name": "model-empty-dir", "mountPath": "/opt/ml/model/safetensors", "subPath": "base"},
        {
            "name": "model-empty-dir",
            "readOnly": True,
            "mountPath": "/opt/ml/tfew/safetensors",
            "subPath": "finetuned",
        },
    ]


def test_weights_of_other_vendors_have_a_path_too():
    runner = runner_of(tuned(model(vendor="qwen")))
    assert runner["env"][:2] == [
        {"name": "MODEL_PATH", "value": "/mnt/models/llama"},
        {"name": "ADAPTER_PATH", "value": "/opt/ml/model"},
    ]


def test_merged_weights_stand_in_the_models_place():
    config = tuned(held_weight=weight(configuration={"merged_weights": True}))
    assert config.annotations["ome.io/fine-tuned-serving-with-merged-weights"] == "true"
    assert config.annotations["ome.io/inject-model-init"] == "false"
    assert "nodeSelector" not in config.pod_spec
    assert [m["mountPath"] for m in runner_of(config)["volumeMounts"]] == ["/opt/ml/model"]


def test_a_model_that_a_container_brings_is_not_mounted_from_the_node():
    config = engine(service(annotations={"ome.io/inject-model-init": "true"}))
    runner = runner_of(config)
    assert [entry["name"] for entry in runner["env"]] == ["PARALLELISM_SIZE"]
    assert [m["mountPath"] for m in runner["volumeMounts"]] == ["/opt/ml/model"]
    assert [v["name"] for v in config.pod_spec["volumes"]] == ["llama", "model-empty-dir"]


def test_a_router_knows_nothing_of_weights():
    obj = service(model=TUNED, router={})
    router = configs(obj, model(), runtime(), weight())[ComponentType.ROUTER]
    assert router.labels["fine-tuned-serving"] == "false"
    assert "ome.io/inject-fine-tuned-adapter" not in router.annotations


def test_templates_of_a_runner_are_rendered_and_other_braces_stay():
    args = ["{{ .Name }}.{{.Namespace}}", "{{ .Labels.tier }}", '{"a": {{"b"}}}', "{{ .Nope }}"]
    base = {"runner": {**RUNNER, "args": args}}
    config = engine(service(labels={"tier": "gold"}), model(), runtime(engineConfig=base))
    assert runner_of(config)["args"] == ["chat.ml", "gold", '{"a": {{"b"}}}', "{{ .Nope }}"]


def test_a_label_that_a_service_lacks_renders_as_nothing():
    args = ["a{{ .Labels.none }}b", '{{ index .Annotations "x/y" }}']
    base = {"runner": {**RUNNER, "args": args}}
    config = engine(service(annotations={"x/y": "z"}), model(), runtime(engineConfig=base))
    assert runner_of(config)["args"] == ["ab", "z"]
