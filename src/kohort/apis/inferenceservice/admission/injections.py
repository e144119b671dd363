"""
Containers that admission adds to pods: one that decrypts the model, one that fetches fine-tuned
weights, one that swaps them.

A key of the operator's ConfigMap describes each container; if the key is missing, admission refuses
the pod with a message that names the key.
"""

import re

from kohort.apis.inferenceservice import labels, names, reasons
from kohort.apis.inferenceservice.components.runners import (
    MODEL_DIRECTORY,
    TFEW_DIRECTORY,
    count_gpus,
)
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.fields import read_text
from kohort.apis.inferenceservice.models import FineTunedWeight
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.cluster.objects import Object, annotations_of, labels_of

_AGENT = "/ome-agent.yaml"
_DOWNLOAD = "/mnt/finetuned/download"
_BASE_MODEL = "/mnt/model"
_OCI = re.compile(r"oci://n/([^/]+)/b/([^/]+)/o/(.+)")
_IDENTITY = "OkeWorkloadIdentity"
_TENSORRT = "tensorrtllm"


def require_config(found: Object | None, key: str, fields: tuple[str, ...]) -> Object:
    """The value of a configuration key; raises ServiceError if a required field is missing."""
    missing = [name for name in fields if not read_text(found or {}, name)]
    if found is None or missing:
        what = f"lacks {', '.join(missing)}" if found is not None else "is missing"
        raise ServiceError(
            reasons.WORKLOAD,
            f"key {key} of ConfigMap {names.CONFIGURATION} {what}: pods need it",
        )
    return found


def make_model_init(pod: Object, configuration: Configuration) -> Object:
    """The container that decrypts the model before the engine starts."""
    config = require_config(
        configuration.model_init, "modelInit", ("image", "compartmentId", "authType", "vaultId")
    )
    notes = annotations_of(pod)
    model = notes.get(labels.MODEL_NAME, "")
    target: Object = {"name": names.EMPTY_DIR, "mountPath": MODEL_DIRECTORY}
    if _is_cohere_tfew(notes):
        target["subPath"] = "base"
    form = notes.get(labels.MODEL_FORMAT, "")
    env = {
        "AUTH_TYPE": read_text(config, "authType"),
        "COMPARTMENT_ID": read_text(config, "compartmentId"),
        "VAULT_ID": read_text(config, "vaultId"),
        "MODEL_NAME": model,
        "KEY_NAME": notes.get(labels.DECRYPTION_KEY, ""),
        "SECRET_NAME": notes.get(labels.DECRYPTION_SECRET, ""),
        "DISABLE_MODEL_DECRYPTION": notes.get(labels.DISABLE_DECRYPTION, "false"),
        "MODEL_TYPE": labels_of(pod).get(labels.MODEL_TYPE_LABEL, ""),
        "LOCAL_PATH": _BASE_MODEL,
        "MODEL_STORE_DIRECTORY": MODEL_DIRECTORY,
        "REGION": read_text(config, "region"),
        "MODEL_FRAMEWORK": form,
    }
    if form == _TENSORRT:
        env["TENSORRTLLM_VERSION"] = notes.get(labels.MODEL_FORMAT_VERSION, "")
        env["NUM_OF_GPU"] = str(count_gpus(_main(pod)))
    mounts = [target, {"name": names.volume_name(model), "mountPath": _BASE_MODEL}]
    return _make(names.MODEL_INIT, config, ["enigma", "--config", _AGENT, "--debug"], env, mounts)


def make_adapter(pod: Object, configuration: Configuration, weight: FineTunedWeight) -> Object:
    """The container that fetches fine-tuned weights before the engine starts."""
    fields = ("image", "compartmentId", "authType")
    config = require_config(configuration.adapter, "fineTunedAdapter", fields)
    space, bucket, path = _split_uri(weight)
    notes = annotations_of(pod)
    target: Object = {"name": names.EMPTY_DIR, "mountPath": MODEL_DIRECTORY}
    if notes.get(labels.MODEL_FORMAT) == _TENSORRT:
        target["subPath"] = "tensorrt_llm"
    if _is_cohere_tfew(notes):
        target = {"name": names.EMPTY_DIR, "mountPath": TFEW_DIRECTORY, "subPath": "finetuned"}
    env = {
        "AUTH_TYPE": read_text(config, "authType"),
        "COMPARTMENT_ID": read_text(config, "compartmentId"),
        "REGION": read_text(config, "region"),
        "UNZIPPED_FINE_TUNED_WEIGHT_DIRECTORY": str(target["mountPath"]),
        "ZIPPED_FINE_TUNED_WEIGHT_DIRECTORY": _DOWNLOAD,
        "MODEL_BUCKET_NAME": bucket,
        "MODEL_NAMESPACE": space,
        "MODEL_OBJECT_NAME": f"{path}-merged-weight" if weight.is_merged else path,
    }
    mounts = [{"name": names.EMPTY_DIR, "mountPath": _DOWNLOAD}, target]
    args = ["fine-tuned-adapter", "--config", _AGENT, "--debug"]
    return _make(names.ADAPTER, config, args, env, mounts)


def make_sidecar(pod: Object, configuration: Configuration) -> Object:
    """The container that swaps fine-tuned weights while the engine runs."""
    config = require_config(configuration.sidecar, "servingSidecar", ("image",))
    strategy = annotations_of(pod).get(labels.FINE_TUNING_STRATEGY)
    if not strategy:
        raise ServiceError(
            reasons.WORKLOAD,
            f"annotation {labels.INJECT_SIDECAR} needs {labels.FINE_TUNING_STRATEGY}: name a "
            "fine-tuned weight with a strategy",
        )
    mounts = [
        {"name": names.EMPTY_DIR, "mountPath": f"/opt/ml/{strategy}", "subPath": "finetuned"},
        {"name": names.EMPTY_DIR, "mountPath": _DOWNLOAD, "subPath": "download"},
    ]
    args = ["serving-agent", "--config", _AGENT, "--debug"]
    env = {
        "AUTH_TYPE": read_text(config, "authType"),
        "COMPARTMENT_ID": read_text(config, "compartmentId"),
        "REGION": read_text(config, "region"),
    }
    return _make(names.SIDECAR, config, args, env, mounts)


def _make(
    name: str, config: Object, args: list[str], env: dict[str, str], mounts: list[Object]
) -> Object:
    pairs = {"requests": "Request", "limits": "Limit"}
    resources = {
        word: {
            each: config[f"{each}{end}"] for each in ("cpu", "memory") if config.get(f"{each}{end}")
        }
        for word, end in pairs.items()
    }
    return {
        "name": name,
        "image": read_text(config, "image"),
        "args": args,
        "env": [{"name": f"OME_AGENT_{key}", "value": value} for key, value in env.items()],
        "volumeMounts": mounts,
        "resources": {word: amounts for word, amounts in resources.items() if amounts},
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def needs_identity(config: Object | None) -> bool:
    """Whether a container authenticates with the service account of its pod."""
    return read_text(config or {}, "authType") == _IDENTITY


def _main(pod: Object) -> Object:
    containers: list[Object] = pod["spec"].get("containers") or [{}]
    named = (each for each in containers if each.get("name") == names.MAIN_CONTAINER)
    return next(named, containers[0])


def _is_cohere_tfew(notes: dict[str, str]) -> bool:
    is_tfew = notes.get(labels.FINE_TUNING_STRATEGY) == "tfew"
    return is_tfew and notes.get(labels.MODEL_VENDOR) == "cohere"


def _split_uri(weight: FineTunedWeight) -> tuple[str, str, str]:
    found = _OCI.fullmatch(weight.storage.uri)
    if found is None:
        raise ServiceError(
            reasons.WORKLOAD,
            f"FineTunedWeight {weight.name} lies at {weight.storage.uri!r}: only "
            "oci://n/<namespace>/b/<bucket>/o/<object> can be fetched",
        )
    return found[1], found[2], found[3]
