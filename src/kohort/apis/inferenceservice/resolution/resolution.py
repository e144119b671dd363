"""
Resolution of a service: look up its references once, and derive everything else from them.

If the user names a kind, we use it; without one, an object of the namespace wins over a
cluster-scoped one. The API server sets the default kind, so if no object of the default kind
exists, we use the other kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.apis.inferenceservice import reasons
from kohort.apis.inferenceservice.models import BaseModel, FineTunedWeight
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.resolution.accelerators import (
    SelectedAccelerator,
    select_accelerator,
)
from kohort.apis.inferenceservice.resolution.merge import merge_component
from kohort.apis.inferenceservice.resolution.modes import (
    ComponentDeploymentModes,
    resolve_modes,
)
from kohort.apis.inferenceservice.resolution.selection import (
    Selection,
    check_model,
    choose_format,
    name_runtime,
    select_runtime,
)
from kohort.apis.inferenceservice.runtimes import (
    AcceleratorClass,
    ServingRuntime,
    SupportedFormat,
)
from kohort.apis.inferenceservice.spec import (
    ComponentSpec,
    ComponentType,
    InferenceService,
    read_component,
)
from kohort.cluster.objects import Object

# The defaults that upstream's admission writes.
_MAX_REPLICAS = {ComponentType.ENGINE: 3, ComponentType.DECODER: 3, ComponentType.ROUTER: 2}
_WITH_ACCELERATORS = (ComponentType.ENGINE, ComponentType.DECODER)


@dataclass(frozen=True, slots=True)
class ReferencedObjects:
    """All existing objects that services may reference."""

    models: tuple[BaseModel, ...] = ()
    runtimes: tuple[ServingRuntime, ...] = ()
    weights: tuple[FineTunedWeight, ...] = ()
    accelerators: Mapping[str, AcceleratorClass] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The result of resolution: model, runtime, components and modes of a service."""

    service: InferenceService
    model: BaseModel | None
    selection: Selection | None  # None: the service has containers of its own
    components: Mapping[ComponentType, ComponentSpec]
    modes: ComponentDeploymentModes
    weight: FineTunedWeight | None = None
    accelerators: Mapping[ComponentType, SelectedAccelerator] = field(default_factory=dict)
    formats: Mapping[ComponentType, SupportedFormat] = field(default_factory=dict)

    @property
    def runtime(self) -> ServingRuntime | None:
        """The runtime that serves the model."""
        return None if self.selection is None else self.selection.chosen


def resolve(
    service: InferenceService, known: ReferencedObjects, is_lenient: bool = False
) -> Resolution:
    """Resolve a service; raises ServiceError with the reason if that is impossible."""
    model = find_model(service, known)
    weight = _find_weight(service, known)
    selection = _find_runtime(service, model, known, is_lenient)
    runtime = None if selection is None else selection.chosen
    components = _merge_components(service, runtime)
    modes = resolve_modes(components)
    accelerators: dict[ComponentType, SelectedAccelerator] = {}
    formats: dict[ComponentType, SupportedFormat] = {}
    for component in _WITH_ACCELERATORS:
        if component not in components or runtime is None:
            continue
        found = select_accelerator(service, components[component], runtime, known.accelerators)
        if found is not None:
            accelerators[component] = found
        best = choose_format(selection, model) if selection and model else None
        if best is not None:
            formats[component] = best
    return Resolution(
        service=service,
        model=model,
        selection=selection,
        components=components,
        modes=modes,
        weight=weight,
        accelerators=accelerators,
        formats=formats,
    )


def find_model(service: InferenceService, known: ReferencedObjects) -> BaseModel | None:
    """The model that a service names; raises ServiceError if it is missing or disabled."""
    if service.model is None or not service.model.name:
        if has_full_runner(service):
            return None
        raise ServiceError(
            reasons.MODEL,
            "the service names no model: write spec.model.name",
            reasons.MODEL_NOT_FOUND,
        )
    name = service.model.name
    if service.model.kind == "FineTunedWeight":
        name = _find_base_of(name, known)
    found = [each for each in known.models if each.name == name]
    visible = [each for each in found if each.namespace in ("", service.namespace)]
    # ClusterBaseModel is also the default kind, so without such an object we take a BaseModel
    # of the namespace.
    if service.model.kind == "BaseModel":
        visible = [each for each in visible if each.namespace]
    model = next(iter(sorted(visible, key=lambda each: not each.namespace)), None)
    if service.model.kind == "ClusterBaseModel":
        model = next((each for each in visible if not each.namespace), model)
    if model is None:
        raise ServiceError(
            reasons.MODEL,
            f"there is no BaseModel {name} in namespace {service.namespace}, and no "
            "ClusterBaseModel of that name: create one, or name another",
            reasons.MODEL_NOT_FOUND,
        )
    if model.is_disabled:
        raise ServiceError(
            reasons.MODEL, f"{model.kind} {name} is disabled", reasons.MODEL_NOT_READY
        )
    return model


def _find_base_of(weight: str, known: ReferencedObjects) -> str:
    found = next((each for each in known.weights if each.name == weight), None)
    if found is None:
        raise _no_weight(weight)
    return found.base_model


def _no_weight(name: str) -> ServiceError:
    return ServiceError(
        reasons.MODEL,
        f"there is no FineTunedWeight {name}: create it, or name another",
        reasons.MODEL_NOT_FOUND,
    )


def _find_weight(service: InferenceService, known: ReferencedObjects) -> FineTunedWeight | None:
    wanted = () if service.model is None else service.model.fine_tuned_weights
    if not wanted:
        return None
    if len(wanted) > 1:
        raise ServiceError(
            reasons.MODEL, f"one fine-tuned weight can be served, not {len(wanted)}: name one"
        )
    found = next((each for each in known.weights if each.name == wanted[0]), None)
    if found is None:
        raise _no_weight(wanted[0])
    if found.is_disabled:
        raise ServiceError(
            reasons.MODEL, f"FineTunedWeight {found.name} is disabled", reasons.MODEL_NOT_READY
        )
    return found


def has_full_runner(service: InferenceService) -> bool:
    """Whether the engine has containers with images of its own, so that it needs no runtime."""
    engine = service.find(ComponentType.ENGINE)
    if engine is None:
        return False
    if (engine.runner or {}).get("image"):
        return True
    parts = (engine.leader, engine.worker)
    return all(part is not None and (part.runner or {}).get("image") for part in parts)


def _find_runtime(
    service: InferenceService,
    model: BaseModel | None,
    known: ReferencedObjects,
    is_lenient: bool,
) -> Selection | None:
    if model is None:
        return None
    if service.runtime is not None and service.runtime.name:
        check_model(model)
        return name_runtime(service.runtime.name, known.runtimes, model, service)
    try:
        check_model(model)
        return select_runtime(known.runtimes, model, service, is_lenient)
    except ServiceError:
        # A runner with an image may override a runtime's, but works without a runtime, too.
        if has_full_runner(service):
            return None
        raise


def _merge_components(
    service: InferenceService, runtime: ServingRuntime | None
) -> dict[ComponentType, ComponentSpec]:
    merged: dict[ComponentType, ComponentSpec] = {}
    for component, own in service.components.items():
        base = None if runtime is None else runtime.components.get(component)
        try:
            raw = merge_component(None if base is None else base.raw, own.raw)
        except ServiceError as error:
            raise ServiceError(error.reason, f"component {component}: {error}") from error
        override = own.raw.get("acceleratorOverride")
        if override is not None:
            raw["acceleratorOverride"] = override
        merged[component] = read_component(_fill_replicas(component, raw))
    return merged


def _fill_replicas(component: ComponentType, raw: Object) -> Object:
    """Set default replicas if neither service nor runtime sets them; ``minReplicas: 0`` stays."""
    if raw.get("minReplicas") is None:
        raw["minReplicas"] = 1
    if not raw.get("maxReplicas"):
        raw["maxReplicas"] = _MAX_REPLICAS[component]
    return raw
