"""What pods of a service are given when they are made."""

from typing import Any

import pytest
from isvc_builders import weight

from kohort.apis.inferenceservice.admission.pods import mutate_pod
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.models import read_weight
from kohort.apis.inferenceservice.reasons import ServiceError

AGENT = {
    "image": "agent:1",
    "compartmentId": "c",
    "authType": "InstancePrincipal",
    "vaultId": "v",
    "region": "r",
    "cpuRequest": "2",
    "memoryLimit": "4Gi",
}
CONFIG = Configuration(model_init=AGENT, adapter=AGENT, sidecar=AGENT)


def pod(*containers: dict) -> dict:
    held = list(containers) or [{"name": "ome-container", "securityContext": {"runAsUser": 1}}]
    return {"metadata": {"annotations": {}}, "spec": {"containers": held}}


def mutate(obj: dict, config: Configuration = CONFIG, **spec: Any) -> dict:
    held = read_weight(weight(**spec))
    return mutate_pod(obj, config, lambda name: held if name == "tuned" else None)


def notes_of(obj: dict) -> dict:
    return obj["metadata"]["annotations"]


def env_of(container: dict) -> dict:
    return {entry["name"].removeprefix("OME_AGENT_"): entry["value"] for entry in container["env"]}


def test_a_pod_that_asks_for_nothing_is_given_nothing():
    done = mutate(pod())
    assert done["spec"] == pod()["spec"]
    assert notes_of(done) == {
        "ome.io/enable-metric-aggregation": "false",
        "ome.io/enable-prometheus-scraping": "false",
    }


def test_metrics_are_aggregated_at_the_queue_proxy():
    queue = {"name": "queue-proxy", "env": [{"name": "A", "value": "1"}]}
    obj = pod({"name": "ome-container"}, queue)
    config = Configuration(
        metrics={"enableMetricAggregation": "true", "enablePrometheusScraping": "true"}
    )
    done = mutate(obj, config)
    assert notes_of(done)["prometheus.io/port"] == "9088"
    assert notes_of(done)["prometheus.io/path"] == "/metrics"
    proxy = done["spec"]["containers"][1]
    assert env_of(proxy) == {
        "A": "1",
        "CONTAINER_PROMETHEUS_METRICS_PORT": "8080",
        "CONTAINER_PROMETHEUS_METRICS_PATH": "/metrics",
        "AGGREGATE_PROMETHEUS_METRICS_PORT": "9088",
    }
    assert proxy["ports"] == [{"name": "aggr-metric", "containerPort": 9088, "protocol": "TCP"}]
    assert mutate(done, config) == done


def test_scraping_alone_is_at_the_queues_own_port():
    assert "prometheus.io/port" not in notes_of(mutate(pod()))
    obj = pod()
    notes_of(obj)["ome.io/enable-prometheus-scraping"] = "true"
    assert notes_of(mutate(obj))["prometheus.io/port"] == "9091"


def annotated() -> dict:
    obj = pod()
    notes_of(obj).update(
        {
            "ome.io/inject-model-init": "true",
            "ome.io/base-model-name": "llama-3.1",
            "ome.io/base-model-format": "safetensors",
            "ome.io/base-model-decryption-key-name": "key",
        }
    )
    return obj


def test_a_model_is_decrypted_before_the_engine_starts():
    (made,) = mutate(annotated())["spec"]["initContainers"]
    assert (made["name"], made["image"]) == ("model-init", "agent:1")
    assert made["args"] == ["enigma", "--config", "/ome-agent.yaml", "--debug"]
    assert [(m["name"], m["mountPath"]) for m in made["volumeMounts"]] == [
        ("model-empty-dir", "/opt/ml/model"),
        ("llama-3-1", "/mnt/model"),
    ]
    env = env_of(made)
    assert (env["KEY_NAME"], env["VAULT_ID"]) == ("key", "v")
    assert env["DISABLE_MODEL_DECRYPTION"] == "false"
    assert all(entry["name"].startswith("OME_AGENT_") for entry in made["env"])
    assert made["securityContext"] == {"runAsUser": 1}
    assert made["resources"] == {"requests": {"cpu": "2"}, "limits": {"memory": "4Gi"}}


def tuned(**extra: str) -> dict:
    obj = pod()
    notes_of(obj)["ome.io/inject-fine-tuned-adapter"] = "tuned"
    notes_of(obj).update(extra)
    return obj


def test_weights_are_fetched_before_the_engine_starts():
    (made,) = mutate(tuned())["spec"]["initContainers"]
    assert made["name"] == "fine-tuned-adapter"
    assert made["args"][0] == "fine-tuned-adapter"
    env = env_of(made)
    assert (env["MODEL_NAMESPACE"], env["MODEL_BUCKET_NAME"]) == ("space", "bucket")
    assert env["MODEL_OBJECT_NAME"] == "path/tuned"
    assert [m["mountPath"] for m in made["volumeMounts"]] == [
        "/mnt/finetuned/download",
        "/opt/ml/model",
    ]


def test_merged_weights_have_another_object():
    done = mutate(tuned(), configuration={"merged_weights": True})
    (made,) = done["spec"]["initContainers"]
    assert env_of(made)["MODEL_OBJECT_NAME"] == "path/tuned-merged-weight"


def test_tfew_weights_of_cohere_lie_elsewhere():
    notes = {"ome.io/fine-tuned-weight-ft-strategy": "tfew", "ome.io/base-model-vendor": "cohere"}
    (made,) = mutate(tuned(**notes))["spec"]["initContainers"]
    assert made["volumeMounts"][1]["mountPath"] == "/opt/ml/tfew"
    assert made["volumeMounts"][1]["subPath"] == "finetuned"


TENSORRT = {
    "ome.io/base-model-format": "tensorrtllm",
    "ome.io/base-model-format-version": "0.11",
}


def test_a_model_for_tensorrt_is_prepared_for_its_version_and_gpus():
    obj = annotated()
    notes_of(obj).update(TENSORRT)
    (engine,) = obj["spec"]["containers"]
    engine["resources"] = {"limits": {"nvidia.com/gpu": "4"}}
    (made,) = mutate(obj)["spec"]["initContainers"]
    env = env_of(made)
    assert (env["TENSORRTLLM_VERSION"], env["NUM_OF_GPU"]) == ("0.11", "4")
    (plain,) = mutate(annotated())["spec"]["initContainers"]
    assert not {"TENSORRTLLM_VERSION", "NUM_OF_GPU"} & set(env_of(plain))


def test_weights_for_tensorrt_lie_in_a_folder_of_their_own():
    (made,) = mutate(tuned(**TENSORRT))["spec"]["initContainers"]
    assert made["volumeMounts"][1]["mountPath"] == "/opt/ml/model"
    assert made["volumeMounts"][1]["subPath"] == "tensorrt_llm"


def test_a_model_of_cohere_with_tfew_weights_is_decrypted_beside_them():
    obj = annotated()
    notes_of(obj)["ome.io/fine-tuned-weight-ft-strategy"] = "tfew"
    notes_of(obj)["ome.io/base-model-vendor"] = "cohere"
    (made,) = mutate(obj)["spec"]["initContainers"]
    assert made["volumeMounts"][0] == {
        "name": "model-empty-dir",
        "mountPath": "/opt/ml/model",
        "subPath": "base",
    }


def test_decryption_comes_before_weights_and_nothing_comes_twice():
    obj = tuned(**notes_of(annotated()))
    done = mutate(obj)
    names = [each["name"] for each in done["spec"]["initContainers"]]
    assert names == ["model-init", "fine-tuned-adapter"]
    swapped = {**done, "spec": {**done["spec"]}}
    swapped["spec"]["initContainers"] = done["spec"]["initContainers"][::-1]
    assert mutate(swapped) == done
    assert mutate(done) == done


@pytest.mark.parametrize(
    ("obj", "config", "words"),
    [
        (annotated(), Configuration(), "key modelInit of ConfigMap inferenceservice-config"),
        (
            annotated(),
            Configuration(model_init={**AGENT, "vaultId": ""}),
            "modelInit of ConfigMap inferenceservice-config lacks vaultId",
        ),
        (tuned(), Configuration(), "key fineTunedAdapter"),
        (
            tuned(**{"ome.io/inject-fine-tuned-adapter": "other"}),
            CONFIG,
            "no FineTunedWeight other",
        ),
    ],
)
def test_what_is_missing_is_named(obj: dict, config: Configuration, words: str):
    with pytest.raises(ServiceError, match=words):
        mutate(obj, config)


def test_weights_that_lie_elsewhere_are_refused_with_a_sentence():
    with pytest.raises(ServiceError, match="only oci://n/"):
        mutate(tuned(), storage={"storageUri": "hf://a/b"})


def test_an_identity_of_the_cluster_needs_an_account():
    config = Configuration(model_init={**AGENT, "authType": "OkeWorkloadIdentity"})
    with pytest.raises(ServiceError, match="write serviceAccountName"):
        mutate(annotated(), config)
    obj = annotated()
    obj["spec"]["serviceAccountName"] = "a"
    assert mutate(obj, config)["spec"]["automountServiceAccountToken"] is True


def test_a_sidecar_swaps_weights():
    obj = tuned(
        **{
            "ome.io/inject-serving-sidecar": "true",
            "ome.io/fine-tuned-weight-ft-strategy": "lora",
        }
    )
    made = mutate(obj)["spec"]["containers"][-1]
    assert (made["name"], made["args"][0]) == ("serving-sidecar", "serving-agent")
    assert [(m["mountPath"], m["subPath"]) for m in made["volumeMounts"]] == [
        ("/opt/ml/lora", "finetuned"),
        ("/mnt/finetuned/download", "download"),
    ]
    with pytest.raises(ServiceError, match="name a fine-tuned weight with a strategy"):
        mutate(tuned(**{"ome.io/inject-serving-sidecar": "true"}))


def test_a_router_has_no_weights_to_swap():
    obj = pod({"name": "router"})
    obj["metadata"]["labels"] = {"component": "router"}
    notes_of(obj)["ome.io/inject-serving-sidecar"] = "true"
    assert [each["name"] for each in mutate(obj)["spec"]["containers"]] == ["router"]


def fast(container: dict | None = None, **notes: str) -> dict:
    obj = pod(container or {"name": "ome-container"})
    notes_of(obj)["rdma.ome.io/auto-inject"] = "true"
    notes_of(obj).update({f"rdma.ome.io/{key.replace('_', '-')}": v for key, v in notes.items()})
    return obj


def test_rdma_brings_variables_volumes_and_capabilities():
    spec = mutate(fast())["spec"]
    (container,) = spec["containers"]
    names = [entry["name"] for entry in container["env"]]
    assert names == sorted(names)
    assert len(names) == 21
    assert env_of(container)["NCCL_IB_HCA"] == (
        "=mlx5_0,mlx5_1,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7,mlx5_8,mlx5_9,mlx5_10,mlx5_12,"
        "mlx5_13,mlx5_14,mlx5_15,mlx5_16,mlx5_17"
    )
    assert [(m["name"], m["mountPath"]) for m in container["volumeMounts"]] == [
        ("dshm", "/dev/shm"),
        ("devinf", "/dev/infiniband"),
    ]
    assert [volume["name"] for volume in spec["volumes"]] == ["dshm", "devinf"]
    security = container["securityContext"]
    assert security["capabilities"]["add"] == ["IPC_LOCK", "CAP_SYS_ADMIN"]
    assert security["privileged"] is True


def test_rdma_leaves_what_the_user_set():
    own = {
        "name": "ome-container",
        "env": [{"name": "NCCL_DEBUG", "value": "WARN"}],
        "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],
        "securityContext": {"privileged": False, "capabilities": {"add": ["IPC_LOCK"]}},
    }
    done = mutate(fast(own))
    (container,) = done["spec"]["containers"]
    assert env_of(container)["NCCL_DEBUG"] == "WARN"
    assert container["securityContext"]["privileged"] is False
    assert [mount["name"] for mount in container["volumeMounts"]] == ["dshm", "devinf"]
    assert mutate(done) == done


@pytest.mark.parametrize("path", ["/dev/shm", "/dev/shm/"])
def test_rdma_takes_a_volume_of_the_user_at_its_path(path: str):
    obj = fast({"name": "ome-container", "volumeMounts": [{"name": "shm", "mountPath": path}]})
    obj["spec"]["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    done = mutate(obj)
    (container,) = done["spec"]["containers"]
    assert [mount["name"] for mount in container["volumeMounts"]] == ["shm", "devinf"]
    assert [volume["name"] for volume in done["spec"]["volumes"]] == ["shm", "devinf"]
    assert mutate(done) == done


def test_rdma_for_a_container_that_is_not_there_does_nothing():
    assert "volumes" not in mutate(fast(container_name="other"))["spec"]


def test_an_unknown_profile_of_rdma_is_an_error():
    with pytest.raises(ServiceError, match="must be oci-roce, not 'aws-efa'"):
        mutate(fast(profile="aws-efa"))
