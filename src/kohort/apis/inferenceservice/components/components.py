"""
Engine, decoder and router, and the interface through which strategies read them.

``ComponentConfigExtractor`` is a public contract: five methods without side effects. A strategy of
another package needs nothing else.
"""

from dataclasses import dataclass
from typing import Protocol

from kohort.apis.inferenceservice import names
from kohort.apis.inferenceservice.components.context import ComponentContext
from kohort.apis.inferenceservice.components.metadata import write_metadata
from kohort.apis.inferenceservice.components.pods import write_router_pod, write_serving_pod
from kohort.apis.inferenceservice.fields import read_text
from kohort.apis.inferenceservice.spec import (
    ComponentExtensionSpec,
    ComponentType,
    DeploymentMode,
    InferenceService,
    PodPart,
)
from kohort.cluster.objects import Object

_MULTI_NODE = (DeploymentMode.MULTI_NODE, DeploymentMode.RAY)


class ComponentConfigExtractor(Protocol):
    """The interface of a component for strategies; no method has side effects."""

    def get_pod_spec(self, isvc: InferenceService) -> Object:
        """The main pod of an instance: its only pod, or its leader."""

    def get_worker_pod_spec(self, isvc: InferenceService) -> Object | None:
        """A worker of a multi-node instance; None if there are none."""

    def get_object_meta(self, isvc: InferenceService) -> Object:
        """Name, namespace, labels and annotations of the component's objects."""

    def get_component_extension(self) -> ComponentExtensionSpec:
        """Counts, autoscaling and budgets."""

    def get_worker_size(self) -> int:
        """The number of workers in an instance; 0 if there are none."""


@dataclass(frozen=True, slots=True)
class ComponentConfig:
    """The inputs for the workload of one component."""

    component_type: ComponentType
    deployment_mode: DeploymentMode
    pod_spec: Object
    component_extension: ComponentExtensionSpec
    object_meta: Object
    leader_pod_spec: Object | None = None  # equals the pod spec, in multi-node modes
    worker_pod_spec: Object | None = None
    worker_size: int = 0
    main_container: str = names.MAIN_CONTAINER  # the container whose ports the Service gets

    @property
    def name(self) -> str:
        """The component's name."""
        return str(self.object_meta["name"])

    @property
    def namespace(self) -> str:
        """The service's namespace."""
        return str(self.object_meta["namespace"])

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the component's objects."""
        found: dict[str, str] = self.object_meta["labels"]
        return found

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the component's objects."""
        found: dict[str, str] = self.object_meta["annotations"]
        return found

    @property
    def is_multi_node(self) -> bool:
        """Whether an instance has a leader and workers."""
        return self.deployment_mode in _MULTI_NODE


@dataclass(frozen=True, slots=True)
class ServingComponent:
    """An engine or a decoder."""

    context: ComponentContext
    mode: DeploymentMode

    def get_pod_spec(self, isvc: InferenceService) -> Object:
        """The main pod, or the leader."""
        return write_serving_pod(self._main(), self.context)

    def get_worker_pod_spec(self, isvc: InferenceService) -> Object | None:
        """A worker of a multi-node instance."""
        worker = self.context.spec.worker
        if self.mode not in _MULTI_NODE or worker is None:
            return None
        return write_serving_pod(worker, self.context)

    def get_object_meta(self, isvc: InferenceService) -> Object:
        """Name, namespace, labels and annotations."""
        return write_metadata(self.context)

    def get_component_extension(self) -> ComponentExtensionSpec:
        """Counts, autoscaling and budgets."""
        return self.context.spec.extension

    def get_worker_size(self) -> int:
        """Workers of an instance."""
        worker = self.context.spec.worker
        return 0 if worker is None or self.mode not in _MULTI_NODE else worker.size or 0

    def get_main_container(self) -> str:
        """The container that serves."""
        return _main_container(self._main())

    def _main(self) -> PodPart:
        spec = self.context.spec
        if self.mode in _MULTI_NODE and spec.leader is not None:
            return spec.leader
        return PodPart(spec.pod, spec.runner)


class EngineComponent(ServingComponent):
    """The engine, which every service has."""

    __slots__ = ()


class DecoderComponent(ServingComponent):
    """The decoder, if prefill and decode run in separate pods; the engine then does prefill."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RouterComponent:
    """The router, which sends requests to engine and decoder."""

    context: ComponentContext
    mode: DeploymentMode

    def get_pod_spec(self, isvc: InferenceService) -> Object:
        """The router's pod, with the service account that may read pods."""
        return write_router_pod(self._main(), self.context, self.get_account(isvc))

    def get_worker_pod_spec(self, isvc: InferenceService) -> Object | None:
        """A router has no workers."""
        return None

    def get_object_meta(self, isvc: InferenceService) -> Object:
        """Name, namespace, labels and annotations."""
        return write_metadata(self.context)

    def get_component_extension(self) -> ComponentExtensionSpec:
        """Counts, autoscaling and budgets."""
        return self.context.spec.extension

    def get_worker_size(self) -> int:
        """A router has no workers."""
        return 0

    def get_main_container(self) -> str:
        """The container that serves."""
        return _main_container(self._main())

    def get_account(self, isvc: InferenceService) -> str:
        """The service account of the router's pods: the user's, or the one that we create.

        We ignore an account that a runtime names, as upstream does: it may not exist.
        """
        own = self.context.own
        pod = {} if own is None else own.pod
        named = read_text(pod, "serviceAccountName") or read_text(pod, "serviceAccount")
        return named or names.component_name(isvc.name, ComponentType.ROUTER)

    def _main(self) -> PodPart:
        return PodPart(self.context.spec.pod, self.context.spec.runner)


Component = EngineComponent | DecoderComponent | RouterComponent


def _main_container(part: PodPart) -> str:
    if part.runner is not None:
        return read_text(part.runner, "name") or names.MAIN_CONTAINER
    containers = part.pod.get("containers") or [{}]
    return read_text(containers[0], "name") or names.MAIN_CONTAINER


def extract_config(
    component: ComponentConfigExtractor,
    component_type: ComponentType,
    mode: DeploymentMode,
    isvc: InferenceService,
) -> ComponentConfig:
    """All values of a component, collected for the strategy that makes its workload."""
    pod = component.get_pod_spec(isvc)
    find_main = getattr(component, "get_main_container", lambda: names.MAIN_CONTAINER)
    return ComponentConfig(
        component_type=component_type,
        deployment_mode=mode,
        pod_spec=pod,
        component_extension=component.get_component_extension(),
        object_meta=component.get_object_meta(isvc),
        leader_pod_spec=pod if mode in _MULTI_NODE else None,
        worker_pod_spec=component.get_worker_pod_spec(isvc),
        worker_size=component.get_worker_size(),
        main_container=find_main(),
    )
