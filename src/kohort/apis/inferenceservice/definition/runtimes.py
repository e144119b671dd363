"""The schemas of runtimes, models, fine-tuned weights and accelerators."""

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from kohort.apis.definitions.fields import (
    EMBEDS,
    Condition,
    Int32,
    Int64,
    Model,
    Time,
    about,
)
from kohort.apis.gangs.definitions.fields import Quantity
from kohort.apis.inferenceservice.definition.components import (
    AFFINITY,
    ATOMIC,
    NODE_AFFINITY,
    Anything,
    Decoder,
    Engine,
    RouterPart,
    Texts,
)

_ATOMIC_MAP = Meta(extra_json_schema={"x-kubernetes-map-type": "atomic"})
Affinity = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: AFFINITY})]
NodeAffinity = Annotated[dict[str, Any], Meta(extra_json_schema={EMBEDS: NODE_AFFINITY})]
FORMER = "former"  # schema key that adds the former pod fields of a runtime
_FORMER = Meta(extra_json_schema={FORMER: True})


class VersionedName(Model):
    """A format or a framework."""

    name: Annotated[str, about("Its name.")]
    operator: Annotated[
        str, about("Equal, GreaterThan or GreaterThanOrEqual: how a runtime's version compares.")
    ] = "Equal"
    version: Annotated[str | None, about("Its version.")] = None
    weight: Annotated[Int64, about("How much it counts when a runtime is chosen.")] = 1


class PipelinePart(Model):
    """A part of a diffusion pipeline."""

    library: Annotated[str | None, about("The library.")] = None
    type: Annotated[str | None, about("The class.")] = None


class Pipeline(Model):
    """A diffusion pipeline."""

    additional_components: Annotated[
        dict[str, PipelinePart] | None, _ATOMIC_MAP, about("Further parts, by name.")
    ] = None
    class_name: Annotated[str | None, about("The class of the whole.")] = None
    scheduler: Annotated[PipelinePart | None, about("The scheduler.")] = None
    text_encoder: Annotated[PipelinePart | None, about("The encoder of texts.")] = None
    tokenizer: Annotated[PipelinePart | None, about("The tokenizer.")] = None
    transformer: Annotated[PipelinePart | None, about("The transformer.")] = None
    vae: Annotated[PipelinePart | None, about("The autoencoder.")] = None


class Parallelism(Model):
    """Over how many accelerators an engine is spread."""

    data_parallel_size: Annotated[Int64 | None, about("Not used.", ge=0)] = None
    pipeline_parallel_size: Annotated[Int64 | None, about("Stages.", ge=0)] = None
    tensor_parallel_size: Annotated[Int64 | None, about("Slices.", ge=0)] = None


class AcceleratorConfig(Model):
    """What a format changes on one accelerator."""

    environment_override: Annotated[dict[str, str] | None, about("Variables.")] = None
    min_memory_per_billion_params: Annotated[Int64 | None, about("Not used.", ge=0)] = None
    runtime_args_override: Annotated[Texts | None, about("Arguments, merged by flag.")] = None
    tensor_parallelism_override: Annotated[Parallelism | None, about("Parallelism.")] = None


class SupportedFormat(Model):
    """A format of models that a runtime serves."""

    model_format: Annotated[VersionedName, about("The format.")]
    model_framework: Annotated[VersionedName, about("The framework.")]
    accelerator_config: Annotated[dict[str, AcceleratorConfig] | None, about("By accelerator.")] = (
        None
    )
    auto_select: Annotated[bool | None, about("Whether it may be chosen by itself.")] = None
    diffusion_pipeline: Annotated[Pipeline | None, about("The pipeline.")] = None
    model_architecture: Annotated[str | None, about("The architecture.")] = None
    model_type: Annotated[str | None, about("Deprecated.")] = None
    name: Annotated[str | None, about("Its name.")] = None
    priority: Annotated[Int32 | None, about("The higher is chosen.", ge=1)] = None
    quantization: Annotated[str | None, about("The quantization.")] = None
    version: Annotated[str | None, about("Its version.")] = None


class SizeRange(Model):
    """Sizes of models; an end that is not said is open."""

    max: Annotated[str | None, about("Such as 70B.")] = None
    min: Annotated[str | None, about("Such as 7B.")] = None


class AcceleratorRequirements(Model):
    """What a runtime needs of accelerators."""

    accelerator_classes: Annotated[Texts | None, about("Accelerator classes that it supports.")] = (
        None
    )
    min_architecture_version: Annotated[str | None, about("Not used.")] = None
    min_compute_performance_tflops: Annotated[Int64 | None, about("Not used.", ge=0)] = field(
        default=None, name="minComputePerformanceTFLOPS"
    )
    min_memory: Annotated[Int64 | None, about("Not used.", ge=0)] = None
    preferred_precisions: Annotated[Texts | None, about("Not used.")] = None
    required_features: Annotated[Texts | None, about("Not used.")] = None


class Workers(Model):
    """Workers of the former form."""

    size: Annotated[int | None, about("How many.")] = None


class RuntimeSpec(Model):
    """How models are served."""

    accelerator_requirements: Annotated[
        AcceleratorRequirements | None, about("Accelerators that it supports.")
    ] = None
    decoder_config: Decoder = None
    disabled: Annotated[bool | None, about("Whether it is switched off.")] = None
    engine_config: Engine = None
    model_size_range: Annotated[SizeRange | None, about("Sizes of models.")] = None
    protocol_versions: Annotated[Texts | None, about("Protocols that it speaks.")] = None
    router_config: RouterPart = None
    supported_model_formats: Annotated[
        list[SupportedFormat] | None, ATOMIC, about("Formats that it serves.")
    ] = None
    workers: Annotated[Workers | None, _FORMER, about("Former form.")] = None


class RuntimeStatus(Model):
    """Nothing is reported."""


class StorageSpec(Model):
    """Where files lie."""

    storage_uri: Annotated[str, about("From where they are fetched.")]
    download_policy: Annotated[
        Literal["AlwaysDownload", "ReuseIfExists"] | None, about("Whether files are kept.")
    ] = None
    key: Annotated[str | None, about("A Secret.")] = None
    node_affinity: Annotated[NodeAffinity | None, about("Nodes that get the files.")] = None
    node_selector: Annotated[
        dict[str, str] | None, _ATOMIC_MAP, about("Nodes that get the files.")
    ] = None
    parameters: Annotated[dict[str, str] | None, about("Of the storage.")] = None
    path: Annotated[str | None, about("Where they lie on nodes.")] = None
    schema_path: Annotated[str | None, about("Of the schema.")] = None


class BaseModelSpec(Model):
    """A model. What is not said is filled in when its files were read."""

    storage: Annotated[StorageSpec, about("Where its files lie.")]
    additional_metadata: Annotated[dict[str, str] | None, about("Anything.")] = None
    api_capabilities: Annotated[Texts | None, about("The APIs that it answers.")] = None
    compartment_id: Annotated[str | None, about("Whose it is.")] = field(
        default=None, name="compartmentID"
    )
    diffusion_pipeline: Annotated[Pipeline | None, about("Its pipeline.")] = None
    disabled: Annotated[bool | None, about("Whether it is switched off.")] = None
    display_name: Annotated[str | None, about("For people.")] = None
    max_tokens: Annotated[Int32 | None, about("The longest context.")] = None
    model_architecture: Annotated[str | None, about("Its architecture.")] = None
    model_capabilities: Annotated[Texts | None, about("What it can do.")] = None
    model_configuration: Annotated[Anything | None, about("As its files say.")] = None
    model_format: Annotated[VersionedName | None, about("Its format.")] = None
    model_framework: Annotated[VersionedName | None, about("Its framework.")] = None
    model_parameter_size: Annotated[str | None, about("Such as 7B.")] = None
    model_type: Annotated[str | None, about("Such as llama.")] = None
    quantization: Annotated[str | None, about("Such as fp8.")] = None
    serving_mode: Annotated[Texts | None, about("How it is served.")] = None
    vendor: Annotated[str | None, about("Who made it.")] = None
    version: Annotated[str | None, about("Its version.")] = None


class ModelSpecStatus(Model):
    """How far a model is on the nodes."""

    state: Annotated[
        Literal["Creating", "Importing", "In_Transit", "In_Training", "Ready", "Failed"],
        about("Ready as soon as one node has it."),
    ]
    lifecycle: Annotated[str | None, about("For people.")] = None
    nodes_failed: Annotated[Texts | None, about("Nodes where it failed.")] = None
    nodes_ready: Annotated[Texts | None, about("Nodes that have it.")] = None


class ObjectRef(Model):
    """An object by name."""

    name: Annotated[str, about("Its name.")]
    namespace: Annotated[str | None, about("Its namespace.")] = None


class FineTunedWeightSpec(Model):
    """Weights that were tuned from a model."""

    base_model_ref: Annotated[ObjectRef, about("The model.")]
    hyper_parameters: Annotated[Anything, about("How they were tuned; strategy is read.")]
    model_type: Annotated[str, about("Such as LoRA.")]
    storage: Annotated[StorageSpec, about("Where the files lie.")]
    compartment_id: Annotated[str | None, about("Whose they are.")] = field(
        default=None, name="compartmentID"
    )
    configuration: Annotated[Anything | None, about("merged_weights is read.")] = None
    disabled: Annotated[bool | None, about("Whether they are switched off.")] = None
    display_name: Annotated[str | None, about("For people.")] = None
    training_job_ref: Annotated[ObjectRef | None, about("The training job that made them.")] = None
    vendor: Annotated[str | None, about("Who made them.")] = None
    version: Annotated[str | None, about("Their version.")] = None


class Latency(Model):
    """How fast it answers."""

    average_millis: Annotated[Int64 | None, about("On average.")] = None
    maximum_millis: Annotated[Int64 | None, about("At most.")] = None


class Performance(Model):
    """How fast it computes."""

    fp16_tflops: Annotated[Int64 | None, about("Half precision.")] = None
    fp32_tflops: Annotated[Int64 | None, about("Single precision.")] = None
    int4_tops: Annotated[Int64 | None, about("Four bits.")] = None
    int8_tops: Annotated[Int64 | None, about("Eight bits.")] = None
    latency: Annotated[Latency | None, about("How fast it answers.")] = None


class Capabilities(Model):
    """What an accelerator can do."""

    clock_speed: Annotated[Int32 | None, about("Megahertz.")] = field(
        default=None, name="clockSpeedMHz"
    )
    compute_capability: Annotated[str | None, about("Such as 9.0.")] = None
    features: Annotated[Texts | None, about("Such as fp8.")] = None
    level_zero_version: Annotated[str | None, about("Of Intel's.")] = None
    memory_bandwidth: Annotated[Quantity | None, about("Gigabytes a second.")] = field(
        default=None, name="memoryBandwidthGBps"
    )
    memory: Annotated[Quantity | None, about("Such as 80Gi.")] = field(
        default=None, name="memoryGB"
    )
    performance: Annotated[Performance | None, about("How fast it computes.")] = None


class Discovery(Model):
    """How nodes with it are found."""

    affinity: Annotated[Affinity | None, about("Of pods.")] = None
    device_ids: Annotated[Texts | None, about("Devices.")] = field(default=None, name="deviceIDs")
    node_selector: Annotated[dict[str, str] | None, about("Labels of nodes.")] = None
    pci_vendor_id: Annotated[str | None, about("Vendor.")] = field(default=None, name="pciVendorID")


class Cost(Model):
    """What it costs."""

    per_hour: Annotated[Quantity | None, about("By the hour.")] = None
    per_million_tokens: Annotated[Quantity | None, about("By tokens.")] = None
    spot_per_hour: Annotated[Quantity | None, about("By the hour, as long as it is spare.")] = None
    tier: Annotated[str | None, about("low, medium or high.")] = None


class Integration(Model):
    """How others know it."""

    kueue_resource_flavor: Annotated[str | None, about("Kueue.")] = None
    volcano_gpu_type: Annotated[str | None, about("Volcano.")] = field(
        default=None, name="volcanoGPUType"
    )


class AcceleratorResource(Model):
    """What pods ask for."""

    name: Annotated[str, about("Such as nvidia.com/gpu.")]
    divisible: Annotated[bool | None, about("Whether a part can be had.")] = None
    quantity: Annotated[Quantity, about("How many.")] = "1"


class AcceleratorClassSpec(Model):
    """A kind of accelerator."""

    capabilities: Annotated[Capabilities, about("What it can do.")]
    discovery: Annotated[Discovery, about("How nodes with it are found.")]
    cost: Annotated[Cost | None, about("What it costs.")] = None
    family: Annotated[str | None, about("Such as hopper.")] = None
    integration: Annotated[Integration | None, about("How others know it.")] = None
    model: Annotated[str | None, about("Such as h100.")] = None
    resources: Annotated[
        list[AcceleratorResource] | None, ATOMIC, about("The resources that pods request.")
    ] = None
    vendor: Annotated[str | None, about("Such as nvidia.")] = None


class AcceleratorClassStatus(Model):
    """Where it is."""

    available_accelerators: Annotated[Int32 | None, about("Not counted.")] = None
    available_nodes: Annotated[Int32 | None, about("Nodes with it.")] = None
    conditions: Annotated[list[Condition] | None, ATOMIC, about("The conditions.")] = None
    last_updated: Annotated[Time | None, about("When it was last looked at.")] = None
    nodes: Annotated[Texts | None, about("Nodes with it.")] = None
    total_accelerators: Annotated[Int32 | None, about("Not counted.")] = None
