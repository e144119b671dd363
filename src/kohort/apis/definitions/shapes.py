"""
Whether an object fits its definition: the types of its fields, and the required ones.

The definition on a cluster may be another project's, or may have become stricter after
an object was stored. So every object is checked against our definition before any code
relies on its shape, and a wrong object gives a sentence instead of an exception. Admission
checks the values: a number that is too large is still a number. A null counts as absent,
as it does for the API server.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import orjson

from kohort.apis.definitions.embedded_types import METADATA, POD_SPEC, POD_TEMPLATE, embed_type
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity

# Deeper than any field of Kubernetes; JSON encoders still accept it.
DEPTH_MAX = 200
_SHOWN_MAX = 60
_INT_OR_STRING = "x-kubernetes-int-or-string"
# What every view reads of a status, also where the definition does not describe it.
_COMMON_STATUS: Object = {
    "conditions": {"type": "array", "items": {"type": "object"}},
    "observedGeneration": {"type": "integer"},
}
_NOUNS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


class Shape:
    """The shape of the objects of one definition, in one of its versions."""

    def __init__(self, definition: Object, version: str = "") -> None:
        versions = (definition.get("spec") or {}).get("versions") or [{}]
        found = next((v for v in versions if v.get("name") == version), versions[0])
        root: Object = (found.get("schema") or {}).get("openAPIV3Schema") or {}
        properties: Object = dict(root.get("properties") or {})
        self._status: Object = properties.pop("status", {})
        self._root = {**root, "properties": {**properties, "metadata": embed_type(METADATA)}}

    def find_misfit(self, obj: Any) -> str:
        """The first error in metadata and spec, as a sentence; or nothing."""
        if is_deeper(obj, DEPTH_MAX):
            return f"the object is nested more than {DEPTH_MAX} levels deep"
        return _find_misfit(self._root, obj, "")

    def find_status_misfits(self, obj: Object) -> tuple[str, ...]:
        """The fields of the status that have a wrong type."""
        status = obj.get("status")
        if not isinstance(status, dict):
            return ()
        properties = {**_COMMON_STATUS, **(self._status.get("properties") or {})}
        known = {name: value for name, value in status.items() if name in properties}
        return tuple(
            name
            for name, value in known.items()
            if value is None
            or _find_misfit(properties[name], value, name, requires=False)
            or (name == "conditions" and not all(map(_has_claim, value)))
        )


def is_deeper(value: Any, limit: int) -> bool:
    """Whether a value has more levels than the limit; without recursion, which has a limit too."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


@cache
def shape_of(define: Callable[[], Object], version: str = "") -> Shape:
    """The shape that a definition gives to a version, or to its first version; cached."""
    return Shape(define(), version)


def find_metadata_misfit(obj: Object) -> str:
    """The first error in the metadata of any object; or nothing."""
    return _find_misfit(_metadata(), obj.get("metadata"), "metadata")


def find_pod_misfit(pod: Object) -> str:
    """The first field of a pod with a wrong type; the API server reports missing fields."""
    wrong = find_metadata_misfit(pod)
    return wrong or _find_misfit(_pod_spec(), pod.get("spec"), "spec", requires=False)


def find_template_misfit(template: Any, path: str) -> str:
    """The first field of a pod template that has a wrong type; or nothing."""
    return find_type_misfit(_pod_template(), template, path)


def find_patch_misfit(patch: Any, path: str) -> str:
    """The first field of a strategic merge patch of a pod template that has a wrong type."""
    return find_template_misfit(_without_directives(patch), path)


def find_type_misfit(schema: Object, value: Any, path: str) -> str:
    """The first field that has another type than the schema says; or nothing."""
    return _find_misfit(schema, value, path, requires=False)


def _without_directives(patch: Any) -> Any:
    """The patch without the keys that say how to merge it, whose values have types of their own."""
    if isinstance(patch, dict):
        return {k: _without_directives(v) for k, v in patch.items() if not k.startswith("$")}
    return [_without_directives(inner) for inner in patch] if isinstance(patch, list) else patch


@cache
def _metadata() -> Object:
    return embed_type(METADATA)


@cache
def _pod_spec() -> Object:
    return embed_type(POD_SPEC)


@cache
def _pod_template() -> Object:
    return embed_type(POD_TEMPLATE)


def _find_misfit(schema: Object, value: Any, path: str, requires: bool = True) -> str:
    """The first field that does not fit the schema; no deeper than the schema itself."""
    if value is None:
        return ""
    if schema.get(_INT_OR_STRING):
        return _check_amount(schema, value, path)
    if not _has_type(schema.get("type"), value):
        return f"{path or 'the object'} must be {_NOUNS[schema['type']]}, not {_show(value)}"
    if isinstance(value, dict):
        return _check_members(schema, value, path, requires)
    if isinstance(value, list) and "items" in schema:
        return _check_items(schema["items"], value, path, requires)
    return ""


def _check_members(schema: Object, value: Mapping[str, Any], path: str, requires: bool) -> str:
    properties: Object = schema.get("properties") or {}
    for name in schema.get("required") or () if requires else ():
        if value.get(name) is None and "default" not in properties.get(name, {}):
            return f"{_join(path, name)} is missing"
    rest = schema.get("additionalProperties")
    for name, member in value.items():
        inner = properties.get(name, rest)
        if isinstance(inner, dict):
            found = _find_misfit(inner, member, _join(path, name), requires)
            if found:
                return found
    return ""


def _check_items(schema: Object, items: list[Any], path: str, requires: bool) -> str:
    for index, item in enumerate(items):
        here = f"{path}[{index}]"
        found = _find_misfit(schema, item, here, requires)
        if found or item is None:
            return found or f"{here} must not be null"
    return ""


def _check_amount(schema: Object, value: Any, path: str) -> str:
    pattern = schema.get("pattern")
    if not isinstance(value, int | str) or isinstance(value, bool):
        return f"{path} must be a number or a text, not {_show(value)}"
    if pattern and not (re.search(pattern, str(value)) and _is_quantity(value)):
        return f"{path} must be a quantity such as 500m or 1Gi, not {_show(value)}"
    return ""


def _is_quantity(value: str | int) -> bool:
    """Whether an amount can be read: the pattern lets 1e1.5 and thousands of digits pass."""
    try:
        parse_quantity(value)
    except ValueError:
        return False
    return True


def _has_type(name: str | None, value: Any) -> bool:
    match name:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer" | "number":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number and (name == "number" or value == value // 1)
    return True


def _has_claim(condition: Object) -> bool:
    texts = (condition.get("reason", ""), condition.get("message", ""))
    return all(isinstance(t, str) for t in (condition.get("type"), condition.get("status"), *texts))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _show(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
