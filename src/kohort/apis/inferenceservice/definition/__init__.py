"""
The CustomResourceDefinitions of ``ome.io/v1beta1``, generated from our models.

This module expands inline types: a component has the fields of a pod beside its own, a runner those
of a container, and no field that a pod or container requires is required here.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.definitions import Column, Definition, write_definition
from kohort.apis.definitions.definition import AGE
from kohort.apis.definitions.embedded_types import POD_SPEC, embed_type
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.definition import runtimes
from kohort.apis.inferenceservice.definition.components import INLINE
from kohort.apis.inferenceservice.definition.model import (
    InferenceServiceSpec,
    InferenceServiceStatus,
)
from kohort.cluster.objects import Kind, Object

_FORMER_FIELDS = (
    "affinity",
    "containers",
    "dnsPolicy",
    "hostIPC",
    "hostNetwork",
    "imagePullSecrets",
    "nodeSelector",
    "schedulerName",
    "tolerations",
    "volumes",
)
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_PARTS = ("httpGet", "tcpSocket", "os", "authenticationRef")
_TRAFFIC = ".status.components.engine.traffic"
_MODEL_COLUMNS = (
    Column("Disabled", ".spec.disabled", "boolean"),
    Column("Version", ".spec.version"),
    Column("Vendor", ".spec.vendor"),
)
_STATE = Column("Ready", ".status.state")


def define_inference_service() -> Object:
    """The definition of InferenceService, a new object at each call."""
    definition = write_definition(
        Definition(
            kind=kinds.INFERENCE_SERVICE,
            short_names=("isvc",),
            description="A served model: its components become workloads by a strategy.",
            spec=InferenceServiceSpec,
            status=InferenceServiceStatus,
            columns=(
                Column("URL", ".status.url"),
                Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
                Column("BaseModel", ".spec.model.name"),
                Column("Runtime", ".spec.runtime.name"),
                Column("Prev", f"{_TRAFFIC}[?(@.tag=='prev')].percent", "integer"),
                Column("Latest", f"{_TRAFFIC}[?(@.latestRevision==true)].percent", "integer"),
                Column("PrevRolledoutRevision", f"{_TRAFFIC}[?(@.tag=='prev')].revisionName"),
                Column(
                    "LatestReadyRevision", f"{_TRAFFIC}[?(@.latestRevision==true)].revisionName"
                ),
                AGE,
            ),
        )
    )
    properties = _schema_of(definition)["properties"]
    properties["status"]["x-kubernetes-preserve-unknown-fields"] = True
    finished = _finish(definition)
    _allow_parts(properties["spec"])
    return finished


def _allow_parts(value: Any) -> None:
    """Drop ``required`` below fields such as httpGet, so that a service can override a part."""
    if isinstance(value, list):
        for inner in value:
            _allow_parts(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in _PARTS and isinstance(inner, dict) and "properties" in inner:
                inner.pop("required", None)
            _allow_parts(inner)


def define_serving_runtime() -> Object:
    """The definition of ServingRuntime."""
    return _define_runtime(kinds.SERVING_RUNTIME)


def define_cluster_serving_runtime() -> Object:
    """The definition of ClusterServingRuntime."""
    return _define_runtime(kinds.CLUSTER_SERVING_RUNTIME)


def _define_runtime(kind: Kind) -> Object:
    formats = ".spec.supportedModelFormats[*]"
    definition = write_definition(
        Definition(
            kind=kind,
            short_names=(),
            description="How models of some formats are served.",
            spec=runtimes.RuntimeSpec,
            status=runtimes.RuntimeStatus,
            columns=(
                Column("Disabled", ".spec.disabled", "boolean"),
                Column("ModelFormat", f"{formats}.modelFormat.name"),
                Column("ModelFramework", f"{formats}.modelFramework.name"),
                Column("ModelFrameworkVersion", f"{formats}.modelFramework.version"),
                Column("ModelArchitecture", f"{formats}.modelArchitecture"),
                Column("ModelSizeMin", ".spec.modelSizeRange.min"),
                Column("ModelSizeMax", ".spec.modelSizeRange.max"),
                Column("Images", ".spec.containers[*].image"),
                AGE,
            ),
            is_status_apart=False,
            categories=(),
        )
    )
    _schema_of(definition)["properties"]["status"].pop("properties")
    spec = _schema_of(definition)["properties"]["spec"]
    spec["properties"] |= _former_fields()
    spec["properties"]["workers"].pop(runtimes.FORMER)
    spec["properties"]["workers"]["properties"] |= _former_fields()
    return _finish(definition)


def define_base_model() -> Object:
    """The definition of BaseModel."""
    return _define_model(kinds.BASE_MODEL)


def define_cluster_base_model() -> Object:
    """The definition of ClusterBaseModel."""
    return _define_model(kinds.CLUSTER_BASE_MODEL)


def _define_model(kind: Kind) -> Object:
    definition = Definition(
        kind=kind,
        short_names=(),
        description="A model whose files are brought to nodes.",
        spec=runtimes.BaseModelSpec,
        status=runtimes.ModelSpecStatus,
        columns=(
            *_MODEL_COLUMNS,
            Column("Framework", ".spec.modelFramework.name"),
            Column("FrameworkVersion", ".spec.modelFramework.version"),
            Column("ModelFormat", ".spec.modelFormat.name"),
            Column("Architecture", ".spec.modelArchitecture"),
            Column("Capabilities", ".spec.modelCapabilities[*]"),
            Column("Size", ".spec.modelParameterSize"),
            Column("CompartmentID", ".spec.compartmentID"),
            _STATE,
            AGE,
        ),
        categories=(),
    )
    return _finish(write_definition(definition))


def define_fine_tuned_weight() -> Object:
    """The definition of FineTunedWeight."""
    definition = Definition(
        kind=kinds.FINE_TUNED_WEIGHT,
        short_names=(),
        description="Weights that were tuned from a model.",
        spec=runtimes.FineTunedWeightSpec,
        status=runtimes.ModelSpecStatus,
        columns=(
            *_MODEL_COLUMNS,
            Column("CompartmentID", ".spec.compartmentID"),
            Column("ModelType", ".spec.modelType"),
            _STATE,
            AGE,
        ),
        categories=(),
    )
    return _finish(write_definition(definition))


def define_accelerator_class() -> Object:
    """The definition of AcceleratorClass."""
    definition = Definition(
        kind=kinds.ACCELERATOR_CLASS,
        short_names=(),
        description="A kind of accelerator, and how nodes with it are found.",
        spec=runtimes.AcceleratorClassSpec,
        status=runtimes.AcceleratorClassStatus,
        columns=(
            Column("Vendor", ".spec.vendor"),
            Column("Family", ".spec.family"),
            Column("Memory", ".spec.capabilities.memoryGB"),
            Column("Nodes", ".status.availableNodes", "integer"),
        ),
        categories=(),
    )
    return _finish(write_definition(definition))


DEFINITIONS = (
    define_inference_service,
    define_serving_runtime,
    define_cluster_serving_runtime,
    define_base_model,
    define_cluster_base_model,
    define_fine_tuned_weight,
    define_accelerator_class,
)


def _schema_of(definition: Object) -> Object:
    found: Object = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def _former_fields() -> Object:
    """The pod fields that a runtime had directly in its spec before it had components."""
    pod = embed_type(POD_SPEC)["properties"]
    fields = {name: pod[name] for name in _FORMER_FIELDS}
    fields["nodeSelector"].pop("x-kubernetes-map-type")
    return {**fields, "labels": dict(_TEXTS), "annotations": dict(_TEXTS)}


def _finish(definition: Object) -> Object:
    for schema in list(_find_inline(_schema_of(definition))):
        inlined = embed_type(schema.pop(INLINE))
        properties: Object = {**inlined["properties"], **schema.get("properties", {})}
        schema["properties"] = {name: properties[name] for name in sorted(properties)}
        schema["type"] = "object"
    return definition


def _find_inline(value: Any) -> Iterator[Object]:
    if isinstance(value, list):
        for inner in value:
            yield from _find_inline(inner)
    elif isinstance(value, dict):
        if INLINE in value:
            yield value
        for inner in value.values():
            yield from _find_inline(inner)
