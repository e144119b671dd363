"""
A CustomResourceDefinition, from a model and the few facts around it.

Its managed-by label says that Kohort made it: an install never overwrites a CRD
that another project installed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from msgspec import Struct

from kohort.apis.definitions.schemas import write_schema
from kohort.cluster.objects import Kind, Object, name_of

MANAGED_BY = "app.kubernetes.io/managed-by"
CATEGORIES = ("all", "inference")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of ``kubectl get``."""

    name: str
    path: str
    type: str = "string"
    description: str = ""
    is_wide: bool = False  # shown with -o wide only


AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where the scale subresource finds its numbers, as paths from the object's root."""

    selector: str = ""  # none: autoscalers cannot find the pods
    wanted: str = ".spec.replicas"
    present: str = ".status.replicas"


@dataclass(frozen=True, slots=True)
class Definition:
    """How users see a kind, in one version."""

    kind: Kind
    short_names: tuple[str, ...]
    description: str
    spec: type[Struct]
    status: type[Struct] | None
    columns: tuple[Column, ...]
    scale: ScalePaths | None = None  # None: no such subresource
    categories: tuple[str, ...] = CATEGORIES
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_status_apart: bool = True  # whether status is a subresource, which few kinds do without
    is_spec_required: bool = False
    deprecation: str = ""  # the warning for clients of this version


@cache
def name_definition(define: Callable[[], Object]) -> str:
    """The name of a definition, which costs as much as the definition and never changes."""
    return name_of(define())


def write_definition(definition: Definition, *others: Definition) -> Object:
    """The CustomResourceDefinition; objects are stored in the first version."""
    kind = definition.kind
    versions = [
        _write_version(each, is_stored=each is definition) for each in (definition, *others)
    ]
    metadata: Object = {"name": kind.group_resource, "labels": {MANAGED_BY: "kohort"}}
    if definition.annotations:
        metadata["annotations"] = dict(definition.annotations)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": kind.group,
            "names": _write_names(definition),
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": versions,
        },
    }


def _write_names(definition: Definition) -> Object:
    kind = definition.kind
    lists = {"categories": definition.categories, "shortNames": definition.short_names}
    return {
        "kind": kind.name,
        "listKind": f"{kind.name}List",
        "plural": kind.plural,
        "singular": kind.name.lower(),
        **{word: list(names) for word, names in lists.items() if names},
    }


def _write_version(definition: Definition, *, is_stored: bool) -> Object:
    subresources: Object = {"status": {}} if definition.is_status_apart else {}
    if definition.scale is not None:
        subresources["scale"] = _write_scale(definition.scale)
    version: Object = {
        "name": definition.kind.version,
        "served": True,
        "storage": is_stored,
        "subresources": subresources,
        "schema": {"openAPIV3Schema": _write_root(definition)},
    }
    if definition.columns:
        version["additionalPrinterColumns"] = [_write_column(each) for each in definition.columns]
    if definition.deprecation:
        version |= {"deprecated": True, "deprecationWarning": definition.deprecation}
    return version


def _write_scale(paths: ScalePaths) -> Object:
    written = {"specReplicasPath": paths.wanted, "statusReplicasPath": paths.present}
    return {"labelSelectorPath": paths.selector, **written} if paths.selector else written


def _write_column(column: Column) -> Object:
    written: Object = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.description:
        written["description"] = column.description
    if column.is_wide:
        written["priority"] = 1
    return written


def _write_root(definition: Definition) -> Object:
    properties: Object = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": write_schema(definition.spec),
    }
    if definition.status is not None:
        properties["status"] = write_schema(definition.status)
    root: Object = {
        "type": "object",
        "description": definition.description,
        "properties": properties,
    }
    if definition.is_spec_required:
        root["required"] = ["spec"]
    return root
