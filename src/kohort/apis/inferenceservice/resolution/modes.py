"""
The deployment modes of a service and of each component.

The service's annotation selects a strategy; the engine's annotation, pods and replicas decide how
the engine is deployed. ``RoleBasedGroup`` is a mode of a whole service: on a component it is
ignored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kohort.apis.inferenceservice import labels, reasons
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import (
    ComponentSpec,
    ComponentType,
    DeploymentMode,
    InferenceService,
)

PARTED = "PDDisaggregated"  # like upstream, the webhook writes this value and we ignore it


@dataclass(frozen=True, slots=True)
class ComponentDeploymentModes:
    """The mode of each component; None if the service has no such component."""

    engine: DeploymentMode | None = None
    decoder: DeploymentMode | None = None
    router: DeploymentMode | None = None

    def items(self) -> Iterator[tuple[ComponentType, DeploymentMode]]:
        """The components that exist, with their modes."""
        for component in ComponentType:
            mode = self.find(component)
            if mode is not None:
                yield component, mode

    def find(self, component: ComponentType) -> DeploymentMode | None:
        """The mode of a component."""
        found: DeploymentMode | None = getattr(self, component.value)
        return found

    @property
    def ingress(self) -> DeploymentMode | None:
        """The mode that decides the kind of ingress: router's, else decoder's, else engine's."""
        return self.router or self.decoder or self.engine


def find_mode(text: str | None) -> DeploymentMode | None:
    """The mode that an annotation names; None if it is missing or unknown."""
    return DeploymentMode(text) if text in set(DeploymentMode) else None


def service_mode(service: InferenceService, usual: DeploymentMode) -> DeploymentMode:
    """The mode of a whole service: its annotation, if valid, else the default."""
    return find_mode(service.annotations.get(labels.DEPLOYMENT_MODE)) or usual


def warn_mode(service: InferenceService) -> Iterator[str]:
    """A warning for an annotation that names no mode: upstream ignores such a value silently."""
    text = service.annotations.get(labels.DEPLOYMENT_MODE)
    if text and find_mode(text) is None and text != PARTED:
        *most, last = DeploymentMode
        yield (
            f"annotation {labels.DEPLOYMENT_MODE} {text} names no deployment mode, so the default "
            f"is used: write {', '.join(most)} or {last}"
        )


def resolve_modes(components: Mapping[ComponentType, ComponentSpec]) -> ComponentDeploymentModes:
    """The modes of merged components; raises ServiceError without an engine."""
    engine = components.get(ComponentType.ENGINE)
    if engine is None:
        raise ServiceError(
            reasons.MODE, "the service has no engine: write spec.engine, even an empty one"
        )
    decoder = components.get(ComponentType.DECODER)
    router = components.get(ComponentType.ROUTER)
    mode = _engine_mode(engine)
    if decoder is not None and mode is DeploymentMode.SERVERLESS:
        mode = DeploymentMode.RAW
    return ComponentDeploymentModes(
        engine=mode,
        decoder=None if decoder is None else _decoder_mode(decoder),
        router=None if router is None else _router_mode(router),
    )


def _engine_mode(engine: ComponentSpec) -> DeploymentMode:
    named = find_mode(engine.extension.annotations.get(labels.DEPLOYMENT_MODE))
    if named is not None and named is not DeploymentMode.ROLE_BASED_GROUP:
        return named
    if engine.is_multi_node:
        return DeploymentMode.MULTI_NODE
    return _router_mode(engine)


def _decoder_mode(decoder: ComponentSpec) -> DeploymentMode:
    return DeploymentMode.MULTI_NODE if decoder.is_multi_node else DeploymentMode.RAW


def _router_mode(router: ComponentSpec) -> DeploymentMode:
    is_zero = router.extension.min_replicas == 0
    return DeploymentMode.SERVERLESS if is_zero else DeploymentMode.RAW
