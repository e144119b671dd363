"""
Validation of a version's scale subresource, printer columns and selectable fields.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apiserver.schemas.definition.field_errors import invalid, required
from kohort.apiserver.schemas.definition.schema.fieldpaths import PathFault, find_field
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
