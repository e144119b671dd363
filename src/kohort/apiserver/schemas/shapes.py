"""
Shapes: types of values, from the table of built-in types or from a CRD's schema.

A shape is what remains of a schema when only its structure is kept: which
fields there are, what a list is keyed by, what may be merged and what is
replaced whole. The built-in kinds get theirs from a generated table, custom
kinds from the schema in their definition. Patching, field ownership, strict
decoding and the published documents all read shapes and never a schema.

Shapes may be recursive (a JSON schema holds JSON schemas), so ``fields`` is
filled by the builder of the shape after construction, and is never changed later.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Type(StrEnum):
    """The JSON type that a shape describes."""

    OBJECT = "object"  # known fields
    MAP = "map"  # any key, values of one shape
    LIST = "list"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    INT_OR_STRING = "int-or-string"
    ANY = "any"  # nothing is known: no validation, owned as a whole


class ListType(StrEnum):
    """How the entries of a list are identified (``x-kubernetes-list-type``)."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


@dataclass(eq=False, slots=True)
class Shape:
    """One type of value."""

    type: Type
    name: str = ""  # the definition's name, such as io.k8s.api.core.v1.Pod; empty if inline
    fields: dict[str, "Shape"] = field(default_factory=dict)  # OBJECT
    items: "Shape | None" = None  # LIST entries, MAP values
    list_type: ListType = ListType.ATOMIC
    list_keys: tuple[str, ...] = ()
    atomic: bool = False  # an OBJECT or MAP that is owned as a whole
    merge_key: str = ""  # for strategic merge of a LIST
    merge: bool = False  # strategic merge joins this list instead of replacing it
    retain_keys: bool = False  # strategic merge clears fields that the patch does not name
    required: tuple[str, ...] = ()
    format: str = ""
    default: Any = None
    preserves_unknown: bool = False
    embedded: bool = False  # holds a whole object, with apiVersion, kind and metadata
    nullable: bool = False


ANY = Shape(Type.ANY)
