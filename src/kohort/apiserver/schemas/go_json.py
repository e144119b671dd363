"""
The JSON encoder of objects, which writes the same bytes as Go's.

A built-in object is a struct in Go: its fields come in the order of their declaration,
maps in the order of their keys. A custom object is all maps. Numbers of custom objects
are whole or of double precision, and raw JSON stays the text that it was.

The order is restored in C: each built-in type becomes a ``msgspec`` struct whose fields
are declared as Go declares them, and an object that goes through it comes out in order.
A value that does not fit its type is written as it is.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec
import orjson
from msgspec import UNSET, Raw, UnsetType

from kohort.apiserver.schemas.builtin import (
    OBJECT_META,
    find_go_fields,
    load_definition,
    load_shape,
)
from kohort.apiserver.schemas.decoders.choices import SCHEMA
from kohort.apiserver.schemas.decoders.implicit_fields import NULL_LISTS
from kohort.apiserver.schemas.raw import find_raw_fields, text_of
from kohort.apiserver.schemas.shapes import Shape, Type
from kohort.cluster.objects import Object, encode_json, escape

Write = Callable[[Object], bytes]

_EXTENSIONS = SCHEMA.removesuffix("JSONSchemaProps")
_WHOLE_MAX = 1 << 63
_POINTS = (1e-6, 1e21)  # between these, Go writes no exponent
_encoder = msgspec.json.Encoder(order="deterministic")


def write_custom(obj: Any) -> bytes:
    """Encode an object of a custom kind, or any part of one."""
    return escape(_encoder.encode(_numbers.decode(orjson.dumps(obj))))


def write_builtin(obj: Object) -> bytes:
    """Encode an object of a built-in kind, found by its apiVersion and kind."""
    return _find_writer(obj["apiVersion"], obj["kind"])(obj)


def write_metadata(text: bytes) -> bytes:
    """Encoded metadata of any object, in the order of its type."""
    return escape(_order(orjson.loads(text), _find_struct(OBJECT_META)))


@cache
def _find_writer(api_version: str, kind: str) -> Write:
    try:
        shape = load_shape(api_version, kind)
    except KeyError:
        return encode_json
    fields, struct = find_raw_fields(shape), _find_struct(shape.name)
    # Go writes a required empty list as null.
    empty = [field for name, field in NULL_LISTS if name == shape.name]
    # Only definitions hold values of any type: in ``default`` and ``enum``.
    holds_numbers = api_version.startswith("apiextensions.k8s.io/")

    def write(obj: Object) -> bytes:
        for field in empty:
            if field in obj and not obj[field]:
                obj = {**obj, field: None}
        if fields:
            obj = {**obj, **{field: Raw(write_raw(obj[field])) for field in fields if field in obj}}
        if holds_numbers:
            obj = _numbers.decode(orjson.dumps(obj))
        return escape(_order(obj, struct))

    return write


def write_raw(value: Any) -> bytes:
    """Encode raw JSON: the client's own text, or Go's encoding of a value without a text."""
    return text_of(value) or write_custom(value)


def _order(obj: Object, struct: Any) -> bytes:
    try:
        return _encoder.encode(msgspec.convert(obj, struct))
    except msgspec.MsgspecError:
        # The kind always comes first, since the store looks for it there.
        head = {name: obj[name] for name in ("kind", "apiVersion") if name in obj}
        return msgspec.json.encode({**head, **obj})


def _spell_number(text: str) -> int | Raw:
    """A number of double precision as Go spells it."""
    number = float(text)
    if number.is_integer() and abs(number) < _WHOLE_MAX:
        return int(number)
    digits, _, exponent = repr(number).partition("e")
    if _POINTS[0] <= abs(number) < _POINTS[1]:
        return Raw(f"{Decimal(repr(number)):f}".removesuffix(".0").encode())
    return Raw(f"{digits.removesuffix('.0')}e{int(exponent):+d}".encode())


_numbers = msgspec.json.Decoder(float_hook=_spell_number)


def _find_struct(definition: str) -> Any:
    return globals()[_declare(load_definition(definition))]


def _declare(shape: Shape) -> str:
    """The name of the struct for a type, which is declared when it is first needed.

    Types hold themselves, so fields name their types, and all lie in this module, where
    ``msgspec`` looks names up.
    """
    name = re.sub(r"\W", "_", shape.name)
    if name not in globals():
        globals()[name] = None
        order = find_go_fields(shape.name)
        fields = [
            (f"f{index}", f"{_annotate(shape.fields[field])} | None | UnsetType", UNSET)
            for index, field in enumerate(order)
        ]
        names = {f"f{index}": field for index, field in enumerate(order)}
        globals()[name] = msgspec.defstruct(
            name, fields, rename=names, module=__name__, forbid_unknown_fields=True, gc=False
        )
    return name


def _annotate(shape: Shape) -> str:
    if shape.name in _CHOICES:
        _declare(load_definition(SCHEMA))
        return _CHOICES[shape.name]
    if shape.type is Type.OBJECT and shape.name and shape.fields:
        return _declare(shape)
    if shape.items is not None and shape.type is Type.LIST:
        return f"list[{_annotate(shape.items)} | None]"
    if shape.items is not None and shape.type is Type.MAP:
        return f"dict[str, {_annotate(shape.items)} | None]"
    return "Any"


_SCHEMA_NAME = re.sub(r"\W", "_", SCHEMA)
_CHOICES = {
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": f"{_SCHEMA_NAME} | list[{_SCHEMA_NAME}]",
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": f"{_SCHEMA_NAME} | bool",
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": f"{_SCHEMA_NAME} | list[str]",
}
_ANNOTATIONS = (Any, UnsetType)  # the names that annotations use
