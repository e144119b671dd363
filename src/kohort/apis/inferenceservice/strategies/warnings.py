"""
Warnings about fields of a component that its mode or the cluster does not support.

Upstream ignores such fields silently.
"""

from collections.abc import Iterator, Mapping

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects.autoscalers import EXTERNAL, KEDA, autoscaler_class
from kohort.apis.inferenceservice.objects.budgets import is_wanted
from kohort.apis.inferenceservice.objects.leader_worker_sets import (
    least_replicas,
    needs_sidecar,
    raise_replicas,
)
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, InferenceService
from kohort.apis.inferenceservice.strategies.strategy import WorkloadReconcileRequest
from kohort.cluster.objects import Kind

_KNATIVE_METRICS = ("concurrency", "rps")
_RECREATE = "Recreate"
_ASK = f"annotation {labels.AUTOSCALER_CLASS}: hpa"
_NO_KEDA = f"without annotation {labels.AUTOSCALER_CLASS}: {KEDA}"


def list_warnings(
    configs: Mapping[ComponentType, ComponentConfig], request: WorkloadReconcileRequest
) -> tuple[str, ...]:
    """A warning for each unsupported field of a service's components."""
    fields = (text for config in configs.values() for text in _check_fields(config, request))
    kinds_missing = (text for config in configs.values() for text in _check_kinds(config, request))
    shared = _check_shared_keda(configs, request.inference_service)
    return tuple(dict.fromkeys((*fields, *shared, *kinds_missing)))


def list_timeouts(
    configs: Mapping[ComponentType, ComponentConfig], has_routes: bool
) -> Iterator[str]:
    """A warning for each timeout that neither Knative nor a route of the Gateway API keeps."""
    for component, config in configs.items():
        is_serverless = config.deployment_mode is DeploymentMode.SERVERLESS
        is_set = config.component_extension.timeout_seconds is not None
        if is_set and not is_serverless and not has_routes:
            yield (
                f"spec.{component}.timeoutSeconds has no effect: only Serverless and HTTPRoutes "
                "of the Gateway API have a timeout"
            )


def is_group(service: InferenceService) -> bool:
    """Whether the components of a service are roles of one group."""
    return service.annotations.get(labels.DEPLOYMENT_MODE) == DeploymentMode.ROLE_BASED_GROUP


def _check_fields(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    yield from _check_knative(config)
    yield from _check_rollout(config, request)
    yield from _check_groups(config, request)
    yield from _check_keda(config, request)
    yield from _check_scaling(config, request)
    if not _has_budget(config) and is_wanted(config):
        path, mode = f"spec.{config.component_type}", config.deployment_mode
        yield (
            f"{path}.minAvailable and maxUnavailable have no effect in deployment mode {mode}: "
            "another controller makes its pods"
        )


def _check_knative(config: ComponentConfig) -> Iterator[str]:
    """Warn of fields that only Knative reads."""
    if config.deployment_mode is DeploymentMode.SERVERLESS:
        return
    path, extension = f"spec.{config.component_type}", config.component_extension
    mode = f"in deployment mode {config.deployment_mode}"
    if extension.canary_percent is not None:
        yield f"{path}.canaryTrafficPercent has no effect {mode}: only Serverless splits traffic"
    if extension.container_concurrency is not None:
        yield f"{path}.containerConcurrency has no effect {mode}"
    if extension.scale_metric in _KNATIVE_METRICS:
        yield (
            f"{path}.scaleMetric {extension.scale_metric} is a metric of Serverless; "
            f"{mode} cpu is used"
        )


def _check_rollout(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    path, strategy = f"spec.{config.component_type}", config.component_extension.deployment_strategy
    if strategy is None:
        return
    is_role = is_group(request.inference_service)
    if not is_role and config.deployment_mode is not DeploymentMode.RAW:
        yield f"{path}.deploymentStrategy has no effect in deployment mode {config.deployment_mode}"
    if is_role and strategy.get("type") == _RECREATE:
        yield (
            f"{path}.deploymentStrategy.type {_RECREATE} has no effect on a role: annotation "
            f"{labels.UPDATE_TYPE} says how it is updated"
        )
    own = request.inference_service.components[config.component_type].extension
    is_rolling = strategy.get("type") != _RECREATE
    if not is_role and not is_rolling and (own.deployment_strategy or {}).get("rollingUpdate"):
        yield f"{path}.deploymentStrategy.rollingUpdate has no effect with type {_RECREATE}"


def _has_budget(config: ComponentConfig) -> bool:
    return config.deployment_mode in (DeploymentMode.RAW, DeploymentMode.MULTI_NODE)


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


def _has_keda(config: ComponentConfig) -> bool:
    """Whether KEDA scales a component."""
    return autoscaler_class(config) == KEDA and _has_budget(config)


def _check_keda(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    """Warn of a KEDA configuration, or of fields in it, that no ScaledObject follows."""
    own = config.component_extension.keda
    path = f"spec.{config.component_type}.kedaConfig" if own else "spec.kedaConfig"
    used = own or request.inference_service.keda
    if own is not None and not _has_keda(config):
        is_asked, mode = autoscaler_class(config) == KEDA, config.deployment_mode
        yield f"{path} has no effect {f'in deployment mode {mode}' if is_asked else _NO_KEDA}"
    if used is None or not _has_keda(config):
        return
    if used.is_declined:
        yield (
            f"{path}.enableKeda false has no effect: annotation {labels.AUTOSCALER_CLASS} "
            "chooses the autoscaler"
        )
    if used.auth_modes and used.authentication is None:
        yield f"{path}.authModes has no effect without authenticationRef"


def _check_shared_keda(
    configs: Mapping[ComponentType, ComponentConfig], service: InferenceService
) -> Iterator[str]:
    """Warn of the service's KEDA configuration if KEDA scales no component of it."""
    if service.keda is not None and not any(_has_keda(config) for config in configs.values()):
        yield f"spec.kedaConfig has no effect {_NO_KEDA}"


def _check_scaling(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    """Warn of fields for an autoscaler that the component does not have."""
    path, mode, extension = (
        f"spec.{config.component_type}",
        config.deployment_mode,
        config.component_extension,
    )
    found = autoscaler_class(config)
    if mode is not DeploymentMode.SERVERLESS and extension.min_replicas == 0:
        is_set = mode is DeploymentMode.MULTI_NODE and not is_group(request.inference_service)
        if not is_set:
            yield f"{path}.minReplicas 0 counts as 1: only Serverless scales to zero"
    if mode is DeploymentMode.SERVERLESS:
        return
    if found == KEDA and extension.scale_target is not None:
        yield f"{path}.scaleTarget has no effect with KEDA: write kedaConfig.scalingThreshold"
    is_asked = labels.AUTOSCALER_CLASS in config.annotations
    if found == EXTERNAL and mode is not DeploymentMode.RAY:
        is_scaled, why = False, f" with annotation {labels.AUTOSCALER_CLASS}: {EXTERNAL}"
    elif mode is DeploymentMode.MULTI_NODE and not is_asked:
        is_scaled, why = is_group(request.inference_service), f" without {_ASK}"
    else:
        is_scaled, why = mode is not DeploymentMode.RAY, ""
    if is_scaled:
        return
    if extension.scale_target is not None or extension.scale_metric:
        yield f"{path}.scaleTarget and scaleMetric have no effect in deployment mode {mode}{why}"
    written = request.inference_service.components[config.component_type].extension
    if written.max_replicas > (extension.min_replicas or 1):
        yield f"{path}.maxReplicas has no effect in deployment mode {mode}{why}"


def _check_kinds(config: ComponentConfig, request: WorkloadReconcileRequest) -> Iterator[str]:
    wanted: list[Kind] = []
    if autoscaler_class(config) == KEDA and config.deployment_mode is not DeploymentMode.SERVERLESS:
        wanted.append(kinds.SCALED_OBJECT)
    if config.is_multi_node and needs_sidecar(config):
        wanted.append(kinds.ISTIO_SIDECAR)
    notes = request.inference_service.annotations
    if labels.COORDINATION_SKEW in notes or labels.COORDINATION_RATIO in notes:
        wanted.append(kinds.COORDINATED_POLICY)
    if notes.get(labels.IMAGE_PRELOAD) == "true":
        wanted.append(kinds.WARM_UP)
    for kind in wanted:
        if kind in request.unserved:
            yield f"the cluster does not serve {kind.name}: {kinds.OPTIONAL[kind]}"
