"""
The OpenAPI v2 document: merged from the v3 documents, and written as JSON or protobuf.

kubectl and helm fall back to it for a kind that no v3 document has, to find out that
the server does not serve the kind; without it they stop at the first unknown kind of a file.
OpenAPI v2 cannot say "null is allowed", "one of" and "any of", so those parts of a
custom kind's schema are left out, and a field that may be of several types is
published without a type, as the API server of Kubernetes does.

client-go reads this document in protobuf alone. Each message is a table from the keys
of the JSON form to field numbers and writers; ``x-`` keys go into one list of named
values, written as YAML, of which JSON is a part.
"""

from collections.abc import Callable, Iterable, Mapping
from struct import pack
from typing import Any

import orjson

from kohort.cluster.objects import Object

_OLD, _NEW = "#/components/schemas/", "#/definitions/"
_UNSAYABLE = ("nullable", "oneOf", "anyOf", "not")
_PRESERVES = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_METHODS = ("get", "put", "post", "delete", "patch")


def merge_documents(documents: Iterable[Object], release: str) -> Object:
    """One OpenAPI v2 document with the content of the given v3 documents."""
    paths: Object = {}
    definitions: Object = {}
    for document in documents:
        for path, item in document["paths"].items():
            paths[path] = _merge_path(item)
        for name, schema in document["components"]["schemas"].items():
            found = write_schema(schema)
            kinds = _merge_kinds(definitions.get(name), found)
            definitions[name] = {**found, **kinds}
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": release},
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
    }


def _merge_kinds(known: Object | None, found: Object) -> Object:
    """A definition that several versions share, such as DeleteOptions, names all its kinds."""
    key = "x-kubernetes-group-version-kind"
    kinds = [*(known or {}).get(key, []), *found.get(key, [])]
    unique = {tuple(kind.items()): kind for kind in kinds}
    return {key: list(unique.values())} if unique else {}


def write_schema(schema: Mapping[str, Any]) -> Object:
    """A schema without keywords that OpenAPI v2 lacks."""
    parts: list[Object] = schema.get("allOf") or []
    if len(parts) == 1 and "$ref" in parts[0]:
        described = {key: schema[key] for key in ("description", "default") if key in schema}
        return {**described, **write_schema(parts[0])}
    out = {key: value for key, value in schema.items() if key not in _UNSAYABLE}
    if schema.get("format") == "int-or-string" and "oneOf" in schema:
        out["type"] = "string"
    elif "oneOf" in schema and "type" not in schema:
        out["type"] = "string"  # a quantity
    if "$ref" in out:
        out["$ref"] = out["$ref"].replace(_OLD, _NEW)
    if schema.get("nullable") or schema.get(_INT_OR_STRING) or schema.get(_PRESERVES):
        _open(out, is_object=bool(schema.get(_PRESERVES)) and not schema.get("nullable"))
    _write_inner(out)
    return out


def _open(out: Object, *, is_object: bool) -> None:
    """Allow any type in a field, since clients refuse values that a published type forbids."""
    kept = out.get("type")
    for key in ("type", "items", "properties", "additionalProperties", "required", "allOf"):
        out.pop(key, None)
    if is_object and kept == "object":
        out["type"] = kept


def _write_inner(out: Object) -> None:
    if "properties" in out:
        out["properties"] = {k: write_schema(inner) for k, inner in out["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(out.get(key), dict):
            out[key] = write_schema(out[key])
    if "allOf" in out:
        out["allOf"] = [write_schema(inner) for inner in out["allOf"]]


def _merge_path(item: Object) -> Object:
    out: Object = {method: _merge_operation(item[method]) for method in _METHODS if method in item}
    out["parameters"] = [_merge_parameter(p) for p in item["parameters"]]
    return out


def _merge_operation(operation: Object) -> Object:
    out = {key: value for key, value in operation.items() if key != "requestBody"}
    body = operation.get("requestBody", {}).get("content") or {}
    out["consumes"] = sorted(body) or ["*/*"]
    parameters = [_merge_parameter(p) for p in operation["parameters"]]
    if body:
        schema = write_schema(next(iter(body.values()))["schema"])
        is_required = operation["x-kubernetes-action"] in ("post", "put", "patch")
        told = {"in": "body", "name": "body", "schema": schema}
        parameters.insert(0, {**told, "required": True} if is_required else told)
    out["parameters"] = parameters
    answer = operation["responses"]["200"]
    out["produces"] = sorted(answer["content"])
    schema = write_schema(next(iter(answer["content"].values()))["schema"])
    refused = operation["responses"]["401"]
    out["responses"] = {"200": {"description": "OK", "schema": schema}, "401": refused}
    out["schemes"] = ["https"]
    return out


def _merge_parameter(parameter: Object) -> Object:
    rest = {key: value for key, value in parameter.items() if key != "schema"}
    return {**rest, **parameter["schema"]}


Writer = Callable[[Any], bytes]
Table = dict[str, tuple[int, Writer]]


def write_protobuf(document: Object) -> bytes:
    """The OpenAPI v2 document as a ``Document`` message."""
    return _write(_DOCUMENT, document)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _chunk(number: int, body: bytes) -> bytes:
    """A length-delimited field: a string or a message."""
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _text(number: int) -> Writer:
    return lambda value: _chunk(number, str(value).encode())


def _texts(number: int) -> Writer:
    return lambda values: b"".join(_chunk(number, value.encode()) for value in values)


def _flag(number: int) -> Writer:
    return lambda value: _varint(number << 3) + (b"\1" if value else b"\0")


def _count(number: int) -> Writer:
    return lambda value: _varint(number << 3) + _varint(int(value) & (1 << 64) - 1)


def _double(number: int) -> Writer:
    return lambda value: _varint(number << 3 | 1) + pack("<d", float(value))


def _any(number: int) -> Writer:
    return lambda value: _chunk(number, _any_body(value))


def _any_body(value: Any) -> bytes:
    return _chunk(2, orjson.dumps(value) + b"\n")


def _anys(number: int) -> Writer:
    return lambda values: b"".join(_chunk(number, _any_body(value)) for value in values)


def _message(number: int, table: Table) -> Writer:
    return lambda value: _chunk(number, _write(table, value))


def _named(number: int, write: Writer) -> Writer:
    """A map: repeated messages of a name and a value."""

    def write_all(values: Mapping[str, Any]) -> bytes:
        pairs = ((_chunk(1, name.encode()), write(value)) for name, value in values.items())
        return b"".join(_chunk(number, name + value) for name, value in pairs)

    return write_all


def _write(table: Table, value: Mapping[str, Any]) -> bytes:
    out = []
    extensions = []
    for key, inner in value.items():
        if key in table:
            out.append(table[key][1](inner))
        elif key.startswith("x-") and "x-" in table:
            body = _chunk(1, key.encode()) + _chunk(2, _any_body(inner))
            extensions.append(_chunk(table["x-"][0], body))
    return b"".join((*out, *extensions))


def _table(extensions: int, fields: Iterable[tuple[str, int, Callable[[int], Writer]]]) -> Table:
    table = {key: (number, make(number)) for key, number, make in fields}
    if extensions:
        table["x-"] = (extensions, _text(extensions))
    return table


_SCHEMA: Table = _table(
    31,
    [
        ("$ref", 1, _text),
        ("format", 2, _text),
        ("title", 3, _text),
        ("description", 4, _text),
        ("default", 5, _any),
        ("multipleOf", 6, _double),
        ("maximum", 7, _double),
        ("exclusiveMaximum", 8, _flag),
        ("minimum", 9, _double),
        ("exclusiveMinimum", 10, _flag),
        ("maxLength", 11, _count),
        ("minLength", 12, _count),
        ("pattern", 13, _text),
        ("maxItems", 14, _count),
        ("minItems", 15, _count),
        ("uniqueItems", 16, _flag),
        ("maxProperties", 17, _count),
        ("minProperties", 18, _count),
        ("required", 19, _texts),
        ("enum", 20, _anys),
        ("example", 30, _any),
    ],
)


def _schema(number: int) -> Writer:
    return _message(number, _SCHEMA)


def _write_additional(value: Any) -> bytes:
    body = _flag(2)(value) if isinstance(value, bool) else _schema(1)(value)
    return _chunk(21, body)


def _write_type(value: Any) -> bytes:
    names = [value] if isinstance(value, str) else value
    return _chunk(22, _texts(1)(names))


def _write_items(value: Any) -> bytes:
    return _chunk(23, b"".join(map(_schema(1), value if isinstance(value, list) else [value])))


def _write_all_of(values: Any) -> bytes:
    return b"".join(map(_schema(24), values))


def _write_properties(values: Any) -> bytes:
    return _chunk(25, _named(1, _schema(2))(values))


_SCHEMA.update(
    {
        "additionalProperties": (21, _write_additional),
        "type": (22, _write_type),
        "items": (23, _write_items),
        "allOf": (24, _write_all_of),
        "properties": (25, _write_properties),
    }
)
_BODY = _table(6, [("name", 2, _text), ("in", 3, _text), ("required", 4, _flag)])
_BODY["schema"] = (5, _schema(5))
_QUERY = _table(
    23,
    [
        ("required", 1, _flag),
        ("in", 2, _text),
        ("name", 4, _text),
        ("type", 6, _text),
        ("uniqueItems", 20, _flag),
    ],
)
_PATH_PART = _table(
    22,
    [
        ("required", 1, _flag),
        ("in", 2, _text),
        ("name", 4, _text),
        ("type", 5, _text),
        ("uniqueItems", 19, _flag),
    ],
)


def _write_parameter(number: int, parameter: Object) -> bytes:
    """A parameter is wrapped three times: as an item, by whether it is a body, by its place."""
    if parameter["in"] == "body":
        inner = _chunk(1, _write(_BODY, parameter))
    elif parameter["in"] == "query":
        inner = _chunk(2, _chunk(3, _write(_QUERY, parameter)))
    else:
        inner = _chunk(2, _chunk(4, _write(_PATH_PART, parameter)))
    return _chunk(number, _chunk(1, inner))


def _parameters(number: int) -> Writer:
    return lambda values: b"".join(_write_parameter(number, value) for value in values)


def _write_response(value: Object) -> bytes:
    body = _chunk(1, value["description"].encode())
    if "schema" in value:
        body += _chunk(2, _schema(1)(value["schema"]))
    return _chunk(2, _chunk(1, body))


def _responses(number: int) -> Writer:
    return lambda values: _chunk(number, _named(1, _write_response)(values))


_OPERATION = _table(
    13,
    [
        ("tags", 1, _texts),
        ("operationId", 5, _text),
        ("produces", 6, _texts),
        ("consumes", 7, _texts),
        ("parameters", 8, _parameters),
        ("responses", 9, _responses),
        ("schemes", 10, _texts),
    ],
)


def _operation(number: int) -> Writer:
    return _message(number, _OPERATION)


_PATH = _table(
    10,
    [
        ("get", 2, _operation),
        ("put", 3, _operation),
        ("post", 4, _operation),
        ("delete", 5, _operation),
        ("patch", 8, _operation),
        ("parameters", 9, _parameters),
    ],
)
_INFO = _table(7, [("title", 1, _text), ("version", 2, _text)])
_DOCUMENT: Table = {
    "swagger": (1, _text(1)),
    "info": (2, _message(2, _INFO)),
    "paths": (8, lambda values: _chunk(8, _named(2, _message(2, _PATH))(values))),
    "definitions": (9, lambda values: _chunk(9, _named(1, _schema(2))(values))),
}
