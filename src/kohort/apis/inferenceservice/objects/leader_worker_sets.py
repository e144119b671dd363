"""
The LeaderWorkerSet of a multi-node component, and the Sidecar that Istio needs for it.

A component without workers is a group of one pod: the leader's template is the worker's, too.
"""

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.admission.rdma import define_mounted
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.components.metadata import pod_annotations, scheduling_labels
from kohort.apis.inferenceservice.fields import find_number, read_object
from kohort.apis.inferenceservice.objects.deployments import app_of
from kohort.apis.inferenceservice.objects.owned import make_object, make_template
from kohort.apis.inferenceservice.objects.pod_defaults import DEFAULT_PORT, fill_pod
from kohort.apis.inferenceservice.objects.services import LEADER, select_pods
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.objects import Object


def render_leader_worker_set(
    config: ComponentConfig, service: InferenceService, is_made: bool
) -> Object:
    """The LeaderWorkerSet of a component; without replicas if it exists already."""
    name = names.leader_worker_set_name(config.name)
    obj = make_object(kinds.LEADER_WORKER_SET, service, name, config.labels, config.annotations)
    spec: Object = {
        "startupPolicy": "LeaderCreated",
        "networkConfig": {"subdomainPolicy": "Shared"},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 1},
        },
        "leaderWorkerTemplate": {
            "size": config.worker_size + 1 if config.worker_pod_spec is not None else 1,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": _write_leader(config),
            "workerTemplate": _write_worker(config),
        },
    }
    if not is_made:
        spec["replicas"] = least_replicas(config)
    return {**obj, "spec": spec}


def least_replicas(config: ComponentConfig) -> int:
    """The fewest groups that the user asks for."""
    least = config.component_extension.min_replicas
    return 1 if least is None else least


def raise_replicas(config: ComponentConfig, found: Object) -> int | None:
    """The replicas of an existing set without an autoscaler: never below the user's minimum.

    A set that the user scaled to 0 stays there; None if the set does not say how many it has.
    """
    held = find_number(read_object(found, "spec"), "replicas")
    return max(held, least_replicas(config)) if held else held


def _write_leader(config: ComponentConfig) -> Object:
    marks = {
        **config.labels,
        **scheduling_labels(config.annotations),
        labels.APP: app_of(config),
        **LEADER,
    }
    pod = fill_pod(config.pod_spec, has_probe=False)
    return define_mounted(make_template(marks, pod_annotations(config.annotations), pod))


def _write_worker(config: ComponentConfig) -> Object:
    marks = {**config.labels, **scheduling_labels(config.annotations)}
    notes = pod_annotations(config.annotations)
    kept = {key: value for key, value in notes.items() if key not in labels.SCRAPE_KEYS}
    pod = config.pod_spec if config.worker_pod_spec is None else config.worker_pod_spec
    return define_mounted(make_template(marks, kept, fill_pod(pod, has_probe=False)))


def needs_sidecar(config: ComponentConfig) -> bool:
    """Whether the user enables Istio's sidecar injection for the pods."""
    return config.labels.get(labels.SIDECAR_INJECT) == "true"


def render_sidecar(config: ComponentConfig, service: InferenceService) -> Object:
    """The Istio Sidecar that lets leaders and workers reach each other."""
    obj = make_object(kinds.ISTIO_SIDECAR, service, config.name, config.labels)
    port = {"number": DEFAULT_PORT, "protocol": "HTTP", "name": "http"}
    spec = {
        "workloadSelector": {"labels": select_pods(config)},
        "egress": [{"hosts": ["./*"], "port": port}],
        "ingress": [{"port": port, "defaultEndpoint": f"127.0.0.1:{DEFAULT_PORT}"}],
    }
    return {**obj, "spec": spec}
