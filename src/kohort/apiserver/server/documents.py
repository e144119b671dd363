"""
Responses for paths without objects: version, health, discovery, OpenAPI.

Most documents follow from the served kinds. Such a document is written at the first request
after these have changed, and has an ETag, since kubectl requests it with every command.
"""

import asyncio
from collections.abc import Callable

import orjson
from aiohttp import web

from kohort.apiserver.api.registry import Registry
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
from kohort.apiserver.server.schemas import Schemas
from kohort.cluster.errors import MethodNotAllowed, NotFound

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
