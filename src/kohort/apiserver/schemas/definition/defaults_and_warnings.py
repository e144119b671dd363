"""
Defaults of a CustomResourceDefinition, and warnings for its author.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from kohort.apiserver.schemas.result_cache import look_once
from kohort.apiserver.schemas.structural.checks.formats import find_format
from kohort.cluster.objects import Object

_NUMBER_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def default_definition(crd: Object) -> None:
    """Set defaults in place: names, conversion strategy, and the port of a conversion webhook."""
    spec: Object = crd.setdefault("spec", {})
    names: Object = spec.setdefault("names", {})
    kind: str = names.get("kind") or ""
    if kind:
        if not names.get("singular"):
            names["singular"] = kind.lower()
        if not names.get("listKind"):
            names["listKind"] = f"{kind}List"
    conversion: Object = spec.get("conversion") or {}
    conversion.setdefault("strategy", "None")
    spec["conversion"] = conversion
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)
    if not spec.get("preserveUnknownFields"):
        spec.pop("preserveUnknownFields", None)


def warnings_of(crd: Object, old: Object | None = None) -> list[str]:
    """Warnings for the author: formats that the server does not check, each once."""
    found = dict.fromkeys(_unknown_formats(crd))
    before = set(_unknown_formats(old)) if found and old is not None else set()
    found = {name: None for name in found if name not in before}
    return [f'unrecognized format "{name}"' for name in found]


def _unknown_formats(crd: Object) -> Iterator[str]:
    for version in (crd.get("spec") or {}).get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if isinstance(schema, dict):
            yield from _unknown_formats_in(schema)


def _unknown_formats_in(schema: Object) -> Iterable[str]:
    return look_once("formats", schema, lambda: _visit(schema))


def _visit(schema: Object) -> Iterator[str]:
    name, type_ = schema.get("format"), schema.get("type") or ""
    if name and not _is_known(name, type_):
        yield name
    for inner in children_of(schema):
        yield from _unknown_formats_in(inner)


def _is_known(name: str, type_: str) -> bool:
    if type_ in ("", "string"):
        return find_format(name) is not None
    return name in _NUMBER_FORMATS.get(type_, ())


def children_of(schema: Object) -> Iterator[Object]:
    """The direct subschemas of a schema."""
    yield from (schema.get("properties") or {}).values()
    inner: list[Any] = [schema.get("items"), schema.get("additionalProperties"), schema.get("not")]
    for keyword in ("allOf", "anyOf", "oneOf"):
        inner += schema.get(keyword) or ()
    yield from (entry for entry in inner if isinstance(entry, dict))
