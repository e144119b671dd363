"""
Structurality: every field of a schema is declared, with its type, outside of alternatives.

Alternatives may narrow values and nothing else, so that pruning and defaulting
never depend on which of them holds.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from kohort.apiserver.schemas.definition.field_errors import forbidden, invalid, required
from kohort.apiserver.schemas.result_cache import look_once
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object
from kohort.cluster.patterns import BadPatternError, compile_pattern

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_WHERE = {"root": "at the root", "item": "for specified array items"}
_EMPTY = {"type", "title", "description", "x-kubernetes-list-map-keys", "x-kubernetes-validations"}
_FALSE = {
    "nullable",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
}
_UNDEFINED = {"default", "additionalProperties", "x-kubernetes-list-type", "x-kubernetes-map-type"}
_NOT_IN_ALTERNATIVES = (
    {keyword: "must be empty to be structural" for keyword in _EMPTY}
    | {keyword: "must be false to be structural" for keyword in _FALSE}
    | {keyword: "must be undefined to be structural" for keyword in _UNDEFINED}
)


def find_structure_errors(schema: Object, path: str) -> list[FieldError]:
    """The reasons why a schema is not structural, sorted by text as the API does."""
    return sorted(_visit(schema, path, "root"), key=str)


def _visit(schema: Object, path: str, level: str) -> Iterable[FieldError]:
    return look_once(("structure", level), schema, lambda: _visit_part(schema, path, level))


def _visit_part(schema: Object, path: str, level: str) -> Iterator[FieldError]:
    yield from _find_type_errors(schema, path, level)
    yield from _find_embedded_errors(schema, path, level)
    yield from _find_value_errors(schema, path)
    items, values = schema.get("items"), schema.get("additionalProperties")
    if schema.get("type") == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _visit(items, f"{path}.items", "item")
    for name, inner in (schema.get("properties") or {}).items():
        yield from _visit(inner, f"{path}.properties[{name}]", "field")
    if values is not None and level == "root":
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(values, dict):
        yield from _visit(values, f"{path}.additionalProperties", "field")


def _find_type_errors(schema: Object, path: str, level: str) -> Iterator[FieldError]:
    type_: str = schema.get("type") or ""
    is_loose = bool(schema.get("x-kubernetes-int-or-string"))
    preserves = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    if embedded and type_ != "object":
        detail = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", type_, detail) if type_ else required(f"{path}.type", detail)
    elif not type_ and not is_loose and not preserves:
        where = _WHERE.get(level, "for specified object fields")
        yield required(f"{path}.type", f"must not be empty {where}")
    if level == "root" and type_ and type_ != "object":
        yield invalid(f"{path}.type", type_, "must be object at the root")
    if is_loose:
        for keyword in ("preserve-unknown-fields", "embedded-resource"):
            if schema.get(f"x-kubernetes-{keyword}"):
                detail = "must be false if x-kubernetes-int-or-string is true"
                yield invalid(f"{path}.x-kubernetes-{keyword}", True, detail)


def _find_embedded_errors(schema: Object, path: str, level: str) -> Iterator[FieldError]:
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    properties: Object = schema.get("properties") or {}
    whole = level == "root" or embedded
    if embedded and schema.get("additionalProperties") is not None:
        detail = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(f"{path}.additionalProperties", detail)
    if embedded and not properties and not schema.get("x-kubernetes-preserve-unknown-fields"):
        yield required(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields",
        )
    for name, type_ in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        found = properties.get(name, {}).get("type", "")
        if whole and name in properties and found != type_:
            yield invalid(f"{path}.properties[{name}].type", found, f"must be {type_}")
    if level == "root" and "metadata" in properties and _says_too_much(properties["metadata"]):
        yield forbidden(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified",
        )


def _says_too_much(metadata: Object) -> bool:
    known = {"type", "properties", "default"}
    fields = set(metadata.get("properties") or ())
    return bool(set(metadata) - known) or bool(fields - {"name", "generateName"})


def _find_value_errors(schema: Object, path: str) -> Iterator[FieldError]:
    if pattern := schema.get("pattern"):
        yield from _find_pattern_errors(pattern, path)
    anys: list[Any] = schema.get("anyOf") or []
    alls: list[Any] = schema.get("allOf") or []
    if anys != _INT_OR_STRING:
        for index, inner in enumerate(anys):
            yield from _visit_alternative(inner, f"{path}.anyOf[{index}]")
    for index, inner in enumerate(alls):
        where = f"{path}.allOf[{index}]"
        is_pair = index == 0 and inner.get("anyOf") == _INT_OR_STRING
        kept = {key: value for key, value in inner.items() if key != "anyOf"} if is_pair else inner
        yield from _visit_alternative(kept, where)
    for index, inner in enumerate(schema.get("oneOf") or ()):
        yield from _visit_alternative(inner, f"{path}.oneOf[{index}]")
    if isinstance(schema.get("not"), dict):
        yield from _visit_alternative(schema["not"], f"{path}.not")


def _visit_alternative(schema: Object, path: str) -> Iterator[FieldError]:
    yield from _find_value_errors(schema, path)
    for keyword, detail in _NOT_IN_ALTERNATIVES.items():
        if schema.get(keyword) or (keyword in _UNDEFINED and schema.get(keyword) is not None):
            yield forbidden(f"{path}.{keyword}", detail)
    if isinstance(schema.get("items"), dict):
        yield from _visit_alternative(schema["items"], f"{path}.items")
    for name, inner in (schema.get("properties") or {}).items():
        where = f"{path}.properties[{name}]"
        yield from _visit_alternative(inner, where)
        if name == "metadata":
            yield forbidden(where, "must not be specified in a nested context")


def _find_pattern_errors(pattern: str, path: str) -> Iterator[FieldError]:
    try:
        compile_pattern(pattern)
    except BadPatternError as error:
        detail = f"must be a valid regular expression, but isn't: error parsing regexp: {error}"
        yield invalid(f"{path}.pattern", pattern, detail)
