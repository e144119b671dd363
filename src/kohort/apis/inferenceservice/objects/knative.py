"""The Knative Service of a component that may scale to zero."""

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.components.metadata import pod_annotations, scheduling_labels
from kohort.apis.inferenceservice.fields import read_object, read_text
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.objects import Object

_CLASS = "kpa.autoscaling.knative.dev"
_ON_SERVICE = (labels.ROLLOUT_DURATION, labels.PASSTHROUGH)


def render_knative_service(config: ComponentConfig, service: InferenceService) -> Object:
    """The Knative Service, with traffic split by the component's canary percentage."""
    managed = {key: config.annotations[key] for key in _ON_SERVICE if key in config.annotations}
    marks = {**config.labels, **scheduling_labels(config.annotations)}
    template_labels = {key: value for key, value in marks.items() if key != labels.VISIBILITY}
    metadata = {"labels": template_labels, "annotations": _write_scaling(config)}
    obj = make_object(kinds.KNATIVE_SERVICE, service, config.name, marks, managed)
    template = {"metadata": metadata, "spec": _write_revision(config)}
    return {**obj, "spec": {"template": template, "traffic": _write_traffic(config, service)}}


def _write_scaling(config: ComponentConfig) -> dict[str, str]:
    extension = config.component_extension
    notes = {
        key: value
        for key, value in pod_annotations(config.annotations).items()
        if key not in _ON_SERVICE
    }
    least = 1 if extension.min_replicas is None else extension.min_replicas
    notes[labels.KNATIVE_MIN_SCALE] = str(least)
    if extension.max_replicas:
        notes[labels.KNATIVE_MAX_SCALE] = str(extension.max_replicas)
    notes.setdefault(labels.KNATIVE_CLASS, _CLASS)
    if extension.scale_target is not None:
        notes[labels.KNATIVE_TARGET] = str(extension.scale_target)
    if extension.scale_metric:
        notes[labels.KNATIVE_METRIC] = extension.scale_metric
    return notes


def _write_revision(config: ComponentConfig) -> Object:
    extension = config.component_extension
    revision: Object = dict(config.pod_spec)
    if extension.container_concurrency is not None:
        revision["containerConcurrency"] = extension.container_concurrency
    if extension.timeout_seconds is not None:
        revision["timeoutSeconds"] = extension.timeout_seconds
        revision["responseStartTimeoutSeconds"] = extension.timeout_seconds
    return revision


def _write_traffic(config: ComponentConfig, service: InferenceService) -> list[Object]:
    tag = {"tag": "latest"} if config.annotations.get(labels.TAG_ROUTING) == "true" else {}
    components = read_object(read_object(service.obj, "status"), "components")
    known = read_object(components, config.component_type)
    stable = read_text(known, "latestRolledoutRevision")
    percent = config.component_extension.canary_percent
    if percent is None or not stable:
        return [{"latestRevision": True, "percent": 100, **tag}]
    traffic: list[Object] = [{"latestRevision": True, "percent": percent, **tag}]
    if percent < 100:
        rest = {"latestRevision": False, "revisionName": stable, "percent": 100 - percent}
        traffic.append({**rest, "tag": "prev"})
    return traffic
