"""Small InferenceServices, models and runtimes: a test names what matters and leaves the rest."""

import os
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from kohort.apis.inferenceservice.assembly import ServicePlan, plan_service
from kohort.apis.inferenceservice.configuration import Configuration, IngressConfig
from kohort.apis.inferenceservice.models import BaseModel, read_model, read_weight
from kohort.apis.inferenceservice.resolution import ReferencedObjects, Resolution, resolve
from kohort.apis.inferenceservice.runtimes import (
    ServingRuntime,
    read_accelerator,
    read_runtime,
)
from kohort.apis.inferenceservice.spec import read_service
from kohort.apis.inferenceservice.strategies.registry import load_manager
from kohort.cluster.objects import Object

SHARED = os.environ.get("KOHORT_SHARED")
OME = Path(SHARED or ".", "data/ome")
needs_shared = pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
API = "ome.io/v1beta1"
INGRESS_OFF = Configuration(ingress=IngressConfig(domain="svc.cluster.local", is_disabled=True))


def service(name: str = "chat", *, annotations: dict | None = None, **spec: Any) -> Object:
    """The InferenceService `chat` in namespace `ml`, with an engine."""
    metadata: Object = {"name": name, "namespace": "ml", "uid": "isvc-uid", "generation": 1}
    if annotations:
        metadata["annotations"] = annotations
    labels = spec.pop("labels", None)
    if labels:
        metadata["labels"] = labels
    whole = {"model": {"name": "llama"}, "engine": {}, **spec}
    found = {"apiVersion": API, "kind": "InferenceService", "metadata": metadata, "spec": whole}
    return deepcopy(found)


def model(
    name: str = "llama", *, namespace: str = "", notes: dict | None = None, **spec: Any
) -> Object:
    """A model with format and framework; with a namespace, a BaseModel."""
    metadata: Object = {"name": name, "annotations": notes or {}}
    if namespace:
        metadata["namespace"] = namespace
    facts = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.43.0"},
        "modelArchitecture": "LlamaForCausalLM",
        "modelParameterSize": "8B",
        "vendor": "meta",
        "storage": {"storageUri": "hf://meta/llama", "path": "/mnt/models/llama"},
        **spec,
    }
    kind = "BaseModel" if namespace else "ClusterBaseModel"
    kept = {name: value for name, value in facts.items() if value is not None}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": kept}


def model_format(**fields: Any) -> Object:
    """A format of a runtime that takes the usual model."""
    facts = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.43.0"},
        "modelArchitecture": "LlamaForCausalLM",
        "autoSelect": True,
        "priority": 1,
        **fields,
    }
    return {name: value for name, value in facts.items() if value is not None}


RUNNER = {
    "name": "ome-container",
    "image": "engine:1",
    "args": ["--model-path=$(MODEL_PATH)"],
    "resources": {"limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": 2}},
}


def runtime(name: str = "srt", *, namespace: str = "", formats: Any = None, **spec: Any) -> Object:
    """A runtime with an engine and a router; with a namespace, a ServingRuntime."""
    metadata: Object = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    found = {
        "supportedModelFormats": [model_format()] if formats is None else formats,
        "engineConfig": {"runner": RUNNER},
        "routerConfig": {"runner": {"name": "router", "image": "router:1"}},
        **spec,
    }
    kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": found}


def weight(name: str = "tuned", strategy: str = "lora", **spec: Any) -> Object:
    """Fine-tuned weights of the usual model."""
    found = {
        "baseModelRef": {"name": "llama"},
        "modelType": "LoRA",
        "hyperParameters": {"strategy": strategy} if strategy else {},
        "storage": {"storageUri": "oci://n/space/b/bucket/o/path/tuned"},
        **spec,
    }
    return {"kind": "FineTunedWeight", "metadata": {"name": name}, "spec": found}


def accelerator(name: str, **spec: Any) -> Object:
    """An AcceleratorClass."""
    return {"kind": "AcceleratorClass", "metadata": {"name": name}, "spec": spec}


def known(*objects: Object) -> ReferencedObjects:
    """What services may name; without any, the usual model and runtime."""
    held = objects or (model(), runtime())
    by_kind = {obj["kind"]: [o for o in held if o["kind"] == obj["kind"]] for obj in held}
    models = [*by_kind.get("BaseModel", ()), *by_kind.get("ClusterBaseModel", ())]
    runtimes = [*by_kind.get("ServingRuntime", ()), *by_kind.get("ClusterServingRuntime", ())]
    classes = [read_accelerator(obj) for obj in by_kind.get("AcceleratorClass", ())]
    return ReferencedObjects(
        models=tuple(map(read_model, models)),
        runtimes=tuple(map(read_runtime, runtimes)),
        weights=tuple(map(read_weight, by_kind.get("FineTunedWeight", ()))),
        accelerators={each.name: each for each in classes},
    )


def resolved(obj: Object, *objects: Object, **how: Any) -> Resolution:
    """What a service comes to."""
    return resolve(read_service(obj), known(*objects), **how)


@cache
def shipped(folder: str) -> tuple[Object, ...]:
    """All objects below a folder of upstream's, without kustomizations."""
    found: list[Object] = []
    for path in sorted((OME / folder).rglob("*.yaml")):
        for obj in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader):
            if obj and obj.get("kind") not in ("Kustomization", "Namespace"):
                found.append(obj)
    return tuple(found)


@cache
def shipped_runtimes() -> tuple[ServingRuntime, ...]:
    """All runtimes of upstream, as values."""
    return tuple(read_runtime(obj) for obj in shipped("runtimes"))


@cache
def shipped_models() -> dict[str, BaseModel]:
    """All models of upstream, as values by name."""
    return {name: m for m in map(read_model, shipped("models")) for name in [m.name]}


def planned(obj: Object, *objects: Object, **how: Any) -> ServicePlan:
    """What is to exist for a service."""
    config = how.pop("config", INGRESS_OFF)
    manager = how.pop("manager", None) or load_manager()
    return plan_service(read_service(obj), known(*objects), config, manager, **how)


def names_of(plan: ServicePlan) -> set[str]:
    """What is to exist, as `Kind name`."""
    return {f"{d.kind.name} {o['metadata']['name']}" for d in plan.objects for o in d.objects}


def rbg(**spec: Any) -> Object:
    """A service that asks for a RoleBasedGroup."""
    notes = {"ome.io/deploymentMode": "RoleBasedGroup", **spec.pop("annotations", {})}
    return service(annotations=notes, **spec)


PARTS = {
    "leader": {"runner": {**RUNNER, "command": ["serve", "$(LWS_LEADER_ADDRESS)"]}},
    "worker": {"size": 3, "runner": {**RUNNER, "image": "worker:1"}},
}


def multi_node(**fields: Any) -> Object:
    """A runtime whose engine and decoder span several nodes."""
    return runtime(engineConfig=PARTS, decoderConfig=PARTS, **fields)
