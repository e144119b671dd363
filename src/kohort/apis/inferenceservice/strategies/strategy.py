"""
The interface of a strategy, and its inputs.

Names of methods are a public contract. ``reconcile_workload`` returns the objects that should exist
instead of writing them, so a strategy needs no client, and its tests need no cluster.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from kohort.apis.carriers.desired import DesiredObjects
from kohort.apis.inferenceservice import kinds, labels, reasons
from kohort.apis.inferenceservice.components.components import (
    Component,
    ComponentConfig,
    DecoderComponent,
    EngineComponent,
    RouterComponent,
    extract_config,
)
from kohort.apis.inferenceservice.components.context import ComponentContext
from kohort.apis.inferenceservice.configuration import Configuration
from kohort.apis.inferenceservice.models import BaseModel, FineTunedWeight
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.accelerators import SelectedAccelerator
from kohort.apis.inferenceservice.resolution.modes import ComponentDeploymentModes
from kohort.apis.inferenceservice.resolution.resolution import Resolution
from kohort.apis.inferenceservice.runtimes import ServingRuntime, SupportedFormat
from kohort.apis.inferenceservice.spec import (
    ComponentSpec,
    ComponentType,
    DeploymentMode,
    InferenceService,
)
from kohort.cluster.kinds import BUDGET, SERVICE
from kohort.cluster.objects import Kind, Object, labels_of, name_of

Existing = Mapping[Kind, Mapping[str, Object]]
BUILT_IN = ("RBG", "SingleComponent")


@dataclass(frozen=True, slots=True)
class ComponentBuilderFactory:
    """Makes the components of a service from its resolution."""

    model: BaseModel | None = None
    runtime: ServingRuntime | None = None
    weight: FineTunedWeight | None = None
    accelerators: Mapping[ComponentType, SelectedAccelerator] = field(default_factory=dict)
    formats: Mapping[ComponentType, SupportedFormat] = field(default_factory=dict)

    def create_engine_component(
        self, isvc: InferenceService, spec: ComponentSpec, mode: DeploymentMode
    ) -> EngineComponent:
        """The engine."""
        return EngineComponent(self._context(isvc, ComponentType.ENGINE, spec), mode)

    def create_decoder_component(
        self, isvc: InferenceService, spec: ComponentSpec, mode: DeploymentMode
    ) -> DecoderComponent:
        """The decoder."""
        return DecoderComponent(self._context(isvc, ComponentType.DECODER, spec), mode)

    def create_router_component(
        self, isvc: InferenceService, spec: ComponentSpec, mode: DeploymentMode
    ) -> RouterComponent:
        """The router, which gets no fine-tuned weights."""
        context = self._context(isvc, ComponentType.ROUTER, spec)
        return RouterComponent(context, mode)

    def create(
        self,
        component: ComponentType,
        isvc: InferenceService,
        spec: ComponentSpec,
        mode: DeploymentMode,
    ) -> Component:
        """A component by its type."""
        match component:
            case ComponentType.ENGINE:
                return self.create_engine_component(isvc, spec, mode)
            case ComponentType.DECODER:
                return self.create_decoder_component(isvc, spec, mode)
        return self.create_router_component(isvc, spec, mode)

    def _context(
        self, isvc: InferenceService, component: ComponentType, spec: ComponentSpec
    ) -> ComponentContext:
        return ComponentContext(
            service=isvc,
            component=component,
            spec=spec,
            model=self.model,
            runtime=self.runtime,
            weight=None if component is ComponentType.ROUTER else self.weight,
            selected=self.accelerators.get(component),
            format=self.formats.get(component),
        )


@dataclass(frozen=True, slots=True)
class WorkloadReconcileRequest:
    """The inputs of a strategy for one service."""

    inference_service: InferenceService
    base_model: BaseModel | None
    runtime: ServingRuntime | None
    runtime_name: str
    user_specified_runtime: bool
    merged_engine: ComponentSpec | None
    merged_decoder: ComponentSpec | None
    merged_router: ComponentSpec | None
    deployment_modes: ComponentDeploymentModes
    component_builder_factory: ComponentBuilderFactory
    configuration: Configuration = field(default_factory=Configuration)
    existing: Existing = field(default_factory=dict)  # the service's objects, by kind and name
    unserved: frozenset[Kind] = frozenset()  # kinds that the cluster does not serve

    @property
    def base_model_meta(self) -> Object:
        """The metadata of the model."""
        model = self.base_model
        if model is None:
            return {}
        return {"name": model.name, "namespace": model.namespace, "annotations": model.annotations}

    def find_existing(self, kind: Kind, name: str) -> Object | None:
        """An existing object of the service."""
        return (self.existing.get(kind) or {}).get(name)

    def components(self) -> Iterator[tuple[ComponentType, Component]]:
        """The components that the service has, in the order engine, decoder, router."""
        merged = (self.merged_engine, self.merged_decoder, self.merged_router)
        for component, spec in zip(ComponentType, merged, strict=True):
            mode = self.deployment_modes.find(component)
            if spec is not None and mode is not None:
                factory = self.component_builder_factory
                yield component, factory.create(component, self.inference_service, spec, mode)

    def extract_configs(self) -> dict[ComponentType, ComponentConfig]:
        """The config of each component, read through its interface."""
        found: dict[ComponentType, ComponentConfig] = {}
        for component_type, component in self.components():
            mode = self.deployment_modes.find(component_type)
            assert mode is not None
            found[component_type] = extract_config(
                component, component_type, mode, self.inference_service
            )
        return found

    def require(self, kind: Kind) -> None:
        """Raises ServiceError if the cluster does not serve a kind that the workload needs."""
        if kind in self.unserved:
            raise ServiceError(
                reasons.WORKLOAD,
                f"the cluster does not serve {kind.name} ({kind.api_version}): "
                f"{kinds.OPTIONAL.get(kind, 'install it')}",
            )


def make_request(
    resolution: Resolution,
    configuration: Configuration,
    existing: Existing | None = None,
    unserved: frozenset[Kind] = frozenset(),
) -> WorkloadReconcileRequest:
    """The inputs of a strategy, from the resolution of a service."""
    runtime, selection = resolution.runtime, resolution.selection
    return WorkloadReconcileRequest(
        inference_service=resolution.service,
        base_model=resolution.model,
        runtime=runtime,
        runtime_name="" if runtime is None else runtime.name,
        user_specified_runtime=selection is not None and selection.is_named,
        merged_engine=resolution.components.get(ComponentType.ENGINE),
        merged_decoder=resolution.components.get(ComponentType.DECODER),
        merged_router=resolution.components.get(ComponentType.ROUTER),
        deployment_modes=resolution.modes,
        component_builder_factory=ComponentBuilderFactory(
            model=resolution.model,
            runtime=runtime,
            weight=resolution.weight,
            accelerators=resolution.accelerators,
            formats=resolution.formats,
        ),
        configuration=configuration,
        existing=existing or {},
        unserved=unserved,
    )


@dataclass(frozen=True, slots=True)
class WorkloadObjects:
    """The objects that a strategy wants for a service."""

    strategy: str
    objects: tuple[tuple[Kind, Object], ...]
    configs: Mapping[ComponentType, ComponentConfig]
    warnings: tuple[str, ...] = ()

    def find(self, kind: Kind, name: str) -> Object | None:
        """An object by kind and name."""
        found = (obj for each, obj in self.objects if each == kind and name_of(obj) == name)
        return next(found, None)

    def find_carrier(self, component: ComponentType) -> tuple[Kind, str] | None:
        """The workload of a component; None for our own strategies, where the mode implies it."""
        if self.strategy in BUILT_IN:
            return None
        for kind, obj in self.objects:
            if kind in kinds.WORKLOADS and labels_of(obj).get(labels.COMPONENT) == component:
                return kind, name_of(obj)
        return None


# A client that adds a key to a selector changes which pods it selects.
_ATOMIC = {kind: ("spec.selector",) for kind in (SERVICE, BUDGET)}


def group_objects(
    objects: Iterable[tuple[Kind, Object]], every: Iterable[Kind] = ()
) -> tuple[DesiredObjects, ...]:
    """Objects by kind; a kind without objects means that none of it should exist."""
    by_kind: dict[Kind, list[Object]] = {kind: [] for kind in every}
    for kind, obj in objects:
        by_kind.setdefault(kind, []).append(obj)
    return tuple(
        DesiredObjects(kind, tuple(found), FIELD_MANAGER, atomic=_ATOMIC.get(kind, ()))
        for kind, found in by_kind.items()
    )


@runtime_checkable
class WorkloadStrategy(Protocol):
    """How a service becomes workloads."""

    def get_strategy_name(self) -> str:
        """The strategy's name in logs, metrics and messages."""

    def is_applicable(self, isvc: InferenceService, annotations: Mapping[str, str]) -> bool:
        """Whether the strategy applies to this service."""

    def validate_deployment_modes(self, modes: ComponentDeploymentModes) -> None:
        """Raises ServiceError if the strategy cannot deploy the mode of a component."""

    def reconcile_workload(self, request: WorkloadReconcileRequest) -> WorkloadObjects:
        """The objects that should exist; raises ServiceError if it can make none."""


def check_mode(
    strategy: str,
    component: ComponentType,
    mode: DeploymentMode | None,
    supported: Iterable[DeploymentMode],
    hint: str = "",
) -> None:
    """Raises ServiceError if the mode of a component is not among the allowed ones."""
    allowed = list(supported)
    if mode in allowed:
        return
    shown = f"deployment mode {mode}" if mode else "no deployment mode"
    raise ServiceError(
        reasons.INVALID_MODE,
        f"strategy {strategy} cannot deploy component {component} with {shown}: it supports "
        f"{', '.join(allowed)}{hint}",
    )
