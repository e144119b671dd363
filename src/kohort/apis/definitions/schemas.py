"""
From a model to the structural schema against which the API server checks objects.

Every keyword of a schema is written in one place here. A model that a structural
schema cannot express is a bug of ours, and fails an assertion.
"""

import inspect
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo, fields

from kohort.apis.definitions.embedded_types import embed_type
from kohort.apis.definitions.fields import EMBEDS
from kohort.cluster.objects import Object

_SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number"}
_WORDS = {
    "description": "description",
    "ge": "minimum",
    "le": "maximum",
    "pattern": "pattern",
    "min_length": "minLength",
    "max_length": "maxLength",
}


def write_schema(model: type[Struct]) -> Object:
    """The schema of an object that has the fields of a model."""
    schema: Object = {"type": "object"}
    text = inspect.getdoc(model)
    if text:
        schema["description"] = " ".join(text.split())
    members = sorted(fields(model), key=lambda field: field.encode_name)
    schema["properties"] = {field.encode_name: _write_field(field) for field in members}
    required = [field.encode_name for field in members if field.required]
    if required:
        schema["required"] = required
    return schema


def _write_field(field: FieldInfo) -> Object:
    schema = _write(field.type)
    if field.default is not NODEFAULT and field.default is not None:
        schema["default"] = field.default
    return schema


def _write(declared: Any) -> Object:
    origin, inner = get_origin(declared), get_args(declared)
    if origin is None:
        return _write_plain(declared)
    if origin is Annotated:
        return _write_annotated(inner[0], inner[1:])
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": _write(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _write(inner[1])}
    return _write_union(inner)


def _write_plain(declared: Any) -> Object:
    if declared is Any:
        return {}
    if declared in _SCALARS:
        return {"type": _SCALARS[declared]}
    assert issubclass(declared, Struct), f"no schema for {declared}"
    return write_schema(declared)


def _write_annotated(declared: Any, notes: tuple[Meta, ...]) -> Object:
    words: Object = {}
    for note in notes:
        words.update(_words_of(note))
    embedded = words.pop(EMBEDS, None)
    schema = embed_type(embedded) if embedded else _write(declared)
    return {**schema, **words}


def _words_of(note: Meta) -> Object:
    given = {word: getattr(note, name) for name, word in _WORDS.items()}
    words = {word: value for word, value in given.items() if value is not None}
    return {**words, **(note.extra_json_schema or {})}


def _write_union(types: tuple[Any, ...]) -> Object:
    given = [declared for declared in types if declared is not NoneType]
    if set(given) == {int, str}:
        return {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": True,
        }
    assert len(given) == 1, f"a field has one type, not {given}"
    return _write(given[0])
