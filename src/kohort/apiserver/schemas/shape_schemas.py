"""
The schemas of built-in types in OpenAPI documents, written from their shapes.

A schema says a little more than its shape: what is always there has an empty default.
``implicit_fields`` says which fields these are, as it does for every object that is written.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kohort.apiserver.schemas.builtin import INT_OR_STRING, META, QUANTITY
from kohort.apiserver.schemas.decoders.implicit_fields import Rule, describe_fields
from kohort.apiserver.schemas.shapes import Shape, Type
from kohort.cluster.objects import Object

_ONE_OF: dict[str, Object] = {
    QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
    INT_OR_STRING: {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
}
_OBJECTS = {META + "FieldsV1", META + "Patch", "io.k8s.apimachinery.pkg.runtime.RawExtension"}
_ZEROES: dict[Type, Any] = {
    Type.STRING: "",
    Type.INTEGER: 0,
    Type.NUMBER: 0,
    Type.BOOLEAN: False,
}


def reference(name: str) -> Object:
    """A reference to a definition of the same document."""
    return {"$ref": f"#/components/schemas/{name}"}


def write_definitions(
    shapes: Iterable[Shape], kinds: Mapping[str, Sequence[Object]]
) -> dict[str, Object]:
    """The schemas of some definitions and of all definitions that they refer to."""
    found: dict[str, Object] = {}
    waiting = list(shapes)
    while waiting:
        shape = waiting.pop()
        if shape.name in found:
            continue
        found[shape.name] = _write_definition(shape)
        if shape.name in kinds:
            found[shape.name]["x-kubernetes-group-version-kind"] = list(kinds[shape.name])
        for inner in shape.fields.values():
            waiting.extend(_named(inner))
    return found


def _named(shape: Shape) -> list[Shape]:
    if shape.name:
        return [shape]
    return _named(shape.items) if shape.items is not None else []


def _write_definition(shape: Shape) -> Object:
    if shape.name in _ONE_OF:
        return dict(_ONE_OF[shape.name])
    if shape.type is Type.ANY:
        return {"type": "object"} if shape.name in _OBJECTS else {}
    if shape.type is not Type.OBJECT:
        return _write_inline(shape)
    schema: Object = {"type": "object"}
    if shape.required:
        schema["required"] = list(shape.required)
    schema["properties"] = {
        name: _write_field(rule) for name, rule in describe_fields(shape).items()
    }
    if shape.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _write_field(rule: Rule) -> Object:
    shape, is_always_there = rule.shape, not (rule.go.is_pointer or rule.go.omits_empty)
    schema: Object = {}
    if shape.default is not None:
        schema["default"] = shape.default
    elif shape.type is Type.OBJECT and not rule.go.is_pointer:
        schema["default"] = {}
    elif is_always_there and shape.type in _ZEROES and not shape.name:
        schema["default"] = _ZEROES[shape.type]
    schema.update(_write_entry(shape))
    if shape.retain_keys and shape.type is Type.OBJECT:
        schema["x-kubernetes-patch-strategy"] = "retainKeys"
    return schema


def _write_entry(shape: Shape) -> Object:
    return {"allOf": [reference(shape.name)]} if shape.name else _write_inline(shape)


def _write_inline(shape: Shape) -> Object:
    if shape.type is Type.LIST:
        return _write_list(shape)
    if shape.type is Type.MAP:
        assert shape.items is not None
        return {"type": "object", "additionalProperties": _write_value(shape.items)}
    schema: Object = {"type": shape.type.value}
    if shape.format:
        schema["format"] = shape.format
    return schema


def _write_list(shape: Shape) -> Object:
    assert shape.items is not None
    schema: Object = {"type": "array", "items": _write_value(shape.items)}
    if shape.list_keys:
        schema["x-kubernetes-list-map-keys"] = list(shape.list_keys)
    schema["x-kubernetes-list-type"] = shape.list_type.value
    if shape.merge_key:
        schema["x-kubernetes-patch-merge-key"] = shape.merge_key
    if shape.merge:
        strategy = "merge,retainKeys" if shape.retain_keys else "merge"
        schema["x-kubernetes-patch-strategy"] = strategy
    return schema


def _write_value(shape: Shape) -> Object:
    """An entry of a list or map."""
    if shape.name and shape.type is Type.OBJECT:
        return {"default": {}, "allOf": [reference(shape.name)]}
    if shape.name:
        return reference(shape.name)
    schema = _write_inline(shape)
    if shape.type in _ZEROES and shape.format != "byte":
        schema["default"] = _ZEROES[shape.type]
    return schema
