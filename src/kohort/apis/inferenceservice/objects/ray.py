"""
The Ray clusters of a component, each with a Deployment that probes whether the cluster serves.

There is one cluster for each replica. The head runs the engine; workers run the command that
KubeRay gives them. The component is ready when the probers are.
"""

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.components.metadata import pod_annotations, scheduling_labels
from kohort.apis.inferenceservice.configuration import ProberConfig
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.objects.services import list_ports, select_pods, write_type
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.kinds import DEPLOYMENT, SERVICE
from kohort.cluster.objects import Object

_WORKER_COMMAND = ["/bin/bash", "-lc", "--"]
_WORKER_ARGS = ["ulimit -n 65536; echo worker; $KUBERAY_GEN_RAY_START_CMD"]
_STOP = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "ray stop"]}}}
_HEAD_PORTS = (("dashboard", 8265), ("metrics", 8000), ("redis", 6379))
_PORT = 8080


def count_clusters(config: ComponentConfig) -> int:
    """The number of Ray clusters of a component."""
    least = config.component_extension.min_replicas
    return 1 if least is None else max(least, 0)


def cluster_name(config: ComponentConfig, index: int) -> str:
    """The name of one replica's Ray cluster, and of its head Service."""
    return names.ray_name(f"{config.name}-{index}")


def render_cluster(config: ComponentConfig, service: InferenceService, index: int) -> Object:
    """One Ray cluster: a head with the engine, and a group of workers."""
    marks = {**config.labels, **scheduling_labels(config.annotations)}
    name = cluster_name(config, index)
    notes = pod_annotations(config.annotations)
    template = {"metadata": {"labels": marks, "annotations": notes}}
    head = {**template, "spec": _stop_gently(config.pod_spec)}
    worker_spec = config.worker_pod_spec or config.pod_spec
    worker = {**template, "spec": _make_worker(_stop_gently(worker_spec), config.main_container)}
    obj = make_object(kinds.RAY_CLUSTER, service, f"{config.name}-{index}", marks, notes)
    head_group = {
        "headService": {"metadata": {"name": name, "namespace": service.namespace}},
        "rayStartParams": {"dashboard-host": "0.0.0.0", "metrics-export-port": "8000"},
        "serviceType": "ClusterIP",
        "template": head,
    }
    worker_group = {
        "groupName": "wg",
        "replicas": 1,
        "minReplicas": 1,
        "maxReplicas": 1,
        "rayStartParams": {},
        "template": worker,
    }
    spec = {"headGroupSpec": head_group, "workerGroupSpecs": [worker_group]}
    return {**obj, "spec": spec}


def _stop_gently(pod: Object) -> Object:
    containers = [
        each if each.get("lifecycle") else {**each, "lifecycle": _STOP}
        for each in pod.get("containers") or ()
    ]
    return {**pod, "containers": containers}


def _make_worker(pod: Object, name: str) -> Object:
    containers = [
        {**each, "command": _WORKER_COMMAND, "args": _WORKER_ARGS}
        if each.get("name") == name
        else each
        for each in pod["containers"]
    ]
    return {**pod, "containers": containers}


def render_prober(
    config: ComponentConfig, service: InferenceService, prober: ProberConfig, index: int
) -> Object:
    """The Deployment that probes whether one Ray cluster serves."""
    name = names.ray_name(f"{config.name}-{index}-mnp")
    marks = {**config.labels, labels.APP: name}
    host = names.service_host(cluster_name(config, index), service.namespace)
    obj = make_object(DEPLOYMENT, service, name, marks, config.annotations)
    container = {
        "name": names.PROBER,
        "image": prober.image,
        "args": ["--vllm-endpoint", f"http://{host}:{_PORT}", "--addr", f"0.0.0.0:{_PORT}"],
        "ports": [{"containerPort": _PORT, "protocol": "TCP"}],
        "resources": {"requests": prober.requests, "limits": prober.limits},
        "readinessProbe": _probe("/healthz"),
        "livenessProbe": _probe("/readyz"),
        "startupProbe": {"httpGet": {"path": "/startupz", "port": _PORT}, **prober.startup},
    }
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {labels.APP: name}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "template": {"metadata": {"labels": marks}, "spec": {"containers": [container]}},
    }
    return {**obj, "spec": spec}


def _probe(path: str) -> Object:
    return {
        "httpGet": {"path": path, "port": _PORT},
        "timeoutSeconds": 5,
        "periodSeconds": 30,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def render_head_service(config: ComponentConfig, service: InferenceService) -> Object:
    """The Service of all heads of a component."""
    name = names.service_name(config.name)
    ports = list_ports(config)
    taken = {port["port"] for port in ports}
    ports += [
        {"name": word, "port": number, "targetPort": number, "protocol": "TCP"}
        for word, number in _HEAD_PORTS
        if number not in taken
    ]
    selector = {**select_pods(config), labels.NODE_TYPE: "head"}
    obj = make_object(SERVICE, service, name, config.labels)
    return {**obj, "spec": {**write_type(config.annotations), "selector": selector, "ports": ports}}
