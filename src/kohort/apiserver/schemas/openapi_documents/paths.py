"""
The paths of an OpenAPI document: the requests that a kind supports.

Parameters and answers are those that clients are known to look for. The patch
operation and its ``fieldValidation`` tell kubectl that the server checks
fields, and ``x-kubernetes-group-version-kind`` tells it which operation is
meant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kohort.apiserver.schemas.builtin import META
from kohort.apiserver.schemas.openapi_documents.schemas import reference
from kohort.cluster.objects import Kind, Object

_FORMS = ("application/json", "application/yaml")
_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_STRATEGIC = "application/strategic-merge-patch+json"
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_DELETE = ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
_LIST = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
_TYPES = {
    "force": "boolean",
    "orphanDependents": "boolean",
    "allowWatchBookmarks": "boolean",
    "sendInitialEvents": "boolean",
    "watch": "boolean",
    "gracePeriodSeconds": "integer",
    "limit": "integer",
    "timeoutSeconds": "integer",
}
_POSTED = ("binding", "eviction", "token")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The facts about one kind from which its paths are written."""

    kind: Kind
    definition: str
    list_definition: str
    verbs: Sequence[str]
    subresources: Mapping[str, str]  # to the definition that is read and written there
    is_built_in: bool


def write_paths(endpoint: Endpoint) -> Object:
    """All paths of one kind."""
    kind = endpoint.kind
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    folder = f"{root}/namespaces/{{namespace}}" if kind.namespaced else root
    many, one = f"{folder}/{kind.plural}", f"{folder}/{kind.plural}/{{name}}"
    paths = {many: _collection(endpoint), one: _item(endpoint, endpoint.definition, "")}
    if kind.namespaced and "list" in endpoint.verbs:
        everywhere = _operation(endpoint, "list", endpoint.list_definition, "ForAllNamespaces")
        paths[f"{root}/{kind.plural}"] = {"get": everywhere, "parameters": []}
    for name, definition in endpoint.subresources.items():
        paths[f"{one}/{name}"] = _subresource(endpoint, name, definition)
    for path, item in paths.items():
        names = [name for name in ("name", "namespace") if f"{{{name}}}" in path]
        item["parameters"] = [_parameter(name, "path") for name in names]
    return {path: item for path, item in paths.items() if len(item) > 1}


def _collection(endpoint: Endpoint) -> Object:
    operations: Object = {}
    if "list" in endpoint.verbs:
        operations["get"] = _operation(endpoint, "list", endpoint.list_definition)
    if "create" in endpoint.verbs:
        operations["post"] = _operation(endpoint, "post", endpoint.definition)
    if "deletecollection" in endpoint.verbs:
        operations["delete"] = _operation(endpoint, "deletecollection", META + "Status")
    return operations


def _item(endpoint: Endpoint, definition: str, suffix: str) -> Object:
    pairs = (("get", "get"), ("update", "put"), ("delete", "delete"), ("patch", "patch"))
    return {
        method: _operation(endpoint, method, definition, suffix)
        for verb, method in pairs
        if verb in endpoint.verbs and not (suffix and method == "delete")
    }


def _subresource(endpoint: Endpoint, name: str, definition: str) -> Object:
    suffix = name.capitalize()
    if name in _POSTED:
        return {"post": _operation(endpoint, "post", definition, suffix)}
    if name in ("status", "scale"):
        return _item(endpoint, definition, suffix)
    return {"get": _operation(endpoint, "get", "", suffix)}


_WORDS = {
    "get": "read",
    "list": "list",
    "post": "create",
    "put": "replace",
    "patch": "patch",
    "delete": "delete",
    "deletecollection": "delete",
}
_QUERIES: dict[str, tuple[str, ...]] = {
    "get": (),
    "list": _LIST,
    "post": _WRITE,
    "put": _WRITE,
    "patch": (*_WRITE, "force"),
    "delete": _DELETE,
    "deletecollection": (*_DELETE, *_LIST[1:7]),
}


def _operation(endpoint: Endpoint, action: str, definition: str, suffix: str = "") -> Object:
    kind = endpoint.kind
    group = kind.group.removesuffix(".k8s.io") if endpoint.is_built_in else kind.group
    title = "".join(part.capitalize() for part in (group or "core").split("."))
    scope = "Namespaced" if kind.namespaced and suffix != "ForAllNamespaces" else ""
    several = "Collection" if action == "deletecollection" else ""
    version = kind.version.capitalize()
    operation: Object = {
        "tags": [f"{(group or 'core').replace('.', '')}_{kind.version}"],
        "operationId": f"{_WORDS[action]}{title}{version}{several}{scope}{kind.name}{suffix}",
        "parameters": [_parameter(name, "query") for name in _QUERIES[action]],
    }
    body = _body(endpoint, action, definition)
    if body:
        operation["requestBody"] = {"content": body}
    operation["responses"] = {"200": _answer(definition), "401": {"description": "Unauthorized"}}
    operation["x-kubernetes-action"] = action
    operation["x-kubernetes-group-version-kind"] = {
        "group": kind.group,
        "version": kind.version,
        "kind": kind.name,
    }
    return operation


def _body(endpoint: Endpoint, action: str, definition: str) -> Object:
    if action in ("post", "put"):
        return {form: {"schema": reference(definition)} for form in _FORMS}
    if action in ("delete", "deletecollection"):
        return {form: {"schema": reference(META + "DeleteOptions")} for form in _FORMS}
    if action == "patch":
        forms = (*_PATCHES, _STRATEGIC) if endpoint.is_built_in else _PATCHES
        return {form: {"schema": reference(META + "Patch")} for form in forms}
    return {}


def _answer(definition: str) -> Object:
    schema: Object = reference(definition) if definition else {"type": "string"}
    return {"description": "OK", "content": {form: {"schema": schema} for form in _FORMS}}


def _parameter(name: str, place: str) -> Object:
    schema: Any = {"type": _TYPES.get(name, "string"), "uniqueItems": True}
    parameter = {"name": name, "in": place, "schema": schema}
    return {**parameter, "required": True} if place == "path" else parameter
