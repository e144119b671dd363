"""
A CustomResourceDefinition, from a model and the few facts around it.

The label says that Kohort made it, so that an install never writes over a CRD
that somebody else brought.
"""

from dataclasses import dataclass

from msgspec import Struct

from kohort.apis.definitions.schemas import write_schema
from kohort.cluster.objects import Kind, Object

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
class Definition:
    """What a kind is to its users."""

    kind: Kind
    short_names: tuple[str, ...]
    description: str
    spec: type[Struct]
    status: type[Struct]
    columns: tuple[Column, ...]
    selector: str = ""  # the path of the scale subresource's selector; none has no such part


def write_definition(definition: Definition) -> Object:
    """The CustomResourceDefinition."""
    kind = definition.kind
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.group_resource, "labels": {MANAGED_BY: "kohort"}},
        "spec": {
            "group": kind.group,
            "names": {
                "categories": list(CATEGORIES),
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "shortNames": list(definition.short_names),
                "singular": kind.name.lower(),
            },
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [_write_version(definition)],
        },
    }


def _write_version(definition: Definition) -> Object:
    subresources: Object = {"status": {}}
    if definition.selector:
        subresources["scale"] = {
            "labelSelectorPath": definition.selector,
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
        }
    return {
        "name": definition.kind.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [_write_column(column) for column in definition.columns],
        "subresources": subresources,
        "schema": {"openAPIV3Schema": _write_root(definition)},
    }


def _write_column(column: Column) -> Object:
    written: Object = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.description:
        written["description"] = column.description
    if column.is_wide:
        written["priority"] = 1
    return written


def _write_root(definition: Definition) -> Object:
    return {
        "type": "object",
        "description": definition.description,
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": write_schema(definition.spec),
            "status": write_schema(definition.status),
        },
    }
