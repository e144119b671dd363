"""
Autoscalers of a component: a HorizontalPodAutoscaler, or a ScaledObject of KEDA.

An annotation chooses between them; with ``external`` the operator creates none. The caller passes
the target: a Deployment, a LeaderWorkerSet or a scaling adapter.
"""

from collections.abc import Mapping

from kohort.apis.inferenceservice import kinds, labels, names, reasons
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentExtensionSpec, InferenceService, KedaConfig
from kohort.cluster.kinds import AUTOSCALER
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Kind, Object

HPA, KEDA, EXTERNAL = "hpa", "keda", "external"
CLASSES = (HPA, KEDA, EXTERNAL)
_RESOURCES = ("cpu", "memory")
_UTILIZATION = 80
_SERVER = "http://prometheus-operated.monitoring.svc.cluster.local:9090"
_THRESHOLD, _OPERATOR, _METRIC = "10", "LessThanOrEqual", "tps"
_LENS = "k8slens-edit-resource-version"


def autoscaler_class(config: ComponentConfig) -> str:
    """The autoscaler class of a component; raises ServiceError for an unknown one."""
    found = config.annotations.get(labels.AUTOSCALER_CLASS) or HPA
    if found not in CLASSES:
        raise ServiceError(
            reasons.WORKLOAD,
            f"annotation {labels.AUTOSCALER_CLASS} of component {config.component_type}, which the "
            "service, the component or the runtime may set, must be one of "
            f"{', '.join(CLASSES)}, not {found!r}",
        )
    return found


def render_autoscalers(
    config: ComponentConfig,
    service: InferenceService,
    marks: Mapping[str, str],
    target: tuple[Kind, str],
) -> dict[Kind, Object]:
    """The autoscaler of a component, by kind; none with ``external``."""
    match autoscaler_class(config):
        case "hpa":
            return {AUTOSCALER: render_hpa(config, service, marks, target)}
        case "keda":
            return {kinds.SCALED_OBJECT: render_scaled_object(config, service, marks, target)}
    return {}


def bounds_of(extension: ComponentExtensionSpec) -> tuple[int, int]:
    """The minimum and maximum replicas of an autoscaler."""
    low = max(1, extension.min_replicas or 0)
    return low, max(low, extension.max_replicas)


def _refer(target: tuple[Kind, str]) -> Object:
    kind, name = target
    return {"apiVersion": kind.api_version, "kind": kind.name, "name": name}


def render_hpa(
    config: ComponentConfig,
    service: InferenceService,
    marks: Mapping[str, str],
    target: tuple[Kind, str],
) -> Object:
    """A HorizontalPodAutoscaler that scales by the utilization of one resource."""
    low, high = bounds_of(config.component_extension)
    utilization = {"type": "Utilization", "averageUtilization": _find_utilization(config)}
    resource = {"name": find_resource(config), "target": utilization}
    obj = make_object(AUTOSCALER, service, config.name, marks, config.annotations)
    spec = {
        "scaleTargetRef": _refer(target),
        "minReplicas": low,
        "maxReplicas": high,
        "metrics": [{"type": "Resource", "resource": resource}],
    }
    return {**obj, "spec": spec}


def find_resource(config: ComponentConfig) -> str:
    """The resource to scale by: cpu or memory; cpu if the user wrote a metric of Knative."""
    metric = config.component_extension.scale_metric or config.annotations.get(labels.METRICS, "")
    return metric if metric in _RESOURCES else "cpu"


def _find_utilization(config: ComponentConfig) -> int:
    noted = find_whole(config.annotations.get(labels.TARGET_UTILIZATION, ""))
    if noted is not None and 1 <= noted <= 100:
        return noted
    return config.component_extension.scale_target or _UTILIZATION


def render_scaled_object(
    config: ComponentConfig,
    service: InferenceService,
    marks: Mapping[str, str],
    target: tuple[Kind, str],
) -> Object:
    """A KEDA ScaledObject that scales by a Prometheus query."""
    keda = config.component_extension.keda or service.keda or KedaConfig()
    low, high = bounds_of(config.component_extension)
    kept = {key: value for key, value in marks.items() if key != _LENS}
    name = names.scaled_object_name(config.name)
    obj = make_object(kinds.SCALED_OBJECT, service, name, kept, config.annotations)
    spec = {
        "scaleTargetRef": _refer(target),
        "minReplicaCount": low,
        "maxReplicaCount": high,
        "triggers": [_write_trigger(config, keda)],
    }
    return {**obj, "spec": spec}


def _write_trigger(config: ComponentConfig, keda: KedaConfig) -> Object:
    notes = config.annotations
    metadata = {
        "serverAddress": notes.get(labels.KEDA_SERVER) or keda.server or _SERVER,
        "metricName": config.component_extension.scale_metric or _METRIC,
        "query": notes.get(labels.KEDA_QUERY) or _write_query(keda.query, config.name),
        "threshold": notes.get(labels.KEDA_THRESHOLD) or keda.threshold or _THRESHOLD,
        "operator": notes.get(labels.KEDA_OPERATOR) or keda.operator or _OPERATOR,
    }
    trigger: Object = {"type": "prometheus", "metadata": metadata}
    if keda.authentication is not None:
        kind = keda.authentication.get("kind") or "TriggerAuthentication"
        trigger["authenticationRef"] = {"name": keda.authentication.get("name"), "kind": kind}
        if keda.auth_modes:
            metadata["authModes"] = keda.auth_modes
    return trigger


def _write_query(custom: str, name: str) -> str:
    """The user's query, with ``%s`` replaced by the component's name, or the default query."""
    if custom:
        return custom.replace("%s", name).replace("%%", "%") if "%s" in custom else custom
    label = f'{{ome_io_inferenceservice="{name}"}}'
    return (
        f"sum(avg_over_time(vllm:avg_generation_throughput_toks_per_s{label}[5m]) < bool 10) * "
        f"sum(rate(vllm:request_success_total{label}[1m]) > bool 0.50)"
    )
