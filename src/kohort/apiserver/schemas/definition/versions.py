"""
Versions of a definition: their names, schemas, scale, columns and selectable fields.

What all versions share is checked once and reported at the top of the spec.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

from kohort.apiserver.schemas.definition.field_errors import (
    find_label_fault,
    invalid,
    required,
)
from kohort.apiserver.schemas.definition.schema import find_schema_errors
from kohort.apiserver.schemas.definition.served import (
    find_column_errors,
    find_scale_errors,
    find_selectable_errors,
)
from kohort.apiserver.schemas.result_cache import ResultCache, hash_schema
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object

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
