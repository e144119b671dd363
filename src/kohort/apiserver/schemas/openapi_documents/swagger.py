"""
The OpenAPI v2 document for older clients, merged from the v3 documents.

kubectl and helm fall back to it for a kind that no v3 document has, to find out that
the server does not serve the kind; without it they stop at the first unknown kind of a file.
OpenAPI v2 cannot say "null is allowed", "one of" and "any of", so those parts of a
custom kind's schema are left out, and a field that may be of several types is
published without a type, as the API server of Kubernetes does.
"""

from collections.abc import Iterable, Mapping
from typing import Any

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
            paths[path] = _write_path(item)
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


def _write_path(item: Object) -> Object:
    out: Object = {method: _write_operation(item[method]) for method in _METHODS if method in item}
    out["parameters"] = [_write_parameter(p) for p in item["parameters"]]
    return out


def _write_operation(operation: Object) -> Object:
    out = {key: value for key, value in operation.items() if key != "requestBody"}
    body = operation.get("requestBody", {}).get("content") or {}
    out["consumes"] = sorted(body) or ["*/*"]
    parameters = [_write_parameter(p) for p in operation["parameters"]]
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


def _write_parameter(parameter: Object) -> Object:
    rest = {key: value for key, value in parameter.items() if key != "schema"}
    return {**rest, **parameter["schema"]}
