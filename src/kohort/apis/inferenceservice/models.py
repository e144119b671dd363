"""
Models and fine-tuned weights as values: format, framework, size, and where the files lie.

Most models have few facts in their spec until the model agent has parsed their files; a fact that
is not there yet is None, which differs from an empty one.
"""

from dataclasses import dataclass, field

from kohort.apis.inferenceservice.fields import (
    find_number,
    find_object,
    find_text,
    read_object,
    read_text,
)
from kohort.apis.inferenceservice.spec import is_disabled
from kohort.cluster.objects import Object, annotations_of, name_of, namespace_of

EQUAL, GREATER, GREATER_OR_EQUAL = "Equal", "GreaterThan", "GreaterThanOrEqual"


@dataclass(frozen=True, slots=True)
class VersionedName:
    """A format or a framework, perhaps with a version; in runtimes also how versions compare."""

    name: str
    version: str | None = None
    operator: str = EQUAL
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the files of a model lie."""

    uri: str = ""
    path: str = ""  # where the files lie on nodes
    schema_path: str = ""
    parameters: Object = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A model, of a namespace or of the cluster."""

    name: str
    namespace: str = ""  # empty: cluster-scoped
    format: VersionedName | None = None
    framework: VersionedName | None = None
    type: str = ""
    architecture: str | None = None
    quantization: str | None = None
    parameter_size: str | None = None
    pipeline: Object | None = None  # only for a diffusion model
    storage: Storage = Storage()
    vendor: str = ""
    is_disabled: bool = False
    annotations: Object = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of its object."""
        return "BaseModel" if self.namespace else "ClusterBaseModel"


@dataclass(frozen=True, slots=True)
class FineTunedWeight:
    """Weights that were tuned from a base model."""

    name: str
    base_model: str = ""
    strategy: str = ""  # lora, tfew, …
    is_merged: bool = False  # the weights are a whole model
    type: str = ""
    storage: Storage = Storage()
    is_disabled: bool = False


def read_model(obj: Object) -> BaseModel:
    """Read a BaseModel or a ClusterBaseModel."""
    spec = read_object(obj, "spec")
    is_namespaced = obj.get("kind") == "BaseModel"
    return BaseModel(
        name=name_of(obj),
        namespace=namespace_of(obj) if is_namespaced else "",
        format=read_versioned(find_object(spec, "modelFormat")),
        framework=read_versioned(find_object(spec, "modelFramework")),
        type=read_text(spec, "modelType"),
        architecture=find_text(spec, "modelArchitecture"),
        quantization=find_text(spec, "quantization"),
        parameter_size=find_text(spec, "modelParameterSize"),
        pipeline=find_object(spec, "diffusionPipeline"),
        storage=read_storage(read_object(spec, "storage")),
        vendor=read_text(spec, "vendor"),
        is_disabled=is_disabled(spec),
        annotations=annotations_of(obj),
    )


def read_versioned(raw: Object | None) -> VersionedName | None:
    """Read a format or a framework; None if it has no name."""
    if raw is None or not read_text(raw, "name"):
        return None
    weight = find_number(raw, "weight")
    return VersionedName(
        name=read_text(raw, "name"),
        version=find_text(raw, "version"),
        operator=read_text(raw, "operator") or EQUAL,
        weight=1 if weight is None else weight,
    )


def read_storage(raw: Object) -> Storage:
    """Where files lie."""
    return Storage(
        uri=read_text(raw, "storageUri"),
        path=read_text(raw, "path"),
        schema_path=read_text(raw, "schemaPath"),
        parameters=read_object(raw, "parameters"),
        key=read_text(raw, "key"),
    )


def read_weight(obj: Object) -> FineTunedWeight:
    """Read a FineTunedWeight; without a configuration its weights count as not merged."""
    spec = read_object(obj, "spec")
    base = read_object(spec, "baseModelRef")
    return FineTunedWeight(
        name=name_of(obj),
        base_model=read_text(base, "name"),
        strategy=read_text(read_object(spec, "hyperParameters"), "strategy"),
        is_merged=read_object(spec, "configuration").get("merged_weights") is True,
        type=read_text(spec, "modelType"),
        storage=read_storage(read_object(spec, "storage")),
        is_disabled=is_disabled(spec),
    )
