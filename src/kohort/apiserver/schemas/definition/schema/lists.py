"""
Validation of list types: what a set or a map list needs to identify its entries.
"""

from collections.abc import Iterator

from kohort.apiserver.schemas.definition.field_errors import (
    forbidden,
    invalid,
    required,
    unsupported,
)
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
