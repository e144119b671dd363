"""
OpenAPI v3 documents: the schemas of the served kinds, and the requests that each kind supports.

There is one document for each group and version. Clients read two things from
it: the schemas, to explain fields, and the parameters of the patch operation,
to learn whether the server checks fields itself. Names of definitions and
paths are the real ones, because clients look them up. Built-in types come from
shapes and carry no prose; the schema of a custom kind is published as its
author wrote it, prose and all, since it is theirs.

Parameters and answers are those that clients are known to look for. The patch
operation and its ``fieldValidation`` tell kubectl that the server checks
fields, and ``x-kubernetes-group-version-kind`` tells it which operation is
meant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from kohort.apiserver.schemas.builtin import META, list_kinds, load_definition
from kohort.apiserver.schemas.shape_schemas import reference, write_definitions
from kohort.apiserver.schemas.shapes import Shape
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


RELEASE = "1.36"
_SUBRESOURCES = {
    "binding": "io.k8s.api.core.v1.Binding",
    "eviction": "io.k8s.api.policy.v1.Eviction",
    "scale": "io.k8s.api.autoscaling.v1.Scale",
    "token": "io.k8s.api.authentication.v1.TokenRequest",
}
_EVERYWHERE = (META + "DeleteOptions", META + "Patch", META + "Status")


@dataclass(frozen=True, slots=True)
class Published:
    """One kind to publish: a built-in one by its shape, a custom one by its raw schema."""

    kind: Kind
    shape: Shape | None = None
    schema: Object = field(default_factory=dict)
    list_kind: str = ""
    verbs: Sequence[str] = (
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
    )
    subresources: Sequence[str] = ()


def name_document(group: str, version: str) -> str:
    """The name of the document of a group and version: api/v1, apis/apps/v1."""
    return f"apis/{group}/{version}" if group else f"api/{version}"


def write_document(kinds: Sequence[Published]) -> Object:
    """The document of one group and version, given all its kinds."""
    schemas: Object = {}
    wanted = {*_EVERYWHERE}
    for entry in kinds:
        wanted.update(_SUBRESOURCES[sub] for sub in entry.subresources if sub in _SUBRESOURCES)
        if _is_built_in(entry):
            wanted.update(_built_in_names(_name(entry)))
        else:
            wanted.update((META + "ObjectMeta", META + "ListMeta"))
            schemas.update(_write_custom(entry))
    schemas.update(write_definitions(map(load_definition, wanted), _group_version_kinds(kinds)))
    paths: Object = {}
    for entry in kinds:
        paths.update(write_paths(_endpoint(entry)))
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": RELEASE},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def write_index(documents: Mapping[str, str]) -> Object:
    """The list of documents: names such as apis/apps/v1, and the hash of each."""
    return {
        "paths": {
            name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}
            for name, digest in sorted(documents.items())
        }
    }


def encode_document(document: Object) -> bytes:
    """The document as bytes."""
    return orjson.dumps(document)


def definition_name(kind: Kind) -> str:
    """The name of a custom kind's definition: the group is written backwards."""
    group = ".".join(reversed(kind.group.split(".")))
    return f"{group}.{kind.version}.{kind.name}"


def _built_in_names(name: str) -> Iterable[str]:
    known = {name for _, _, name in list_kinds()}
    return [name, *({f"{name}List"} & known)]


def _group_version_kinds(kinds: Sequence[Published]) -> dict[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for api_version, kind, name in list_kinds():
        group, _, version = api_version.rpartition("/")
        found.setdefault(name, []).append({"group": group, "kind": kind, "version": version})
    # Options may be sent in the core version or in that of the kind.
    versions = dict.fromkeys([("", "v1"), *((e.kind.group, e.kind.version) for e in kinds)])
    found[META + "DeleteOptions"] = [
        {"group": group, "kind": "DeleteOptions", "version": version} for group, version in versions
    ]
    found[META + "Status"] = [{"group": "", "kind": "Status", "version": "v1"}]
    return found


def _write_custom(entry: Published) -> Object:
    kind, name = entry.kind, definition_name(entry.kind)
    list_kind = entry.list_kind or f"{kind.name}List"
    text: Object = {"type": "string"}
    schema: Object = {"type": "object", **entry.schema}
    schema["properties"] = {
        "apiVersion": text,
        "kind": text,
        **entry.schema.get("properties", {}),
        "metadata": {"allOf": [reference(META + "ObjectMeta")]},
    }
    schema["x-kubernetes-group-version-kind"] = [_identify(kind, kind.name)]
    listed: Object = {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": text,
            "items": {"type": "array", "items": reference(name)},
            "kind": text,
            "metadata": {"allOf": [reference(META + "ListMeta")]},
        },
        "x-kubernetes-group-version-kind": [_identify(kind, list_kind)],
    }
    return {name: schema, name.removesuffix(kind.name) + list_kind: listed}


def _identify(kind: Kind, name: str) -> Object:
    return {"group": kind.group, "kind": name, "version": kind.version}


def _is_built_in(entry: Published) -> bool:
    return entry.shape is not None and bool(entry.shape.name)


def _name(entry: Published) -> str:
    own = entry.shape.name if entry.shape is not None else ""
    return own or definition_name(entry.kind)


def _endpoint(entry: Published) -> Endpoint:
    name = _name(entry)
    list_kind = entry.list_kind or f"{entry.kind.name}List"
    return Endpoint(
        kind=entry.kind,
        definition=name,
        list_definition=name.removesuffix(entry.kind.name) + list_kind,
        verbs=entry.verbs,
        subresources={sub: _SUBRESOURCES.get(sub, name) for sub in entry.subresources},
        is_built_in=_is_built_in(entry),
    )
