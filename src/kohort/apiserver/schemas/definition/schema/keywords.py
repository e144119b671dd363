"""
Keywords of a schema: which are allowed where, and what they need beside them.

A list type needs the most: a set or a map list must be able to identify its entries.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kohort.apiserver.schemas.definition.field_errors import (
    forbidden,
    invalid,
    required,
    unsupported,
)
from kohort.apiserver.schemas.definition.schema.rules import find_rule_errors
from kohort.apiserver.schemas.result_cache import look_once
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object

_LIST_TYPE = "x-kubernetes-list-type"
_LIST_KEYS = "x-kubernetes-list-map-keys"
_MAP_TYPE = "x-kubernetes-map-type"


def find_list_errors(schema: Object, path: str) -> Iterator[FieldError]:
    """The errors in the list type of a schema."""
    list_type, keys = schema.get(_LIST_TYPE), schema.get(_LIST_KEYS) or []
    if list_type is None and not keys:
        return
    type_: str = schema.get("type") or ""
    if list_type is not None and type_ != "array":
        detail = "must be array if x-kubernetes-list-type is specified"
        yield invalid(f"{path}.type", type_, detail) if type_ else required(f"{path}.type", detail)
    elif list_type == "set":
        yield from _find_set_errors(schema, path)
    if list_type not in (None, "atomic", "set", "map"):
        yield unsupported(f"{path}.{_LIST_TYPE}", list_type, ["atomic", "set", "map"])
    if keys and list_type != "map":
        detail = "must be map if x-kubernetes-list-map-keys is non-empty"
        where = f"{path}.{_LIST_TYPE}"
        yield required(where, detail) if list_type is None else invalid(where, list_type, detail)
    if list_type == "map":
        yield from _find_keyed_errors(schema, keys, path)
    items = schema.get("items")
    if list_type in ("set", "map") and isinstance(items, dict) and items.get("nullable"):
        detail = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        yield forbidden(f"{path}.items.nullable", detail)


def _find_set_errors(schema: Object, path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if not isinstance(items, dict):
        return
    detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    inner = items.get(_LIST_TYPE)
    if items.get("type") == "array" and inner not in (None, "atomic"):
        yield invalid(f"{path}.items.{_LIST_TYPE}", inner, detail)
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        yield invalid(f"{path}.items.{_MAP_TYPE}", inner, detail)


def _find_keyed_errors(schema: Object, keys: list[str], path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if not keys:
        detail = "must not be empty if x-kubernetes-list-type is map"
        yield required(f"{path}.{_LIST_KEYS}", detail)
    if items is None:
        detail = "must have a schema if x-kubernetes-list-type is map"
        yield required(f"{path}.items", detail)
    elif isinstance(items, dict) and items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type") or "", detail)
    elif isinstance(items, dict):
        for position, key in enumerate(keys):
            yield from _find_key_errors(items, key, keys, path)
            if key in keys[:position]:
                yield invalid(f"{path}.{_LIST_KEYS}", keys, "must not contain duplicate entries")


def _find_key_errors(items: Object, key: str, keys: list[str], path: str) -> Iterator[FieldError]:
    field = (items.get("properties") or {}).get(key)
    if field is None:
        yield invalid(f"{path}.{_LIST_KEYS}", keys, "entries must all be names of item properties")
        return
    where = f"{path}.items.properties[{key}]"
    if field.get("type") in ("array", "object"):
        detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{where}.type", items["type"], detail)
    beside = "this property is in x-kubernetes-list-map-keys, so it"
    if key not in (items.get("required") or ()) and field.get("default") is None:
        yield required(
            f"{where}.default", f"{beside} must have a default or be a required property"
        )
    if field.get("nullable"):
        yield forbidden(f"{where}.nullable", f"{beside} cannot be nullable")


_TYPES = ["array", "boolean", "integer", "number", "object", "string"]
# Keywords of JSON schema that definitions cannot use, and that leave no structure to check.
_NOT_SUPPORTED = (
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
)
_META_FIELDS = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True, slots=True)
class Place:
    """The context of a subschema that decides which keywords are allowed."""

    root: bool = True
    inside_meta: bool = False
    # Why defaults are not allowed here; empty if they are.
    no_defaults: str = ""
    # The outermost list around it whose entries have no old counterpart.
    uncorrelated: str = ""


def find_keyword_errors(schema: Object, path: str, place: Place) -> Iterable[FieldError]:
    """The errors in the keywords of a schema and all schemas in it."""
    outside = (place.root, place.inside_meta, bool(place.no_defaults), bool(place.uncorrelated))
    return look_once(("keywords", *outside), schema, lambda: _visit(schema, path, place))


def _visit(schema: Object, path: str, place: Place) -> Iterator[FieldError]:
    yield from _find_own_errors(schema, path, place)
    yield from find_list_errors(schema, path)
    whole = place.root or bool(schema.get("x-kubernetes-embedded-resource"))
    yield from find_rule_errors(schema, path, place.uncorrelated, whole=whole)
    below = replace(place, root=False)
    values, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(values, dict):
        inner = below
        if place.inside_meta:
            reason = "inside additionalProperties applying to object metadata"
            inner = replace(below, no_defaults=reason)
        yield from find_keyword_errors(values, f"{path}.additionalProperties", inner)
    for name, field in (schema.get("properties") or {}).items():
        where = f"{path}.properties[{name}]"
        yield from find_keyword_errors(field, where, _enter(schema, name, place, below))
    if isinstance(items, dict):
        keyed = schema.get("x-kubernetes-list-type") == "map"
        inner = below if keyed or below.uncorrelated else replace(below, uncorrelated=path)
        yield from find_keyword_errors(items, f"{path}.items", inner)
    yield from _visit_alternatives(schema, path, below)


def _enter(schema: Object, name: str, place: Place, below: Place) -> Place:
    whole = place.root or bool(schema.get("x-kubernetes-embedded-resource"))
    if not whole or name not in _META_FIELDS:
        return below
    inner = replace(below, inside_meta=True)
    return replace(inner, no_defaults=f"in top-level {name}") if place.root else inner


def _visit_alternatives(schema: Object, path: str, below: Place) -> Iterator[FieldError]:
    if isinstance(schema.get("not"), dict):
        yield from find_keyword_errors(schema["not"], f"{path}.not", below)
    for keyword in ("allOf", "oneOf", "anyOf"):
        for index, inner in enumerate(schema.get(keyword) or ()):
            yield from find_keyword_errors(inner, f"{path}.{keyword}[{index}]", below)


def _find_own_errors(schema: Object, path: str, place: Place) -> Iterator[FieldError]:
    type_: str = schema.get("type") or ""
    if type_ and type_ not in _TYPES:
        yield unsupported(f"{path}.type", type_, _TYPES)
    if type_ == "null":
        yield forbidden(
            f"{path}.type", "type cannot be set to null, use nullable as an alternative"
        )
    if schema.get("default") is not None and place.no_defaults:
        yield forbidden(f"{path}.default", f"must not be set {place.no_defaults}")
    yield from _find_unsupported(schema, path)
    if place.inside_meta and schema.get("x-kubernetes-embedded-resource"):
        where = f"{path}.x-kubernetes-embedded-resource"
        yield forbidden(where, "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", detail)
    values = schema.get("additionalProperties")
    if schema.get("properties") and values is not None and values is not True:
        detail = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", detail)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        where = f"{path}.x-kubernetes-preserve-unknown-fields"
        yield invalid(where, False, "must be true or undefined")
    yield from _find_map_errors(schema.get("x-kubernetes-map-type"), type_, path)


def _find_unsupported(schema: Object, path: str) -> Iterator[FieldError]:
    for keyword in _NOT_SUPPORTED:
        if schema.get(keyword) not in (None, "", {}):
            yield forbidden(f"{path}.{keyword}", f"{keyword} is not supported")
    if isinstance(schema.get("items"), list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")


def has_no_structure(errors: list[FieldError]) -> bool:
    """Whether a keyword was found that makes the check of structure pointless."""
    return any(
        error.detail.endswith(("is not supported", "not an array", "as an alternative"))
        for error in errors
    )


def _find_map_errors(map_type: Any, type_: str, path: str) -> Iterator[FieldError]:
    if map_type is None:
        return
    if type_ != "object":
        detail = "must be object if x-kubernetes-map-type is specified"
        yield invalid(f"{path}.type", type_, detail) if type_ else required(f"{path}.type", detail)
    if map_type not in ("atomic", "granular"):
        yield unsupported(f"{path}.x-kubernetes-map-type", map_type, ["atomic", "granular"])
