"""
All objects of a service: resolve its references, ask a strategy for workloads, add the ingress.

The plan lists every kind that a service may own, even with no object of that kind: so the operator
deletes objects that a former mode, strategy or component left behind. It finds them by owner uid,
never by name alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kohort.apis.carriers.desired import DesiredObjects
from kohort.apis.inferenceservice import kinds, reasons
from kohort.apis.inferenceservice.configuration import (
    Configuration,
    IngressConfig,
    resolve_ingress,
)
from kohort.apis.inferenceservice.misspelt import warn_keys
from kohort.apis.inferenceservice.objects.ingress import (
    check_templates,
    find_domain,
    render_gateway_alias,
    render_ingress,
    render_routes,
    render_virtual_service,
)
from kohort.apis.inferenceservice.objects.model_config import render_model_config
from kohort.apis.inferenceservice.objects.services import (
    front_of,
    is_exposed,
    render_external_service,
)
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution import ReferencedObjects, Resolution, resolve
from kohort.apis.inferenceservice.resolution.modes import service_mode, warn_mode
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, InferenceService
from kohort.apis.inferenceservice.strategies.registry import (
    StrategyReason,
    WorkloadStrategyManager,
    reconcile_workload,
)
from kohort.apis.inferenceservice.strategies.strategy import (
    Existing,
    WorkloadObjects,
    group_objects,
    make_request,
)
from kohort.apis.inferenceservice.strategies.warnings import list_timeouts
from kohort.cluster.kinds import (
    AUTOSCALER,
    BUDGET,
    CONFIG_MAP,
    DEPLOYMENT,
    INGRESS,
    SERVICE,
    SERVICE_ACCOUNT,
)
from kohort.cluster.objects import Kind, Object, name_of

# Every kind that a service may own.
OWNED = (
    CONFIG_MAP,
    SERVICE_ACCOUNT,
    kinds.ROLE,
    kinds.ROLE_BINDING,
    kinds.ROLE_BASED_GROUP,
    kinds.COORDINATED_POLICY,
    kinds.WARM_UP,
    DEPLOYMENT,
    kinds.LEADER_WORKER_SET,
    kinds.RAY_CLUSTER,
    kinds.KNATIVE_SERVICE,
    SERVICE,
    AUTOSCALER,
    kinds.SCALED_OBJECT,
    BUDGET,
    INGRESS,
    kinds.HTTP_ROUTE,
    kinds.VIRTUAL_SERVICE,
    kinds.ISTIO_SIDECAR,
)


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """The objects that should exist for a service, and the decisions behind them."""

    service: InferenceService
    objects: tuple[DesiredObjects, ...]
    resolution: Resolution | None = None  # None: in mode VirtualDeployment
    workload: WorkloadObjects | None = None
    ingress: IngressConfig = field(default_factory=IngressConfig)
    strategies: tuple[StrategyReason, ...] = ()
    warnings: tuple[str, ...] = ()

    def find(self, kind: Kind, name: str) -> Object | None:
        """An object of the plan by kind and name."""
        for desired in self.objects:
            for obj in desired.objects if desired.kind == kind else ():
                if obj["metadata"]["name"] == name:
                    return obj
        return None


def plan_service(
    service: InferenceService,
    known: ReferencedObjects,
    configuration: Configuration,
    manager: WorkloadStrategyManager,
    existing: Existing | None = None,
    unserved: frozenset[Kind] = frozenset(),
) -> ServicePlan:
    """Plan the objects of a service; raises ServiceError if the service cannot be deployed."""
    mode = service_mode(service, configuration.default_mode)
    owned = [kind for kind in OWNED if kind not in unserved]
    if mode is DeploymentMode.VIRTUAL:
        return ServicePlan(service, group_objects([], owned))
    if mode is DeploymentMode.SERVERLESS and kinds.KNATIVE_SERVICE in unserved:
        raise ServiceError(
            reasons.SERVERLESS_REJECTED,
            f"deployment mode Serverless needs Knative: {kinds.OPTIONAL[kinds.KNATIVE_SERVICE]}",
        )
    resolution = resolve(service, known)
    request = make_request(resolution, configuration, existing, unserved)
    notes, modes = service.annotations, resolution.modes
    strategy = manager.select_strategy(service, notes, modes)
    workload = reconcile_workload(strategy, request)
    _check_kinds(workload)
    ingress = resolve_ingress(configuration.ingress, service)
    exposed = list(_expose(service, workload, resolution, ingress, configuration))
    made = [*_model_config(resolution), *workload.objects, *exposed]
    missing = [kind for kind, _ in exposed if kind in unserved]
    warnings = [f"the cluster does not serve {k.name}: {kinds.OPTIONAL[k]}" for k in missing]
    has_routes = any(kind == kinds.HTTP_ROUTE for kind, _ in exposed)
    warnings += list_timeouts(workload.configs, has_routes)
    if ingress.is_disabled and not find_domain(service.name, service, ingress):
        template = repr(ingress.domain_template)
        warnings.append(f"template {template} gives no host name: status.components has no url")
    return ServicePlan(
        service=service,
        objects=group_objects([(kind, obj) for kind, obj in made if kind not in unserved], owned),
        resolution=resolution,
        workload=workload,
        ingress=ingress,
        strategies=manager.explain_selection(service, notes, modes),
        warnings=(
            *(*warn_mode(service), *warn_keys(service)),
            *(*workload.warnings, *dict.fromkeys(warnings)),
        ),
    )


def _check_kinds(workload: WorkloadObjects) -> None:
    """Raises ServiceError for an object of a kind that the operator does not watch or delete."""
    for kind, obj in workload.objects:
        if kind not in OWNED:
            raise ServiceError(
                reasons.STRATEGY,
                f"strategy {workload.strategy} makes {kind.name} {name_of(obj)}, a kind that "
                f"services do not own here: use one of {', '.join(k.name for k in OWNED)}",
            )


def _model_config(resolution: Resolution) -> Iterator[tuple[Kind, Object]]:
    if resolution.model is not None:
        config = render_model_config(resolution.service, resolution.model, resolution.weight)
        yield CONFIG_MAP, config


def _expose(
    service: InferenceService,
    workload: WorkloadObjects,
    resolution: Resolution,
    ingress: IngressConfig,
    configuration: Configuration,
) -> Iterator[tuple[Kind, Object]]:
    configs = workload.configs
    if ComponentType.ENGINE not in configs:
        return
    if ingress.is_disabled:
        if is_exposed(service):
            yield SERVICE, render_external_service(front_of(configs), service)
        return
    mode = resolution.modes.ingress
    if mode is DeploymentMode.SERVERLESS:
        check_templates(service, ingress)
        if not ingress.is_virtual_host_disabled:
            domain = configuration.cluster_domain
            made = render_virtual_service(configs, service, ingress, domain)
            yield kinds.VIRTUAL_SERVICE, made
            yield SERVICE, render_gateway_alias(service, ingress)
    elif ingress.uses_gateway_api:
        for route in render_routes(configs, service, ingress):
            yield kinds.HTTP_ROUTE, route
    else:
        yield INGRESS, render_ingress(configs, service, ingress)
