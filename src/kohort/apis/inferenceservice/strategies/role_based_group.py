"""
One RoleBasedGroup for all components of a service.

Four phases, each a function of the one before: read the components, make the router's RBAC, make
the group, make an autoscaler for each role. Then Services and budgets. No phase writes, so a
failure leaves existing objects unchanged, and the next plan starts from the first phase again.
"""

from collections.abc import Iterator, Mapping

from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects.autoscalers import render_autoscalers
from kohort.apis.inferenceservice.objects.budgets import render_role_budget
from kohort.apis.inferenceservice.objects.role_based_groups import (
    first_replicas,
    live_replicas,
    render_coordination,
    render_group,
    render_warm_up,
    role_labels,
)
from kohort.apis.inferenceservice.objects.router_access import render_access
from kohort.apis.inferenceservice.objects.services import render_role_service
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, InferenceService
from kohort.apis.inferenceservice.strategies.strategy import (
    WorkloadObjects,
    WorkloadReconcileRequest,
    check_mode,
)
from kohort.apis.inferenceservice.strategies.warnings import list_warnings
from kohort.cluster.kinds import BUDGET, SERVICE
from kohort.cluster.objects import Kind, Object

NAME = "RBG"
_SERVING = (DeploymentMode.RAW, DeploymentMode.MULTI_NODE)
_ZERO = "; minReplicas: 0 makes a component Serverless, so set it to 1 or more"

Made = Iterator[tuple[Kind, Object]]


class RBGStrategy:
    """All components as roles of one RoleBasedGroup."""

    def get_strategy_name(self) -> str:
        """The name of this strategy."""
        return NAME

    def is_applicable(self, isvc: InferenceService, annotations: Mapping[str, str]) -> bool:
        """Whether the service has the annotation for deployment mode RoleBasedGroup."""
        return annotations.get(labels.DEPLOYMENT_MODE) == DeploymentMode.ROLE_BASED_GROUP

    def validate_deployment_modes(self, modes: ComponentDeploymentModes) -> None:
        """Raises ServiceError for modes that a role cannot have."""
        hint = _ZERO if DeploymentMode.SERVERLESS in (modes.engine, modes.router) else ""
        check_mode(NAME, ComponentType.ENGINE, modes.engine, _SERVING, hint)
        if modes.decoder is not None:
            check_mode(NAME, ComponentType.DECODER, modes.decoder, _SERVING)
        if modes.router is not None:
            check_mode(NAME, ComponentType.ROUTER, modes.router, (DeploymentMode.RAW,), hint)

    def reconcile_workload(self, request: WorkloadReconcileRequest) -> WorkloadObjects:
        """The RoleBasedGroup, and the Services, autoscalers, budgets and RBAC around it."""
        request.require(kinds.ROLE_BASED_GROUP)
        configs = request.extract_configs()
        objects = (
            *_reconcile_access(configs, request),
            *_reconcile_group(configs, request),
            *_reconcile_autoscalers(configs, request),
            *_reconcile_services(configs, request),
        )
        return WorkloadObjects(NAME, objects, configs, list_warnings(configs, request))


Configs = Mapping[ComponentType, ComponentConfig]


def _reconcile_access(configs: Configs, request: WorkloadReconcileRequest) -> Made:
    router = configs.get(ComponentType.ROUTER)
    if router is not None:
        yield from render_access(router, request.inference_service).items()


def _reconcile_group(configs: Configs, request: WorkloadReconcileRequest) -> Made:
    service, roles = request.inference_service, list(configs.values())
    yield kinds.ROLE_BASED_GROUP, render_group(roles, service, _find_live(request))
    additions = {
        kinds.COORDINATED_POLICY: render_coordination(roles, service),
        kinds.WARM_UP: render_warm_up(roles, service),
    }
    for kind, obj in additions.items():
        if obj is not None and kind not in request.unserved:
            yield kind, obj


def _reconcile_autoscalers(configs: Configs, request: WorkloadReconcileRequest) -> Made:
    """An autoscaler for each role, whose target is the role's scaling adapter."""
    for config in configs.values():
        target = (kinds.SCALING_ADAPTER, config.name)
        marks = role_labels(config)
        made = render_autoscalers(config, request.inference_service, marks, target)
        yield from ((kind, obj) for kind, obj in made.items() if kind not in request.unserved)


def _reconcile_services(configs: Configs, request: WorkloadReconcileRequest) -> Made:
    service, held = request.inference_service, live_replicas(_find_live(request))
    for config in configs.values():
        yield SERVICE, render_role_service(config, service)
        replicas = held.get(config.component_type, first_replicas(config))
        budget = render_role_budget(config, service, role_labels(config), replicas)
        yield BUDGET, budget


def _find_live(request: WorkloadReconcileRequest) -> Object | None:
    return request.find_existing(kinds.ROLE_BASED_GROUP, request.inference_service.name)
