"""
Warnings about fields of a component that its mode or the cluster does not support.

Upstream ignores such fields silently.
"""

from collections.abc import Iterator, Mapping

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects.autoscalers import HPA, KEDA, autoscaler_class
from kohort.apis.inferenceservice.objects.leader_worker_sets import (
    least_replicas,
    needs_sidecar,
    raise_replicas,
)
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode
from kohort.apis.inferenceservice.strategies.strategy import WorkloadReconcileRequest
from kohort.cluster.objects import Kind

_KNATIVE_METRICS = ("concurrency", "rps")


def list_warnings(
    configs: Mapping[ComponentType, ComponentConfig], request: WorkloadReconcileRequest
) -> tuple[str, ...]:
    """A warning for each unsupported field of a service's components."""
    fields = (text for config in configs.values() for text in _check_fields(config, request))
    kinds_missing = (text for config in configs.values() for text in _check_kinds(config, request))
    return tuple(dict.fromkeys((*fields, *kinds_missing)))


def _check_fields(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    path, extension = f"spec.{config.component_type}", config.component_extension
    is_serverless = config.deployment_mode is DeploymentMode.SERVERLESS
    mode = f"in deployment mode {config.deployment_mode}"
    if not is_serverless and extension.canary_percent is not None:
        yield f"{path}.canaryTrafficPercent has no effect {mode}: only Serverless splits traffic"
    if not is_serverless and extension.container_concurrency is not None:
        yield f"{path}.containerConcurrency has no effect {mode}"
    if not is_serverless and extension.scale_metric in _KNATIVE_METRICS:
        yield (
            f"{path}.scaleMetric {extension.scale_metric} is a metric of Serverless; "
            f"{mode} cpu is used"
        )
    is_deployment = config.deployment_mode is DeploymentMode.RAW
    if not is_deployment and extension.deployment_strategy is not None:
        yield f"{path}.deploymentStrategy has no effect {mode}"
    if not is_serverless and extension.keda is not None and autoscaler_class(config) != KEDA:
        yield f"{path}.kedaConfig has no effect without annotation {labels.AUTOSCALER_CLASS}: keda"
    yield from _check_groups(config, request)
    if autoscaler_class(config) == HPA:
        yield from _check_scaling(config, request)


def _check_groups(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    """Warn of a minimum that was lowered where no autoscaler scales groups down."""
    name = names.leader_worker_set_name(config.name)
    found = request.find_existing(kinds.LEADER_WORKER_SET, name)
    if config.deployment_mode is not DeploymentMode.MULTI_NODE or found is None:
        return
    held, least = raise_replicas(config, found) or 0, least_replicas(config)
    if labels.AUTOSCALER_CLASS not in config.annotations and held > least:
        yield (
            f"spec.{config.component_type}.minReplicas {least} takes no group away: "
            f"LeaderWorkerSet {name} has {held}; scale it, or set annotation "
            f"{labels.AUTOSCALER_CLASS}: hpa"
        )


def _check_scaling(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    extension = config.component_extension
    if extension.scale_target is None and not extension.scale_metric:
        return
    asked = labels.AUTOSCALER_CLASS in config.annotations
    notes = request.inference_service.annotations
    is_group = notes.get(labels.DEPLOYMENT_MODE) == DeploymentMode.ROLE_BASED_GROUP
    if config.deployment_mode is DeploymentMode.MULTI_NODE and not asked and not is_group:
        yield (
            f"spec.{config.component_type}.scaleTarget and scaleMetric have no effect in "
            f"deployment mode MultiNode without annotation {labels.AUTOSCALER_CLASS}: hpa"
        )


def _check_kinds(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    wanted: list[Kind] = []
    if autoscaler_class(config) == KEDA and config.deployment_mode is not DeploymentMode.SERVERLESS:
        wanted.append(kinds.SCALED_OBJECT)
    if config.is_multi_node and needs_sidecar(config):
        wanted.append(kinds.ISTIO_SIDECAR)
    notes = request.inference_service.annotations
    if labels.COORDINATION_SKEW in notes:
        wanted.append(kinds.COORDINATED_POLICY)
    if notes.get(labels.IMAGE_PRELOAD) == "true":
        wanted.append(kinds.WARM_UP)
    for kind in wanted:
        if kind in request.unserved:
            yield f"the cluster does not serve {kind.name}: {kinds.OPTIONAL[kind]}"
