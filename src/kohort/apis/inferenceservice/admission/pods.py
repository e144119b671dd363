"""
Containers and settings that the webhook adds to a service's pods when they are created.

Annotations of the pod say what it needs, whichever workload creates it: Deployment,
LeaderWorkerSet or RoleBasedGroup. The webhook does not add a container that the pod already has.
"""

from collections.abc import Callable

from kohort.apis.inferenceservice import labels, names, reasons
from kohort.apis.inferenceservice.admission.injections import (
    make_adapter,
    make_model_init,
    make_sidecar,
    needs_identity,
)
from kohort.apis.inferenceservice.admission.rdma import add_rdma
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.fields import read_text
from kohort.apis.inferenceservice.models import FineTunedWeight
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.cluster.objects import Object, annotations_of, labels_of, metadata_of

_QUEUE_PROXY = "queue-proxy"
_AGGREGATE_PORT, _SCRAPE_PORT = "9088", "9091"
_INIT_ORDER = (names.MODEL_INIT, names.ADAPTER)


def mutate_pod(
    pod: Object,
    configuration: Configuration,
    find_weight: Callable[[str], FineTunedWeight | None] = lambda name: None,
) -> Object:
    """The pod with all additions that its annotations request; raises ServiceError."""
    pod = _add_metrics(pod, configuration)
    notes = annotations_of(pod)
    if notes.get(labels.INJECT_MODEL_INIT) == "true":
        made = make_model_init(pod, configuration)
        pod = _put(pod, "initContainers", made, needs_identity(configuration.model_init))
    adapter = notes.get(labels.INJECT_ADAPTER)
    if adapter:
        weight = find_weight(adapter)
        if weight is None:
            raise ServiceError(
                reasons.MODEL,
                f"there is no FineTunedWeight {adapter}: create it",
                reasons.MODEL_NOT_FOUND,
            )
        made = make_adapter(pod, configuration, weight)
        pod = _put(pod, "initContainers", made, needs_identity(configuration.adapter))
    # An annotation of the service is on the pods of its router, too, which have no weights.
    has_weights = labels_of(pod).get(labels.COMPONENT) != ComponentType.ROUTER
    if notes.get(labels.INJECT_SIDECAR) == "true" and has_weights:
        pod = _put(pod, "containers", make_sidecar(pod, configuration), False)
    return _order(add_rdma(pod))


def _add_metrics(pod: Object, configuration: Configuration) -> Object:
    config, notes = configuration.metrics, dict(annotations_of(pod))
    wanted = {
        labels.METRIC_AGGREGATION: read_text(config, "enableMetricAggregation"),
        labels.PROMETHEUS_SCRAPE: read_text(config, "enablePrometheusScraping"),
    }
    for key, value in wanted.items():
        notes.setdefault(key, value or "false")
    is_aggregated = notes[labels.METRIC_AGGREGATION] == "true"
    if notes[labels.PROMETHEUS_SCRAPE] == "true":
        notes["prometheus.io/port"] = _AGGREGATE_PORT if is_aggregated else _SCRAPE_PORT
        notes["prometheus.io/path"] = "/metrics"
    spec = pod["spec"]
    if is_aggregated:
        spec = {**spec, "containers": [_aggregate(c, notes) for c in spec.get("containers") or ()]}
    return {**pod, "metadata": {**metadata_of(pod), "annotations": notes}, "spec": spec}


def _aggregate(container: Object, notes: dict[str, str]) -> Object:
    if container.get("name") != _QUEUE_PROXY:
        return container
    variables = {
        "CONTAINER_PROMETHEUS_METRICS_PORT": notes.get(labels.PROMETHEUS_PORT, "8080"),
        "CONTAINER_PROMETHEUS_METRICS_PATH": notes.get(labels.PROMETHEUS_PATH, "/metrics"),
        "AGGREGATE_PROMETHEUS_METRICS_PORT": _AGGREGATE_PORT,
    }
    env = [e for e in container.get("env") or () if e.get("name") not in variables]
    env += [{"name": name, "value": value} for name, value in variables.items()]
    port = {"name": "aggr-metric", "containerPort": int(_AGGREGATE_PORT), "protocol": "TCP"}
    ports = [p for p in container.get("ports") or () if p.get("name") != port["name"]]
    return {**container, "env": env, "ports": [*ports, port]}


def _put(pod: Object, field: str, container: Object, needs_account: bool) -> Object:
    spec: Object = dict(pod["spec"])
    held = list(spec.get(field) or ())
    if any(each.get("name") == container["name"] for each in held):
        return pod
    containers = spec.get("containers") or [{}]
    named = (each for each in containers if each.get("name") == names.MAIN_CONTAINER)
    security = next(named, containers[0]).get("securityContext")
    if security:
        container = {**container, "securityContext": security}
    if needs_account:
        if not spec.get("serviceAccountName"):
            raise ServiceError(
                reasons.WORKLOAD,
                f"container {container['name']} proves itself by a service account, and the pod "
                "names none: write serviceAccountName",
            )
        spec["automountServiceAccountToken"] = True
    return {**pod, "spec": {**spec, field: [*held, container]}}


def _order(pod: Object) -> Object:
    """The pod with our init containers sorted among the places that they hold in the list."""
    held = list(pod["spec"].get("initContainers") or ())
    ours = [each for each in held if each.get("name") in _INIT_ORDER]
    if len(ours) < 2:
        return pod
    ours.sort(key=lambda each: _INIT_ORDER.index(str(each["name"])))
    queue = iter(ours)
    ordered = [next(queue) if each.get("name") in _INIT_ORDER else each for each in held]
    return {**pod, "spec": {**pod["spec"], "initContainers": ordered}}
