"""Serving runtimes and accelerators as values: what they support, and what they add to pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kohort.apis.inferenceservice.fields import (
    find_number,
    find_object,
    find_text,
    read_map,
    read_object,
    read_objects,
    read_text,
    read_texts,
)
from kohort.apis.inferenceservice.models import VersionedName, read_versioned
from kohort.apis.inferenceservice.spec import (
    ComponentSpec,
    ComponentType,
    is_disabled,
    read_component,
)
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.quantities import parse_quantity

_CONFIGS = {
    ComponentType.ENGINE: "engineConfig",
    ComponentType.DECODER: "decoderConfig",
    ComponentType.ROUTER: "routerConfig",
}


@dataclass(frozen=True, slots=True)
class AcceleratorConfig:
    """A format's changes to a container on one accelerator."""

    tensor_parallel: int = 0
    pipeline_parallel: int = 0
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SupportedFormat:
    """A format of models that a runtime serves."""

    name: str = ""
    format: VersionedName | None = None
    framework: VersionedName | None = None
    version: str | None = None
    architecture: str | None = None
    quantization: str | None = None
    pipeline: Object | None = None
    auto_select: bool | None = None
    priority: int | None = None
    accelerators: Mapping[str, AcceleratorConfig] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServingRuntime:
    """A ServingRuntime of a namespace, or a ClusterServingRuntime."""

    name: str
    namespace: str = ""  # empty: cluster-scoped
    formats: tuple[SupportedFormat, ...] = ()
    size_min: str = ""  # empty: no bound
    size_max: str = ""
    has_size: bool = False
    is_disabled: bool = False
    components: Mapping[ComponentType, ComponentSpec] = field(default_factory=dict)
    protocols: tuple[str, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    containers: tuple[Object, ...] = ()  # former field, read for their resources
    accelerators: tuple[str, ...] = ()
    workers: Object | None = None  # former field

    @property
    def kind(self) -> str:
        """The kind of its object."""
        return "ServingRuntime" if self.namespace else "ClusterServingRuntime"


@dataclass(frozen=True, slots=True)
class AcceleratorClass:
    """A kind of accelerator: how to find nodes with it, and its capabilities."""

    name: str
    vendor: str = ""
    family: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    affinity: Object | None = None
    memory_gib: int | None = None
    bandwidth: int = 0
    compute_capability: str = ""
    features: tuple[str, ...] = ()
    performance: Mapping[str, int] = field(default_factory=dict)  # by precision
    resources: Mapping[str, str] = field(default_factory=dict)
    per_hour: int | None = None  # in billionths; the spot price if there is one
    per_million_tokens: int | None = None
    tier: str = ""


def read_runtime(obj: Object) -> ServingRuntime:
    """Read a ServingRuntime or a ClusterServingRuntime."""
    spec = read_object(obj, "spec")
    size = find_object(spec, "modelSizeRange")
    parts = {each: find_object(spec, name) for each, name in _CONFIGS.items()}
    needs = read_object(spec, "acceleratorRequirements")
    return ServingRuntime(
        name=name_of(obj),
        namespace=namespace_of(obj) if obj.get("kind") == "ServingRuntime" else "",
        formats=tuple(map(_read_format, read_objects(spec, "supportedModelFormats"))),
        size_min=read_text(size or {}, "min"),
        size_max=read_text(size or {}, "max"),
        has_size=size is not None,
        is_disabled=is_disabled(spec),
        components={each: read_component(raw) for each, raw in parts.items() if raw is not None},
        protocols=read_texts(spec, "protocolVersions"),
        node_selector=read_map(spec, "nodeSelector"),
        containers=read_objects(spec, "containers"),
        accelerators=read_texts(needs, "acceleratorClasses"),
        workers=find_object(spec, "workers"),
    )


def _read_format(raw: Object) -> SupportedFormat:
    automatic = raw.get("autoSelect")
    configs = read_object(raw, "acceleratorConfig")
    return SupportedFormat(
        name=read_text(raw, "name"),
        format=read_versioned(find_object(raw, "modelFormat")),
        framework=read_versioned(find_object(raw, "modelFramework")),
        version=find_text(raw, "version"),
        architecture=find_text(raw, "modelArchitecture"),
        quantization=find_text(raw, "quantization"),
        pipeline=find_object(raw, "diffusionPipeline"),
        auto_select=automatic if isinstance(automatic, bool) else None,
        priority=find_number(raw, "priority"),
        accelerators={name: _read_config(read_object(configs, name)) for name in configs},
    )


def _read_config(raw: Object) -> AcceleratorConfig:
    parallel = read_object(raw, "tensorParallelismOverride")
    return AcceleratorConfig(
        tensor_parallel=find_number(parallel, "tensorParallelSize") or 0,
        pipeline_parallel=find_number(parallel, "pipelineParallelSize") or 0,
        args=read_texts(raw, "runtimeArgsOverride"),
        env=read_map(raw, "environmentOverride"),
    )


def read_accelerator(obj: Object) -> AcceleratorClass:
    """Read an AcceleratorClass."""
    spec = read_object(obj, "spec")
    discovery, able = read_object(spec, "discovery"), read_object(spec, "capabilities")
    cost, speed = read_object(spec, "cost"), read_object(able, "performance")
    memory = _find_amount(able, "memoryGB")
    hourly = [_find_amount(cost, name) for name in ("spotPerHour", "perHour")]
    resources = read_objects(spec, "resources")
    return AcceleratorClass(
        name=name_of(obj),
        vendor=read_text(spec, "vendor"),
        family=read_text(spec, "family"),
        node_selector=read_map(discovery, "nodeSelector"),
        affinity=find_object(discovery, "affinity"),
        memory_gib=None if memory is None else memory // 10**9 // 2**30,
        bandwidth=(_find_amount(able, "memoryBandwidthGBps") or 0) // 10**9,
        compute_capability=read_text(able, "computeCapability"),
        features=read_texts(able, "features"),
        performance={
            "fp32": find_number(speed, "fp32Tflops") or 0,
            "fp16": find_number(speed, "fp16Tflops") or 0,
            "int8": find_number(speed, "int8Tops") or 0,
            "int4": find_number(speed, "int4Tops") or 0,
        },
        resources={read_text(each, "name"): str(each.get("quantity") or "1") for each in resources},
        per_hour=next((price for price in hourly if price is not None), None),
        per_million_tokens=_find_amount(cost, "perMillionTokens"),
        tier=read_text(cost, "tier"),
    )


def _find_amount(raw: Object, name: str) -> int | None:
    """A quantity in billionths; None if it is absent or invalid."""
    found = raw.get(name)
    if found is None or isinstance(found, bool | dict | list):
        return None
    try:
        return parse_quantity(found)
    except ValueError:
        return None
