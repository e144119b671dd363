"""
An InferenceService as a value: typed fields, and raw pod specs and containers.

Pod specs and containers stay as the user wrote them, since they are copied whole. All other fields
are typed. A component of a service and a runtime's configuration of it have the same type, since we
merge one over the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.fields import (
    find_number,
    find_object,
    find_text,
    read_flag,
    read_map,
    read_object,
    read_text,
    read_texts,
    without,
)
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)


class ComponentType(StrEnum):
    """The components that a service may have."""

    ENGINE = "engine"
    DECODER = "decoder"
    ROUTER = "router"


class DeploymentMode(StrEnum):
    """How a component, or a whole service, is deployed."""

    RAW = "RawDeployment"
    SERVERLESS = "Serverless"
    MULTI_NODE = "MultiNode"
    RAY = "MultiNodeRayVLLM"
    VIRTUAL = "VirtualDeployment"
    ROLE_BASED_GROUP = "RoleBasedGroup"  # for a whole service only


@dataclass(frozen=True, slots=True)
class KedaConfig:
    """The Prometheus query and threshold by which KEDA scales."""

    server: str = ""
    query: str = ""
    threshold: str = ""
    operator: str = ""
    authentication: Object | None = None
    auth_modes: str = ""
    is_declined: bool = False  # the user wrote ``enableKeda: false``


@dataclass(frozen=True, slots=True)
class ComponentExtensionSpec:
    """Replicas, autoscaling, budgets and rollout of a component."""

    min_replicas: int | None = None
    max_replicas: int = 0
    scale_target: int | None = None
    scale_metric: str = ""
    container_concurrency: int | None = None
    timeout_seconds: int | None = None
    canary_percent: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    deployment_strategy: Object | None = None
    keda: KedaConfig | None = None


EXTENSION_FIELDS = (
    "minReplicas",
    "maxReplicas",
    "scaleTarget",
    "scaleMetric",
    "containerConcurrency",
    "timeoutSeconds",
    "canaryTrafficPercent",
    "labels",
    "annotations",
    "minAvailable",
    "maxUnavailable",
    "deploymentStrategy",
    "kedaConfig",
)
_OWN_FIELDS = ("runner", "leader", "worker", "config", "acceleratorOverride")


@dataclass(frozen=True, slots=True)
class AcceleratorConstraints:
    """The user's requirements for an accelerator."""

    min_memory: int | None = None  # GiB
    max_memory: int | None = None
    min_tflops: int | None = None
    min_architecture: str = ""
    required_features: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AcceleratorSelector:
    """The user's choice of an accelerator: by name, or by a policy."""

    name: str = ""
    policy: str = ""
    constraints: AcceleratorConstraints = AcceleratorConstraints()


@dataclass(frozen=True, slots=True)
class PodPart:
    """One kind of pod of a component: the only one, the leader, or a worker."""

    pod: Object
    runner: Object | None = None
    size: int | None = None  # workers of an instance


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """One component of a service, or a runtime's configuration of one."""

    pod: Object
    runner: Object | None = None
    leader: PodPart | None = None
    worker: PodPart | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    extension: ComponentExtensionSpec = ComponentExtensionSpec()
    accelerator: AcceleratorSelector | None = None
    raw: Object = field(default_factory=dict, compare=False)

    @property
    def is_multi_node(self) -> bool:
        """Whether an instance has several pods."""
        return self.leader is not None or self.worker is not None


@dataclass(frozen=True, slots=True)
class ModelRef:
    """The model that a service names."""

    name: str
    kind: str = ""  # empty: the user wrote none
    fine_tuned_weights: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuntimeRef:
    """The runtime that a service names."""

    name: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class InferenceService:
    """A served model, as its user wrote it."""

    name: str
    namespace: str
    obj: Object = field(compare=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)  # that we may copy to objects
    model: ModelRef | None = None
    runtime: RuntimeRef | None = None
    components: Mapping[ComponentType, ComponentSpec] = field(default_factory=dict)
    keda: KedaConfig | None = None
    accelerator: AcceleratorSelector | None = None

    @property
    def uid(self) -> str:
        """The service's uid."""
        return uid_of(self.obj)

    @property
    def generation(self) -> int:
        """The service's ``metadata.generation``."""
        return int(metadata_of(self.obj).get("generation") or 0)

    def find(self, component: ComponentType) -> ComponentSpec | None:
        """A component as the user wrote it."""
        return self.components.get(component)


def read_service(obj: Object) -> InferenceService:
    """Read an InferenceService object."""
    spec = read_object(obj, "spec")
    found = {each: find_object(spec, each.value) for each in ComponentType}
    return InferenceService(
        name=name_of(obj),
        namespace=namespace_of(obj),
        obj=obj,
        labels=labels_of(obj),
        annotations=_read_annotations(obj),
        model=_read_model(find_object(spec, "model")),
        runtime=_read_runtime(find_object(spec, "runtime")),
        components={each: read_component(raw) for each, raw in found.items() if raw is not None},
        keda=_read_keda(find_object(spec, "kedaConfig")),
        accelerator=_read_accelerator(find_object(spec, "acceleratorSelector")),
    )


def _read_annotations(obj: Object) -> dict[str, str]:
    return {
        key: value for key, value in annotations_of(obj).items() if key not in labels.NOT_PROPAGATED
    }


def _read_model(raw: Object | None) -> ModelRef | None:
    if raw is None:
        return None
    weights = read_texts(raw, "fineTunedWeights")
    return ModelRef(read_text(raw, "name"), read_text(raw, "kind"), weights)


def _read_runtime(raw: Object | None) -> RuntimeRef | None:
    return None if raw is None else RuntimeRef(read_text(raw, "name"), read_text(raw, "kind"))


def read_component(raw: Object) -> ComponentSpec:
    """Read a component, from the inline form that services and runtimes share."""
    config = {str(key): str(value) for key, value in read_object(raw, "config").items()}
    return ComponentSpec(
        pod=without(raw, *EXTENSION_FIELDS, *_OWN_FIELDS),
        runner=find_object(raw, "runner"),
        leader=_read_part(find_object(raw, "leader")),
        worker=_read_part(find_object(raw, "worker")),
        config=config,
        extension=read_extension(raw),
        accelerator=_read_accelerator(find_object(raw, "acceleratorOverride")),
        raw=raw,
    )


def _read_part(raw: Object | None) -> PodPart | None:
    if raw is None:
        return None
    size = find_number(raw, "size")
    return PodPart(without(raw, "runner", "size"), find_object(raw, "runner"), size)


def read_extension(raw: Object) -> ComponentExtensionSpec:
    """Read the replicas, autoscaling, budgets and rollout of a component."""
    return ComponentExtensionSpec(
        min_replicas=find_number(raw, "minReplicas"),
        max_replicas=find_number(raw, "maxReplicas") or 0,
        scale_target=find_number(raw, "scaleTarget"),
        scale_metric=read_text(raw, "scaleMetric"),
        container_concurrency=find_number(raw, "containerConcurrency"),
        timeout_seconds=find_number(raw, "timeoutSeconds"),
        canary_percent=find_number(raw, "canaryTrafficPercent"),
        labels=read_map(raw, "labels"),
        annotations=read_map(raw, "annotations"),
        min_available=_find_amount(raw, "minAvailable"),
        max_unavailable=_find_amount(raw, "maxUnavailable"),
        deployment_strategy=find_object(raw, "deploymentStrategy"),
        keda=_read_keda(find_object(raw, "kedaConfig")),
    )


def _find_amount(raw: Object, name: str) -> int | str | None:
    found: Any = raw.get(name)
    is_amount = isinstance(found, int | str) and not isinstance(found, bool)
    return found if is_amount else None


def _read_keda(raw: Object | None) -> KedaConfig | None:
    if raw is None:
        return None
    return KedaConfig(
        server=read_text(raw, "promServerAddress"),
        query=read_text(raw, "customPromQuery"),
        threshold=read_text(raw, "scalingThreshold"),
        operator=read_text(raw, "scalingOperator"),
        authentication=find_object(raw, "authenticationRef"),
        auth_modes=read_text(raw, "authModes"),
        is_declined=raw.get("enableKeda") is False,
    )


def _read_accelerator(raw: Object | None) -> AcceleratorSelector | None:
    if raw is None:
        return None
    limits = read_object(raw, "constraints")
    return AcceleratorSelector(
        name=read_text(raw, "acceleratorClass"),
        policy=read_text(raw, "policy"),
        constraints=AcceleratorConstraints(
            min_memory=find_number(limits, "minMemory"),
            max_memory=find_number(limits, "maxMemory"),
            min_tflops=find_number(limits, "minComputePerformanceTFLOPS"),
            min_architecture=find_text(limits, "minArchitectureVersion") or "",
            required_features=read_texts(limits, "requiredFeatures"),
            excluded=read_texts(limits, "excludedClasses"),
            families=read_texts(limits, "architectureFamilies"),
            precisions=read_texts(limits, "preferredPrecisions"),
        ),
    )


def is_disabled(spec: Object) -> bool:
    """Whether a model or a runtime is switched off."""
    return read_flag(spec, "disabled")
