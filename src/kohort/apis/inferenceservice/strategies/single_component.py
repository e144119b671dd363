"""
The default strategy: each component is a workload of its own.

Engine, decoder and router are independent; the mode of each says how it is deployed.
"""

from collections.abc import Iterator, Mapping

from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.objects import ray
from kohort.apis.inferenceservice.objects.autoscalers import EXTERNAL, render_autoscalers
from kohort.apis.inferenceservice.objects.budgets import is_wanted, render_budget
from kohort.apis.inferenceservice.objects.deployments import raw_labels, render_deployment
from kohort.apis.inferenceservice.objects.knative import render_knative_service
from kohort.apis.inferenceservice.objects.leader_worker_sets import (
    needs_sidecar,
    raise_replicas,
    render_leader_worker_set,
    render_sidecar,
)
from kohort.apis.inferenceservice.objects.router_access import render_access
from kohort.apis.inferenceservice.objects.services import render_leader_service, render_service
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.spec import ComponentType, DeploymentMode, InferenceService
from kohort.apis.inferenceservice.strategies.strategy import (
    WorkloadObjects,
    WorkloadReconcileRequest,
    check_mode,
)
from kohort.apis.inferenceservice.strategies.warnings import list_warnings
from kohort.cluster.kinds import BUDGET, DEPLOYMENT, SERVICE
from kohort.cluster.objects import Kind, Object

NAME = "SingleComponent"
_SUPPORTED = {
    ComponentType.ENGINE: (
        DeploymentMode.RAW,
        DeploymentMode.MULTI_NODE,
        DeploymentMode.RAY,
        DeploymentMode.SERVERLESS,
    ),
    ComponentType.DECODER: (DeploymentMode.RAW, DeploymentMode.MULTI_NODE),
    ComponentType.ROUTER: (DeploymentMode.RAW, DeploymentMode.SERVERLESS),
}

Made = Iterator[tuple[Kind, Object]]


class SingleComponentStrategy:
    """A separate workload for each component."""

    def get_strategy_name(self) -> str:
        """The name of this strategy."""
        return NAME

    def is_applicable(self, isvc: InferenceService, annotations: Mapping[str, str]) -> bool:
        """Whether the service does not ask for one workload of all components."""
        return annotations.get(labels.DEPLOYMENT_MODE) != DeploymentMode.ROLE_BASED_GROUP

    def validate_deployment_modes(self, modes: ComponentDeploymentModes) -> None:
        """Raises ServiceError for a mode that a component cannot have."""
        check_mode(NAME, ComponentType.ENGINE, modes.engine, _SUPPORTED[ComponentType.ENGINE])
        for component, mode in modes.items():
            check_mode(NAME, component, mode, _SUPPORTED[component])

    def reconcile_workload(self, request: WorkloadReconcileRequest) -> WorkloadObjects:
        """The workloads of all components, engine first."""
        configs = request.extract_configs()
        objects = [made for config in configs.values() for made in _render(config, request)]
        return WorkloadObjects(NAME, tuple(objects), configs, list_warnings(configs, request))


def _render(config: ComponentConfig, request: WorkloadReconcileRequest) -> Made:
    if config.component_type is ComponentType.ROUTER:
        yield from render_access(config, request.inference_service).items()
    match config.deployment_mode:
        case DeploymentMode.MULTI_NODE:
            yield from _render_multi_node(config, request)
        case DeploymentMode.RAY:
            yield from _render_ray(config, request)
        case DeploymentMode.SERVERLESS:
            request.require(kinds.KNATIVE_SERVICE)
            made = render_knative_service(config, request.inference_service)
            yield kinds.KNATIVE_SERVICE, made
        case _:
            yield from _render_raw(config, request)


def _render_raw(config: ComponentConfig, request: WorkloadReconcileRequest) -> Made:
    service, marks = request.inference_service, raw_labels(config)
    is_made = request.find_existing(DEPLOYMENT, config.name) is not None
    yield DEPLOYMENT, render_deployment(config, service, is_made)
    yield SERVICE, render_service(config, service)
    target = (DEPLOYMENT, config.name)
    yield from _served(render_autoscalers(config, service, marks, target), request)
    yield BUDGET, render_budget(config, service, marks)


def _render_multi_node(config: ComponentConfig, request: WorkloadReconcileRequest) -> Made:
    """Make autoscaler and budget only if the user asks: one group may take many machines."""
    request.require(kinds.LEADER_WORKER_SET)
    service = request.inference_service
    name = names.leader_worker_set_name(config.name)
    found = request.find_existing(kinds.LEADER_WORKER_SET, name)
    made = render_leader_worker_set(config, service, found is not None)
    raised = raise_replicas(config, found) if found is not None else None
    if raised is not None and labels.AUTOSCALER_CLASS not in config.annotations:
        made["spec"]["replicas"] = raised
    yield kinds.LEADER_WORKER_SET, made
    yield SERVICE, render_leader_service(config, service)
    if config.annotations.get(labels.AUTOSCALER_CLASS, EXTERNAL) != EXTERNAL:
        target = (kinds.LEADER_WORKER_SET, name)
        yield from _served(render_autoscalers(config, service, config.labels, target), request)
    if is_wanted(config):
        yield BUDGET, render_budget(config, service, config.labels)
    if needs_sidecar(config):
        sidecar = {kinds.ISTIO_SIDECAR: render_sidecar(config, service)}
        yield from _served(sidecar, request)


def _render_ray(config: ComponentConfig, request: WorkloadReconcileRequest) -> Made:
    request.require(kinds.RAY_CLUSTER)
    service, prober = request.inference_service, request.configuration.prober
    for index in range(ray.count_clusters(config)):
        yield kinds.RAY_CLUSTER, ray.render_cluster(config, service, index)
        yield DEPLOYMENT, ray.render_prober(config, service, prober, index)
    yield SERVICE, ray.render_head_service(config, service)


def _served(made: Mapping[Kind, Object], request: WorkloadReconcileRequest) -> Made:
    """Only objects of kinds that the cluster serves; a warning tells the user of the others."""
    for kind, obj in made.items():
        if kind not in request.unserved:
            yield kind, obj
