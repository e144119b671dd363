"""
Discovery: the documents by which clients learn the served kinds, old and aggregated.

The documents are written when they are first asked for, and again when a custom
kind came or went; in between they are the same bytes with the same tag.
"""

import base64
import hashlib
from collections.abc import Callable

import orjson

from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.resource import Resource
from kohort.cluster.objects import Kind, Object

_CUSTOM_VERBS = (
    *("delete", "deletecollection", "get", "list"),
    *("patch", "create", "update", "watch"),
)
_OBJECT_VERBS = ("get", "patch", "update")
# The verbs of a subresource, and its kind where it is not that of the object.
SUBRESOURCES: dict[str, tuple[tuple[str, ...], tuple[str, str, str] | None]] = {
    "binding": (("create",), ("", "", "Binding")),
    "ephemeralcontainers": (_OBJECT_VERBS, None),
    "eviction": (("create",), ("policy", "v1", "Eviction")),
    "finalize": (("update",), None),
    "log": (("get",), None),
    "resize": (_OBJECT_VERBS, None),
    "scale": (_OBJECT_VERBS, ("autoscaling", "v1", "Scale")),
    "status": (_OBJECT_VERBS, None),
    "token": (("create",), ("authentication.k8s.io", "v1", "TokenRequest")),
}


class Discovery:
    """The discovery documents of a registry, as bytes."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._documents: dict[tuple[str, ...], bytes] = {}

    def _document(self, key: tuple[str, ...], write: Callable[[], Object]) -> bytes:
        if self._generation != self._registry.generation:
            self._documents.clear()
            self._generation = self._registry.generation
        found = self._documents.get(key)
        if found is None:
            found = self._documents[key] = orjson.dumps(write())
        return found

    def aggregated(self, root: str) -> bytes:
        """All kinds below ``api`` or ``apis``, in one document."""
        return self._document(("aggregated", root), lambda: self._write_aggregated(root))

    def groups(self) -> bytes:
        """The list of groups."""
        return self._document(("groups",), self._write_groups)

    def find_group(self, group: str) -> bytes | None:
        """One group, if it is served."""
        versions = self._registry.groups().get(group) if group else None
        if versions is None:
            return None
        return self._document(
            ("group", group),
            lambda: {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)},
        )

    def find_resources(self, group: str, version: str) -> bytes | None:
        """The kinds of one version of a group, if it is served."""
        if version not in self._registry.groups().get(group, ()):
            return None
        return self._document(
            ("resources", group, version), lambda: self._write_resources(group, version)
        )

    def is_custom(self, group: str) -> bool:
        """Whether a group is not one of the built-in ones."""
        return not any(
            r.kind.group == group and r.structural is None for r in self._registry.resources()
        )

    def paths(self) -> list[str]:
        """All paths that lead to a document about kinds."""
        groups = self._registry.groups()
        found = ["/api", "/apis"]
        for group, versions in groups.items():
            root = f"/apis/{group}" if group else "/api"
            found += [root, *(f"{root}/{version}" for version in versions)]
        return sorted(set(found))

    def _of(self, group: str, version: str) -> list[Resource]:
        kinds = self._registry.resources()
        return [r for r in kinds if (r.kind.group, r.kind.version) == (group, version)]

    def _write_groups(self) -> Object:
        groups = [_group(name, found) for name, found in self._registry.groups().items() if name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

    def _write_resources(self, group: str, version: str) -> Object:
        resources: list[Object] = []
        for resource in self._of(group, version):
            resources.append(_resource(resource))
            resources += [_subresource(resource, name) for name in _parts(resource)]
        head: Object = {"kind": "APIResourceList"}
        if group:
            head["apiVersion"] = "v1"
        group_version = f"{group}/{version}" if group else version
        return {**head, "groupVersion": group_version, "resources": resources}

    def _write_aggregated(self, root: str) -> Object:
        groups = self._registry.groups()
        items: list[Object] = []
        for group, versions in groups.items():
            if bool(group) is (root == "api"):
                continue
            items.append(
                {
                    "metadata": {"name": group} if group else {},
                    "versions": [
                        {
                            "version": version,
                            "resources": [_discovered(r) for r in self._of(group, version)],
                            "freshness": "Current",
                        }
                        for version in versions
                    ],
                }
            )
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }


def tag_of(raw: bytes) -> str:
    """The entity tag of a document."""
    return f'"{hashlib.sha512(raw).hexdigest().upper()}"'


def _group(name: str, versions: list[str]) -> Object:
    found = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": found, "preferredVersion": found[0]}


def _verbs(resource: Resource) -> list[str]:
    """The verbs of a kind; like a real server, in another order for custom kinds."""
    if resource.structural is None:
        return list(resource.verbs)
    return [verb for verb in _CUSTOM_VERBS if verb in resource.verbs]


def _parts(resource: Resource) -> list[str]:
    return sorted(resource.subresources, reverse=resource.structural is not None)


def _names(resource: Resource) -> Object:
    names: Object = {}
    if resource.short_names:
        names["shortNames"] = list(resource.short_names)
    if resource.categories:
        names["categories"] = list(resource.categories)
    return names


def _resource(resource: Resource) -> Object:
    kind = resource.kind
    found: Object = {
        "name": kind.plural,
        "singularName": resource.singular or kind.name.lower(),
        "namespaced": kind.namespaced,
        "kind": kind.name,
        "verbs": _verbs(resource),
        **_names(resource),
    }
    if "list" in resource.verbs:
        found["storageVersionHash"] = _storage_hash(kind)
    return found


def _storage_hash(kind: Kind) -> str:
    digest = hashlib.sha256(f"{kind.group}/{kind.version}/{kind.name}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _subresource(resource: Resource, name: str) -> Object:
    verbs, other = SUBRESOURCES[name]
    found: Object = {
        "name": f"{resource.kind.plural}/{name}",
        "singularName": "",
        "namespaced": resource.kind.namespaced,
    }
    group, version, kind = other or ("", "", resource.kind.name)
    if group:
        found |= {"group": group, "version": version}
    return {**found, "kind": kind, "verbs": list(verbs)}


def _discovered(resource: Resource) -> Object:
    kind = resource.kind
    own = _response_kind(resource)
    found: Object = {
        "resource": kind.plural,
        "responseKind": own,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": resource.singular or kind.name.lower(),
        "verbs": _verbs(resource),
        **_names(resource),
    }
    if resource.subresources:
        found["subresources"] = [_discovered_part(name, own) for name in _parts(resource)]
    return found


def _response_kind(resource: Resource) -> Object:
    """The responseKind of a resource; built-in kinds omit group and version."""
    kind = resource.kind
    if resource.structural is None:
        return {"group": "", "version": "", "kind": kind.name}
    return {"group": kind.group, "version": kind.version, "kind": kind.name}


def _discovered_part(name: str, own: Object) -> Object:
    verbs, other = SUBRESOURCES[name]
    shown = own if other is None else dict(zip(("group", "version", "kind"), other, strict=True))
    return {"subresource": name, "responseKind": shown, "verbs": list(verbs)}
