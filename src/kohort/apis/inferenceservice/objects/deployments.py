"""
The Deployment of a component.

The operator creates it with the user's minimum of replicas. Afterwards the autoscaler owns the
number, so the operator leaves it out of its writes.
"""

from kohort.apis.inferenceservice import labels, names
from kohort.apis.inferenceservice.admission.rdma import define_mounted
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.components.metadata import pod_annotations, scheduling_labels
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.objects.pod_defaults import fill_pod
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Object

_ROLLING = "RollingUpdate"


def app_of(config: ComponentConfig) -> str:
    """The ``app`` label by which Deployment, Service and budget select a component's pods."""
    return names.service_name(config.name)


def raw_labels(config: ComponentConfig) -> dict[str, str]:
    """The labels that all objects of a component share in this mode."""
    return {
        **config.labels,
        **scheduling_labels(config.annotations),
        labels.APP: app_of(config),
    }


def render_deployment(config: ComponentConfig, service: InferenceService, is_made: bool) -> Object:
    """The Deployment of a component; without replicas if it exists already."""
    marks = raw_labels(config)
    metadata = {
        "name": config.name,
        "namespace": config.namespace,
        "labels": marks,
        "annotations": pod_annotations(config.annotations),
    }
    spec: Object = {
        "selector": {"matchLabels": {labels.APP: app_of(config)}},
        "template": define_mounted({"metadata": metadata, "spec": fill_pod(config.pod_spec)}),
        "strategy": _write_strategy(config.component_extension.deployment_strategy),
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }
    if not is_made:
        spec["replicas"] = max(1, config.component_extension.min_replicas or 1)
    obj = make_object(DEPLOYMENT, service, config.name, marks, config.annotations)
    return {**obj, "spec": spec}


def _write_strategy(given: Object | None) -> Object:
    strategy = dict(given or {})
    kind = strategy.get("type") or _ROLLING
    if kind != _ROLLING:
        # The API server refuses another strategy with these limits, which a runtime may set.
        strategy.pop("rollingUpdate", None)
    if kind == _ROLLING and not strategy.get("rollingUpdate"):
        strategy["rollingUpdate"] = {"maxUnavailable": 0, "maxSurge": 1}
    return {**strategy, "type": kind}
