"""
Labels and annotations of the objects of a component.

Our labels override the user's, since routers, budgets and Services select pods by ours.
"""

from kohort.apis.inferenceservice import labels, names
from kohort.apis.inferenceservice.components.context import ComponentContext
from kohort.apis.inferenceservice.spec import InferenceService
from kohort.cluster.objects import Object

_DEFAULT_CATEGORY = "SMALL"
_KUEUE_PRIORITY = "kueue-scheduling-high-priority"
_VOLCANO_PRIORITY = "volcano-scheduling-high-priority"


def write_metadata(context: ComponentContext) -> Object:
    """Name, namespace, labels and annotations of a component's objects."""
    service = context.service
    return {
        "name": names.component_name(service.name, context.component),
        "namespace": service.namespace,
        "labels": write_labels(context),
        "annotations": write_annotations(context),
    }


def write_annotations(context: ComponentContext) -> dict[str, str]:
    """The annotations of service and component, plus the resolved model and runtime."""
    notes = {**context.service.annotations, **context.spec.extension.annotations}
    notes |= _write_tuning(context)
    model = context.model
    if model is not None:
        keys = () if context.is_merged else (labels.DECRYPTION_KEY, labels.DECRYPTION_SECRET)
        notes |= {key: model.annotations[key] for key in keys if key in model.annotations}
        notes[labels.MODEL_NAME] = model.name
        if model.vendor:
            notes[labels.MODEL_VENDOR] = model.vendor
        if model.format is not None:
            notes[labels.MODEL_FORMAT] = model.format.name
            if model.format.version:
                notes[labels.MODEL_FORMAT_VERSION] = model.format.version
    if context.runtime is not None:
        notes[labels.RUNTIME] = context.runtime.name
    return notes


def _write_tuning(context: ComponentContext) -> dict[str, str]:
    weight = context.weight
    if weight is None:
        return {}
    notes = {labels.INJECT_ADAPTER: weight.name, labels.FINE_TUNING_STRATEGY: weight.strategy}
    if weight.is_merged:
        notes |= {labels.MERGED_WEIGHTS: "true", labels.INJECT_MODEL_INIT: "false"}
    return notes


def write_labels(context: ComponentContext) -> dict[str, str]:
    """The labels of service and component, plus those by which we select objects."""
    model, weight = context.model, context.weight
    found = {
        **context.service.labels,
        **context.spec.extension.labels,
        labels.SERVICE_NAME: context.service.name,
        labels.COMPONENT: context.component.value,
    }
    if context.runtime is not None:
        found[labels.RUNTIME_LABEL] = names.label_value(context.runtime.name)
    found[labels.FINE_TUNED] = "false" if weight is None else "true"
    if model is not None:
        category = model.annotations.get(labels.MODEL_CATEGORY) or _DEFAULT_CATEGORY
        found[labels.MODEL_NAME_LABEL] = names.label_value(model.name)
        found[labels.MODEL_SIZE_LABEL] = names.label_value(category)
        found[labels.MODEL_TYPE_LABEL] = "Serving"
        if model.vendor:
            found[labels.MODEL_VENDOR_LABEL] = names.label_value(model.vendor)
    if weight is not None:
        found[labels.STRATEGY_LABEL] = names.label_value(weight.strategy)
        found[labels.MERGED_LABEL] = "true" if weight.is_merged else "false"
    return found


def scheduling_labels(annotations: dict[str, str]) -> dict[str, str]:
    """The pod labels that Volcano, Kueue and KubeRay read, if the service names a queue."""
    found: dict[str, str] = {}
    cluster = annotations.get(labels.DEDICATED_CLUSTER)
    if labels.VOLCANO_QUEUE in annotations:
        found[labels.VOLCANO_QUEUE_LABEL] = annotations[labels.VOLCANO_QUEUE]
    elif cluster is not None and labels.KUEUE_ENABLED in annotations:
        found[labels.KUEUE_QUEUE_LABEL] = cluster
        found[labels.KUEUE_PRIORITY_LABEL] = _KUEUE_PRIORITY
    elif cluster is not None:
        found[labels.VOLCANO_QUEUE_LABEL] = cluster
        found[labels.RAY_PRIORITY_LABEL] = _VOLCANO_PRIORITY
    if labels.VOLCANO in annotations:
        found[labels.RAY_SCHEDULER_LABEL] = "volcano"
    return found


def pod_annotations(annotations: dict[str, str]) -> dict[str, str]:
    """The annotations for pods, without those of other objects, whose edits restart no pod."""
    return {
        key: value
        for key, value in annotations.items()
        if key not in labels.NOT_ON_PODS and not key.startswith(labels.NOT_ON_PODS_PREFIXES)
    }


def service_annotations(annotations: dict[str, str]) -> dict[str, str]:
    """The annotations for Services, without those that only pods need."""
    return {
        key: value
        for key, value in annotations.items()
        if key not in labels.POD_ONLY and not key.startswith(labels.POD_ONLY_PREFIXES)
    }


def template_values(service: InferenceService) -> dict[str, str | dict[str, str]]:
    """Values of the service that a runner's arguments may use as ``{{ .Name }}`` and the like."""
    return {
        "Name": service.name,
        "Namespace": service.namespace,
        "Labels": dict(service.labels),
        "Annotations": dict(service.annotations),
        "UID": service.uid,
    }
