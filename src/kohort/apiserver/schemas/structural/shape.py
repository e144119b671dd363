"""
The shape of a custom kind: its schema as patching and field ownership see it.

The metadata of an object is not described by a definition, so its shape is
given here: the parts of it that are merged by key.
"""

from kohort.apiserver.schemas.result_cache import ResultCache, hash_part
from kohort.apiserver.schemas.shapes import ANY, ListType, Shape, Type
from kohort.apiserver.schemas.structural.node import Schema

_shapes: ResultCache[tuple[bytes, bool], Shape] = ResultCache(1024)
_SCALARS = {
    "string": Type.STRING,
    "integer": Type.INTEGER,
    "number": Type.NUMBER,
    "boolean": Type.BOOLEAN,
}


def _make_metadata() -> Shape:
    string, integer = Shape(Type.STRING), Shape(Type.INTEGER)
    strings = Shape(Type.MAP, items=string)
    owner = Shape(Type.OBJECT, atomic=True, required=("apiVersion", "kind", "name", "uid"))
    owner.fields = {name: string for name in ("apiVersion", "kind", "name", "uid")}
    owner.fields |= {name: Shape(Type.BOOLEAN) for name in ("controller", "blockOwnerDeletion")}
    shape = Shape(Type.OBJECT)
    shape.fields = {
        name: string
        for name in ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
    }
    shape.fields |= {
        "generation": integer,
        "creationTimestamp": Shape(Type.STRING, format="date-time", nullable=True),
        "deletionTimestamp": Shape(Type.STRING, format="date-time", nullable=True),
        "deletionGracePeriodSeconds": integer,
        "labels": strings,
        "annotations": strings,
        "finalizers": Shape(Type.LIST, items=string, list_type=ListType.SET, merge=True),
        "ownerReferences": Shape(
            Type.LIST,
            items=owner,
            list_type=ListType.MAP,
            list_keys=("uid",),
            merge_key="uid",
            merge=True,
        ),
        "managedFields": Shape(Type.LIST, items=ANY),
    }
    return shape


METADATA = _make_metadata()


def shape_of(schema: Schema, *, root: bool = False) -> Shape:
    """The shape that a schema describes; equal large parts have the same shape."""
    part = hash_part(schema)
    if not part:
        return _make_shape(schema, root)
    shape = _shapes.find((part, root))
    if shape is None:
        shape = _make_shape(schema, root)
        _shapes.remember((part, root), shape)
    return shape


def _make_shape(schema: Schema, root: bool) -> Shape:
    if schema.get("x-kubernetes-int-or-string"):
        shape = Shape(Type.INT_OR_STRING)
    elif schema.get("type") == "array":
        shape = _list_shape(schema)
    elif schema.get("type") == "object":
        shape = _object_shape(schema, root)
    else:
        shape = Shape(_SCALARS.get(schema.get("type") or "", Type.ANY))
    shape.format = schema.get("format") or ""
    shape.default = schema.get("default")
    shape.nullable = bool(schema.get("nullable"))
    shape.preserves_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    return shape


def _list_shape(schema: Schema) -> Shape:
    items = schema.get("items")
    return Shape(
        Type.LIST,
        items=shape_of(items) if isinstance(items, dict) else ANY,
        list_type=ListType(schema.get("x-kubernetes-list-type") or "atomic"),
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
    )


def _object_shape(schema: Schema, root: bool) -> Shape:
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    values = schema.get("additionalProperties")
    if values and not schema.get("properties"):
        inner = shape_of(values) if isinstance(values, dict) else ANY
        return Shape(Type.MAP, items=inner, atomic=atomic)
    embedded = root or bool(schema.get("x-kubernetes-embedded-resource"))
    shape = Shape(Type.OBJECT, atomic=atomic, embedded=embedded)
    shape.required = tuple(schema.get("required") or ())
    shape.fields = {
        name: shape_of(inner) for name, inner in (schema.get("properties") or {}).items()
    }
    if embedded:
        shape.fields.setdefault("apiVersion", Shape(Type.STRING))
        shape.fields.setdefault("kind", Shape(Type.STRING))
        shape.fields["metadata"] = METADATA
    return shape
