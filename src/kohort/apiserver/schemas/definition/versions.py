"""
Versions of a definition: their names, schemas, scale, columns and selectable fields.

What all versions share is checked once and reported at the top of the spec.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

from kohort.apiserver.schemas.definition.field_errors import find_label_fault, invalid, required
from kohort.apiserver.schemas.definition.schema import find_schema_errors
from kohort.apiserver.schemas.definition.schema.rules import PathFault, find_field
from kohort.apiserver.schemas.result_cache import ResultCache, hash_schema
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE_MAX = 8
_REPLICAS_MAX = (1 << 31) - 1
# The API's names for types of values that are no integers.
_GO_TYPES: dict[type, str] = {
    str: "string",
    float: "float64",
    bool: "bool",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def find_scale_errors(subresources: Object, path: str) -> Iterator[FieldError]:
    """The errors in the paths of the scale subresource."""
    scale = subresources.get("scale")
    if scale is None:
        return
    for field, roots, words in (
        ("specReplicasPath", (".spec.",), "under .spec"),
        ("statusReplicasPath", (".status.",), "under .status"),
        ("labelSelectorPath", (".spec.", ".status."), "under either .spec or .status"),
    ):
        text, where = scale.get(field) or "", f"{path}.scale.{field}"
        if not text:
            if field != "labelSelectorPath":
                yield required(where)
        elif not text.startswith("."):
            yield invalid(where, text, "must be a simple json path starting with .")
        elif not text.startswith(roots):
            yield invalid(where, text, f"should be a json path {words}")


def validate_scale(obj: Object, scale: Object) -> list[FieldError]:
    """The errors in the numbers of an object that its scale subresource would serve."""
    paths = (scale.get("specReplicasPath") or "", scale.get("statusReplicasPath") or "")
    return [error for path in paths for error in _find_replica_errors(obj, path)]


def _find_replica_errors(obj: Object, path: str) -> Iterator[FieldError]:
    value: Any = obj
    for key in path.removeprefix(".").split("."):
        if not isinstance(value, dict) or key not in value:
            return
        value = value[key]
    if type(value) is not int:
        kind = _GO_TYPES.get(type(value), "<nil>")
        detail = f"{path} accessor error: {value} is of the type {kind}, expected int64"
        yield invalid(path, 0, detail)
    elif value < 0:
        yield invalid(path, value, "should be a non-negative integer")
    elif value > _REPLICAS_MAX:
        yield invalid(path, value, f"should be less than or equal to {_REPLICAS_MAX}")


def find_column_errors(columns: list[Object], path: str) -> Iterator[FieldError]:
    """The errors in the printer columns."""
    for index, column in enumerate(columns):
        where = f"{path}[{index}]"
        type_, text = column.get("type") or "", column.get("jsonPath") or ""
        choices = f"must be one of {','.join(_COLUMN_TYPES)}"
        if not column.get("name"):
            yield required(f"{where}.name")
        if not type_:
            yield required(f"{where}.type", choices)
        elif type_ not in _COLUMN_TYPES:
            yield invalid(f"{where}.type", type_, choices)
        if column.get("format") and column["format"] not in _COLUMN_FORMATS:
            choices = f"must be one of {','.join(_COLUMN_FORMATS)}"
            yield invalid(f"{where}.format", column["format"], choices)
        if not text:
            yield required(f"{where}.JSONPath")
        elif not text.startswith("."):
            yield invalid(f"{where}.JSONPath", text, "must be a simple json path starting with .")


def find_selectable_errors(version: Object, path: str) -> Iterator[FieldError]:
    """The errors in the fields that selectors may name."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    seen: set[str] = set()
    for index, field in enumerate(version.get("selectableFields") or ()):
        text, where = field.get("jsonPath") or "", f"{path}[{index}].jsonPath"
        if not text:
            yield required(where)
            continue
        try:
            found = find_field(text, schema, brackets=False)
        except PathFault as fault:
            yield invalid(where, text, f"is an invalid path: {fault}")
            continue
        yield from _find_target_errors(text, found, where)
        if text in seen:
            yield FieldError(FieldErrorType.DUPLICATE, where, "", text)
        seen.add(text)
    if len(seen) > _SELECTABLE_MAX:
        yield FieldError(
            FieldErrorType.TOO_MANY, path, f"must have at most {_SELECTABLE_MAX} items", len(seen)
        )


def _find_target_errors(text: str, found: Object, where: str) -> Iterator[FieldError]:
    if text.startswith(".metadata"):
        yield invalid(where, text, "must not point to fields in metadata")
    if found.get("type") not in ("string", "boolean", "integer"):
        yield invalid(
            where,
            text,
            "must point to a field of type string, boolean or integer. Enum string fields and "
            "strings with formats are allowed.",
        )


# Hashes of valid schemas, since validating half a megabyte takes half a second.
_faultless: ResultCache[tuple[bytes, bool], bool] = ResultCache(256)
_VERSION = re.compile(r"spec\.versions\[(\d+)\]")


def find_version_errors(spec: Object, before: Object | None = None) -> Iterator[FieldError]:
    """The errors in the versions; unchanged schemas are not validated again."""
    versions: list[Object] = spec.get("versions") or []
    for index, version in enumerate(versions):
        yield from _find_own_errors(version, f"spec.versions[{index}]")
    yield from _find_set_errors(versions, None if spec.get("versions") is None else _show(versions))
    if before is None or before.get("versions") != versions:
        yield from _find_schema_errors(versions)
    for field, find in (
        ("subresources", find_scale_errors),
        ("additionalPrinterColumns", find_column_errors),
    ):
        for value, path in _shared(versions, field, "spec", field):
            yield from find(value, path)
    for _, path in _shared(versions, "selectableFields", "spec", "selectableFields"):
        yield from find_selectable_errors(versions[_index_of(path)], path)


def _index_of(path: str) -> int:
    match = _VERSION.match(path)
    return int(match[1]) if match else 0


def _has_status(version: Object) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _shared(versions: list[Object], field: str, top: str, name: str) -> Iterator[tuple[Any, str]]:
    """The values of a field with their paths; one if all versions have the same."""
    values = [version.get(field) for version in versions]
    if values and values[0] and all(value == values[0] for value in values):
        yield values[0], f"{top}.{name}"
        return
    for index, value in enumerate(values):
        if value:
            yield value, f"spec.versions[{index}].{field}"


def _find_own_errors(version: Object, path: str) -> Iterator[FieldError]:
    name = version.get("name") or ""
    if fault := find_label_fault(name):
        if path == "spec.versions[0]" and name:
            yield invalid("spec.version", name, fault)
        yield invalid(f"{path}.name", name, fault)
    if not isinstance((version.get("schema") or {}).get("openAPIV3Schema"), dict):
        yield required(f"{path}.schema.openAPIV3Schema")
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    where = f"{path}.deprecationWarning"
    if not version.get("deprecated"):
        yield invalid(where, warning, "can only be set for deprecated versions")
    elif not warning:
        yield invalid(where, warning, "must not be an empty string")
    elif len(warning) > 256:
        yield invalid(where, warning, "must be <= 256 characters long")


def _find_set_errors(versions: list[Object], shown: Any) -> Iterator[FieldError]:
    names = [version.get("name") for version in versions]
    if len(set(names)) != len(names):
        yield invalid("spec.versions", shown, "must contain unique version names")
    if sum(1 for version in versions if version.get("storage")) != 1:
        detail = "must have exactly one version marked as storage version"
        yield invalid("spec.versions", shown, detail)


def _find_schema_errors(versions: list[Object]) -> Iterator[FieldError]:
    has_status = any(_has_status(version) for version in versions)
    for value, path in _shared(versions, "schema", "spec", "validation"):
        schema = value.get("openAPIV3Schema")
        if not isinstance(schema, dict):
            continue
        status = has_status if path == "spec.validation" else _has_status(versions[_index_of(path)])
        key = hash_schema(schema)
        if key and (key, status) in _faultless:
            continue
        errors = list(find_schema_errors(schema, f"{path}.openAPIV3Schema", has_status=status))
        yield from errors
        if key and not errors:
            _faultless.remember((key, status), True)


def _show(versions: list[Object]) -> Any:
    """Versions as the API's messages show them, without the fields that they share."""
    shown = [
        {
            "Name": version.get("name") or "",
            "Served": bool(version.get("served")),
            "Storage": bool(version.get("storage")),
            "Deprecated": bool(version.get("deprecated")),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": None,
            "Subresources": None,
            "AdditionalPrinterColumns": None,
            "SelectableFields": None,
        }
        for version in versions
    ]
    return orjson.Fragment(orjson.dumps(shown))
