"""
Responses for paths without objects: version, health, discovery, OpenAPI.

Most documents follow from the served kinds. Such a document is written at the first request
after these have changed, and has an ETag, since kubectl requests it with every command. The index
of OpenAPI documents needs to know only whether one has changed, and that follows from the kinds
in it.
"""

import asyncio
import hashlib
from collections.abc import Callable
from typing import NamedTuple

import orjson
from aiohttp import web

from kohort.apiserver.api.registry import Registry
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.openapi import (
    RELEASE,
    Published,
    encode_document,
    name_document,
    write_document,
    write_index,
)
from kohort.apiserver.schemas.openapi_v2 import merge_documents, write_protobuf
from kohort.apiserver.server.answers import (
    Call,
    make_headers,
    write_answer,
    write_bytes,
    write_text,
)
from kohort.apiserver.server.discovery import Discovery, tag_of
from kohort.apiserver.server.request.negotiation import JSON, Offer, choose_form
from kohort.apiserver.server.request.paths import Document
from kohort.apiserver.server.request.queries import first
from kohort.cluster.errors import MethodNotAllowed, NotFound


class Schema(NamedTuple):
    """One document, and the hash of its content for URLs."""

    raw: bytes
    digest: str


class _Version:
    """The kinds of one group and version."""

    def __init__(self, resources: list[Resource]) -> None:
        self.resources = resources
        self.digest = _digest(resources)
        self.raw = b""


class Schemas:
    """The published schemas of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._versions: dict[str, _Version] = {}
        self._index = b""
        self._merged: dict[bool, bytes] = {}  # the OpenAPI v2 document, by whether in protobuf

    def index(self) -> bytes:
        """The list of documents."""
        self._refresh()
        return self._index

    def find(self, name: str) -> Schema | None:
        """One document, by a name such as ``apis/apps/v1``."""
        self._refresh()
        version = self._versions.get(name)
        if version is None:
            return None
        if not version.raw:
            version.raw = encode_document(write_document(list(map(_publish, version.resources))))
        return Schema(version.raw, version.digest)

    def find_merged(self, *, as_protobuf: bool) -> bytes | None:
        """The OpenAPI v2 document of everything, if it is written already."""
        self._refresh()
        return self._merged.get(as_protobuf)

    def prepare_merged(self) -> Callable[[], tuple[bytes, bytes]]:
        """The work that writes the OpenAPI v2 document, as JSON and as protobuf: half a second."""
        self._refresh()
        versions = [list(map(_publish, v.resources)) for v in self._versions.values()]

        def write() -> tuple[bytes, bytes]:
            document = merge_documents(map(write_document, versions), RELEASE)
            return encode_document(document), write_protobuf(document)

        return write

    def keep_merged(self, generation: int, written: tuple[bytes, bytes]) -> None:
        """Remember the document that was written for this generation of the registry."""
        if generation == self._generation:
            self._merged = {False: written[0], True: written[1]}

    @property
    def generation(self) -> int:
        """The generation of the registry that is published."""
        self._refresh()
        return self._generation

    def _refresh(self) -> None:
        if self._generation == self._registry.generation:
            return
        self._generation = self._registry.generation
        found: dict[str, list[Resource]] = {}
        for resource in self._registry.resources():
            name = name_document(resource.kind.group, resource.kind.version)
            found.setdefault(name, []).append(resource)
        self._versions = {name: self._keep(name, kinds) for name, kinds in found.items()}
        digests = {name: version.digest for name, version in self._versions.items()}
        self._index = encode_document(write_index(digests))
        self._merged = {}

    def _keep(self, name: str, resources: list[Resource]) -> _Version:
        """The cached document of a version, if its kinds are unchanged."""
        known = self._versions.get(name)
        if known is not None and list(map(id, known.resources)) == list(map(id, resources)):
            return known
        return _Version(resources)


def _publish(resource: Resource) -> Published:
    is_custom = resource.structural is not None
    return Published(
        kind=resource.kind,
        shape=None if is_custom else resource.shape,
        schema=resource.schema,
        list_kind=resource.list_kind,
        verbs=resource.verbs,
        subresources=resource.subresources,
    )


def _digest(resources: list[Resource]) -> str:
    facts = [[r.kind.name, r.kind.plural, r.subresources, r.schema] for r in resources]
    return hashlib.sha512(orjson.dumps([RELEASE, facts])).hexdigest().upper()


VERSION = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.3+kohort",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "kohort/simulated",
}
_HEALTH = ("healthz", "livez", "readyz")
_CHECKS = ("ping", "store")
_SWAGGER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def no_method() -> MethodNotAllowed:
    """The error for a method that the path does not support."""
    return MethodNotAllowed(
        "the server does not allow this method on the requested resource", details={}
    )


def no_resource() -> NotFound:
    """The error for a kind or document that a served group does not have."""
    return NotFound("the server could not find the requested resource", details={})


def no_page() -> web.Response:
    """The error for an unknown path."""
    return write_text("404 page not found\n", 404)


class Documents:
    """Answers requests for paths without objects."""

    def __init__(self, registry: Registry, is_ready: Callable[[], bool]) -> None:
        self.discovery = Discovery(registry)
        self._is_ready = is_ready
        self._openapi = Schemas(registry)
        self._merging = asyncio.Lock()

    async def answer(self, call: Call, path: Document) -> web.StreamResponse:
        """The answer to a document's path."""
        root, *rest = path.segments or ("",)
        if root in _HEALTH and not path.is_folder:
            return self._health(call, root, rest)
        if root in ("api", "apis") and len(rest) < 3:
            _only_get(call)
            return await self._discover(call, root, rest)
        if path.segments == ("version",):
            _only_get(call)
            return await write_answer(call, orjson.dumps(VERSION))
        if root == "openapi":
            return await self._openapi_document(call, rest)
        if path.segments in ((), ("",)):
            return await write_answer(call, orjson.dumps({"paths": self._paths()}))
        return no_page()

    def _paths(self) -> list[str]:
        others = [*(f"/{name}" for name in _HEALTH), "/openapi/v2", "/openapi/v3", "/version"]
        return sorted([*self.discovery.paths(), *others])

    def _health(self, call: Call, name: str, rest: list[str]) -> web.Response:
        if rest and (len(rest) > 1 or rest[0] not in _CHECKS):
            return no_page()
        is_fine = name == "livez" or self._is_ready()
        if not rest and ("verbose" in call.query or not is_fine):
            return self._verbose_health(name, is_fine)
        return write_text("ok") if is_fine else write_text("internal server error: failed", 500)

    def _verbose_health(self, name: str, is_fine: bool) -> web.Response:
        if is_fine:
            lines = [*(f"[+]{check} ok" for check in _CHECKS), f"{name} check passed", ""]
            return write_text("\n".join(lines))
        lines = ["[+]ping ok", "[-]store failed: reason withheld", f"{name} check failed", ""]
        return write_text("\n".join(lines), 500)

    async def _discover(self, call: Call, root: str, rest: list[str]) -> web.StreamResponse:
        header = call.request.headers.get("Accept", "")
        call.form = choose_form(header, Offer.DISCOVERY)
        rest = [segment for segment in rest if segment]
        if not rest:
            if call.form.convert:
                raw = self.discovery.aggregated(root)
                return await _write_tagged(call, raw, tag_of(raw), _AGGREGATED)
            found: bytes | None = self._versions(call) if root == "api" else self.discovery.groups()
        elif root == "api":
            found = self.discovery.find_resources("", rest[0]) if len(rest) == 1 else None
        elif len(rest) == 1:
            found = self.discovery.find_group(rest[0])
        else:
            found = self.discovery.find_resources(rest[0], rest[1])
        if found is not None:
            return await write_answer(call, found)
        if root == "apis" and (len(rest) == 1 or self.discovery.is_custom(rest[0])):
            return no_page()
        raise no_resource()

    @staticmethod
    def _versions(call: Call) -> bytes:
        address = call.request.headers.get("Host", "")
        return orjson.dumps(
            {
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [
                    {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
                ],
            }
        )

    async def _openapi_document(self, call: Call, rest: list[str]) -> web.StreamResponse:
        if rest[:1] == ["v3"]:
            return await self._schemas(call, "/".join(rest[1:]))
        if rest != ["v2"]:
            return no_page()
        _only_get(call)
        return await self._merged_schemas(call)

    async def _merged_schemas(self, call: Call) -> web.StreamResponse:
        """The OpenAPI v2 document, which older clients and fallbacks of kubectl and helm read."""
        as_protobuf = "protobuf" in call.request.headers.get("Accept", "")
        found = self._openapi.find_merged(as_protobuf=as_protobuf)
        while found is None:
            # In a thread, since the document has megabytes and other requests must not wait.
            async with self._merging:
                generation = self._openapi.generation
                write = self._openapi.prepare_merged()
                if self._openapi.find_merged(as_protobuf=as_protobuf) is None:
                    self._openapi.keep_merged(generation, await asyncio.to_thread(write))
            found = self._openapi.find_merged(as_protobuf=as_protobuf)
        return await _write_tagged(call, found, tag_of(found), _SWAGGER if as_protobuf else JSON)

    async def _schemas(self, call: Call, name: str) -> web.StreamResponse:
        """The index of schemas, or those of one group and version."""
        if not name:
            return write_text(self._openapi.index().decode())
        found = self._openapi.find(name)
        if found is None:
            return web.Response(status=404)
        asked = first(call.query, "hash")
        if asked and asked != found.digest:
            location = f"/openapi/v3/{name}?hash={found.digest}"
            return web.Response(status=301, headers={"Location": location})
        return await _write_tagged(call, found.raw, f'"{found.digest}"', JSON)


async def _write_tagged(call: Call, raw: bytes, tag: str, media: str) -> web.Response:
    """A response with an ETag, by which clients cache the document."""
    headers = make_headers(media)
    headers["Cache-Control"] = "public"
    headers["ETag"] = tag
    headers["Vary"] = "Accept"
    if call.request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers=headers)
    return await write_bytes(call.request, raw, 200, headers)


def _only_get(call: Call) -> None:
    if call.request.method not in ("GET", "HEAD"):
        raise no_method()
