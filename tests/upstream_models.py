"""
What the services of ``upstream_service`` name: a model, a runtime, the configuration of OME.
"""

from kohort.cluster.objects import Object

API = "ome.io/v1beta1"
SINCE = "2026-01-01T00:00:00Z"
MODEL, RUNTIME, VENDOR = "llama", "srt", "meta"
PATH = "/mnt/models/llama"
FORMAT = {"name": "safetensors", "version": "1.0.0"}
FRAMEWORK = {"name": "transformers", "version": "4.43.0"}
GPUS = {"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "8"}}
ENGINE = {
    "name": "ome-container",
    "image": "engine:1",
    "args": ["--model-path=$(MODEL_PATH)", "--tp-size=$(PARALLELISM_SIZE)"],
    "env": [{"name": "LOG", "value": "info"}],
    "resources": GPUS,
}
ROUTER = {
    "name": "router",
    "image": "router:1",
    "args": ["--selector=component=engine"],
    "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
    "resources": {},
}
PORT = {"name": "http1", "containerPort": 8000, "protocol": "TCP"}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "inferenceservice-config",
        "namespace": "ome",
        "uid": "uid of config",
        "creationTimestamp": SINCE,
        "resourceVersion": "1",
    },
    "data": {
        "deploy": '{"defaultDeploymentMode": "RawDeployment"}',
        "ingress": '{"ingressGateway": "g", "ingressService": "s", "ingressDomain": '
        '"svc.cluster.local", "ingressClassName": "istio", "urlScheme": "http", '
        '"disableIngressCreation": true, "enableGatewayAPI": false}',
    },
}


# What the model agent of the only node has reported.
AGENT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "node-0",
        "namespace": "ome",
        "uid": "uid of report",
        "creationTimestamp": SINCE,
        "resourceVersion": "1",
        "labels": {"models.ome/basemodel-status": "true"},
    },
    "data": {f"clusterbasemodel.{MODEL}": '{"name": "llama", "status": "Ready"}'},
}


def model() -> Object:
    """The model, which one node has."""
    spec = {
        "vendor": VENDOR,
        "modelFormat": FORMAT,
        "modelFramework": FRAMEWORK,
        "modelArchitecture": "LlamaForCausalLM",
        "modelParameterSize": "8B",
        "storage": {"storageUri": "hf://meta/llama", "path": PATH},
    }
    metadata = {"name": MODEL, "uid": "uid of model", "creationTimestamp": SINCE}
    metadata |= {"generation": 1, "resourceVersion": "2"}
    metadata |= {"finalizers": ["clusterbasemodels.ome.io/finalizer"]}
    kind = {"apiVersion": API, "kind": "ClusterBaseModel"}
    status = {"state": "Ready", "nodesReady": ["node-0"]}
    return {**kind, "metadata": metadata, "spec": spec, "status": status}


def runtime(is_many: bool) -> Object:
    """The runtime; with ``is_many`` for engine and decoder on two nodes each."""
    takes = {
        "modelFormat": FORMAT,
        "modelFramework": FRAMEWORK,
        "modelArchitecture": "LlamaForCausalLM",
        "autoSelect": True,
        "priority": 1,
    }
    many = {"leader": {"runner": ENGINE}, "worker": {"size": 1, "runner": ENGINE}}
    config = many if is_many else {"runner": {**ENGINE, "ports": [PORT]}}
    more = {"decoderConfig": many} if is_many else {}
    spec = {"supportedModelFormats": [takes], "engineConfig": config, **more}
    metadata = {"name": RUNTIME, "uid": "uid of runtime", "creationTimestamp": SINCE}
    metadata = {**metadata, "generation": 1, "resourceVersion": "3"}
    kind = {"apiVersion": API, "kind": "ClusterServingRuntime"}
    return {**kind, "metadata": metadata, "spec": {**spec, "routerConfig": {"runner": ROUTER}}}
