"""
HTTP requests for objects: each becomes a call of the API and a response.

The path and the method give the verb; a kind says which verbs it has, and its
subresources say theirs. Options are checked before bodies are read, as a real
server does, so that the first complaint is the same.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from kohort.apiserver.api.requests import DeleteOptions, ListOptions, Target
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.server.answers import Call, write_answer
from kohort.apiserver.server.discovery import SUBRESOURCES
from kohort.apiserver.server.documents import no_method, no_page, no_resource
from kohort.apiserver.server.logs import Logs, stream_logs
from kohort.apiserver.server.request import bodies, queries
from kohort.apiserver.server.request.negotiation import Offer, check_stream, choose_form
from kohort.apiserver.server.request.paths import ResourcePath, check_name
from kohort.apiserver.server.tables import Converter
from kohort.apiserver.server.watches import Streams, WatchStream, stream_expired
from kohort.cluster.errors import BadRequest, MethodNotAllowed, NotFound, WatchExpired, not_found
from kohort.cluster.kinds import POD
from kohort.cluster.port import PatchType

if TYPE_CHECKING:
    from kohort.apiserver.api.api import ApiServer

_OBJECT_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION_VERBS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_INSIDE = ("attach", "exec", "portforward", "proxy")  # subresources that need a running container
_READS = ("get", "list")
_PART_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "POST": "create"}

_Handler = Callable[[Call, Target], Awaitable[web.StreamResponse]]


class Verbs:
    """The verbs of the API, for requests that come over HTTP."""

    def __init__(self, api: "ApiServer", logs: Logs, clock: Callable[[], datetime]) -> None:
        self.streams = Streams()
        self._api = api
        self._logs = logs
        self._clock = clock
        self._handlers: dict[str, _Handler] = {
            "get": self._read,
            "list": self._list,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    async def answer(self, call: Call, address: ResourcePath) -> web.StreamResponse:
        """The answer to a request about objects."""
        resource = self._api.registry.find(address.group, address.version, address.plural)
        if resource is None or not _is_placed(resource, address):
            return self._unknown(address)
        if address.name:
            check_name(address.name)
        call.warning = resource.deprecation
        target = Target(resource, address.namespace, address.name, address.subresource)
        verb = _find_verb(call.request.method, target)
        if target.subresource != "log":
            call.form = choose_form(call.request.headers.get("Accept", ""), _offer(target))
        try:
            return await self._handlers[verb](call, target)
        finally:
            if verb not in _READS:
                await self.streams.deliver()

    def _unknown(self, address: ResourcePath) -> web.Response:
        """The error for an unknown kind, which differs for built-in groups."""
        known = self._api.registry.resources()
        if any(r.kind.group == address.group and r.structural is None for r in known):
            raise no_resource()
        return no_page()

    def _converter(self, call: Call, target: Target) -> Converter:
        include = queries.first(call.query, "includeObject") if call.form.convert else ""
        return Converter(target.resource, call.form, include)

    async def _write(
        self,
        call: Call,
        target: Target,
        raw: bytes,
        code: int = 200,
        warnings: tuple[str, ...] = (),
    ) -> web.Response:
        if call.form.convert and target.subresource in ("", "status"):
            raw = self._converter(call, target).convert(raw, self._clock())
        return await write_answer(call, raw, code, warnings)

    async def _read(self, call: Call, target: Target) -> web.StreamResponse:
        if target.subresource == "log":
            pod = Target(target.resource, target.namespace, target.name)
            found = orjson.loads((await self._api.fetch(pod)).raw)
            return await stream_logs(call, found, self._logs, self.streams, self._clock())
        if call.query:
            queries.check_version(call.query)
        return await self._write(call, target, (await self._api.fetch(target)).raw)

    async def _list(self, call: Call, target: Target) -> web.StreamResponse:
        options = queries.list_options(call.query)
        if queries.is_set(call.query, "watch"):
            return await self._watch(call, target, options)
        if call.query:
            queries.check_list(options, call.query)
        page = await self._api.fetch_page(target, options)
        raw = self._converter(call, target).convert_page(page, self._clock())
        return await write_answer(call, raw)

    async def _watch(self, call: Call, target: Target, options: ListOptions) -> web.StreamResponse:
        asked = queries.watch_options(call.query)
        queries.check_watch(options, asked)
        queries.check_version(call.query)
        check_stream(call.form)
        converter = self._converter(call, target)
        initial = asked.sends_initial is True
        if asked.sends_initial is False and options.resource_version in ("", "0"):
            now = str(self._api.store.revision)
            options = replace(options, resource_version=now)
        try:
            watch = self._api.watch(target, options, initial=initial, bookmarks=asked.bookmarks)
        except WatchExpired as error:
            return await stream_expired(call.request, error)
        stream = WatchStream(watch, converter, self._clock, asked.bookmarks)
        return await stream.run(call.request, self.streams, asked.timeout_seconds)

    async def _read_body(self, call: Call) -> tuple[bytes, str]:
        length = call.request.content_length
        if length is not None and length > bodies.BODY_BYTES_MAX:
            raise bodies.too_large()
        raw = await call.request.read()
        return raw, call.request.headers.get("Content-Type", "")

    def _is_served(self, api_version: str, kind: str) -> bool:
        return self._api.registry.find_kind(api_version, kind) is not None

    async def _read_object(self, raw: bytes, media: str, target: Target) -> bodies.Body:
        return await self._api.context.aside(
            len(raw), lambda: bodies.read_object(raw, media, target, self._is_served)
        )

    async def _create(self, call: Call, target: Target) -> web.StreamResponse:
        raw, media = await self._read_body(call)
        options = queries.write_options(call.query, "CreateOptions", call.caller, size=len(raw))
        body = await self._read_object(raw, media, target)
        if target.subresource in ("binding", "eviction") and body.name != target.name:
            kind = body.obj["kind"]
            raise BadRequest(f"name in URL does not match name in {kind} object")
        answer = await self._api.create(target, body.obj, options, raw=body.raw)
        return await self._write(call, target, answer.raw, answer.code, answer.warnings)

    async def _update(self, call: Call, target: Target) -> web.StreamResponse:
        raw, media = await self._read_body(call)
        options = queries.write_options(call.query, "UpdateOptions", call.caller, size=len(raw))
        body = await self._read_object(raw, media, target)
        if not body.name:
            why = "was undeterminable: name must be provided"
            raise BadRequest(f"the name of the object ({target.name} based on URL) {why}")
        answer = await self._api.update(target, body.obj, options, raw=body.raw)
        return await self._write(call, target, answer.raw, answer.code, answer.warnings)

    async def _patch(self, call: Call, target: Target) -> web.StreamResponse:
        raw, media = await self._read_body(call)
        form = bodies.patch_type(media, target)
        options = queries.write_options(
            call.query, "PatchOptions", call.caller, form, size=len(raw)
        )
        try:
            patch = await self._api.context.aside(
                len(raw), lambda: bodies.read_patch(raw, media, target)
            )
        except BadRequest:
            # A missing object is reported before the patch is decoded.
            if form is not PatchType.APPLY:
                self._api.context.expect(target)
            raise
        answer = await self._api.patch(target, patch, options)
        return await self._write(call, target, answer.raw, answer.code, answer.warnings)

    async def _deletion(self, call: Call) -> DeleteOptions:
        raw, media = await self._read_body(call)
        body = None
        if raw:
            body = await self._api.context.aside(
                len(raw), lambda: bodies.read_delete_body(raw, media)
            )
        return queries.delete_options(call.query, body, call.caller.user)

    async def _delete(self, call: Call, target: Target) -> web.StreamResponse:
        answer = await self._api.delete(target, await self._deletion(call))
        return await self._write(call, target, answer.raw, answer.code, answer.warnings)

    async def _delete_collection(self, call: Call, target: Target) -> web.StreamResponse:
        chosen = queries.list_options(call.query)
        queries.check_list(chosen, call.query)
        options = await self._deletion(call)
        answer = await self._api.delete_collection(target, chosen, options)
        return await write_answer(call, answer.raw, answer.code, answer.warnings)


def _is_placed(resource: Resource, address: ResourcePath) -> bool:
    """Whether the path names a namespace where the kind has one, and only there."""
    if resource.kind.namespaced:
        return bool(address.namespace or not address.name)
    return not address.namespace


def _offer(target: Target) -> Offer:
    if target.resource.structural is not None:
        return Offer.CUSTOM
    return Offer.OBJECT if target.name else Offer.COLLECTION


def _find_verb(method: str, target: Target) -> str:
    """The verb that a method means for the target; raises if there is none."""
    resource, part = target.resource, target.subresource
    if part:
        if not resource.serves(part):
            raise _no_part(target)
        verb = _PART_VERBS.get(method, "")
        offered: tuple[str, ...] = SUBRESOURCES[part][0]
    else:
        verbs = _OBJECT_VERBS if target.name else _COLLECTION_VERBS
        if not target.name and method in ("PUT", "PATCH") and resource.structural is not None:
            raise BadRequest("name must be provided")
        verb = verbs.get(method, "")
        offered = resource.verbs
        if not target.name and verb != "list" and _is_everywhere(target):
            raise no_method()
    if verb not in offered:
        raise _no_verb(verb, target)
    return verb


def _no_part(target: Target) -> NotFound:
    """The error for a subresource that a custom kind does not have."""
    kind = target.resource.kind
    part = target.subresource.partition("/")[0]
    if kind == POD and part in _INSIDE:
        why = "does not work here, because nothing runs in a simulated pod"
        return NotFound(f'{part} into pod "{target.name}" {why}')
    if target.resource.structural is None:
        return no_resource()
    return not_found(kind.plural, kind.group, target.name)


def _no_verb(verb: str, target: Target) -> MethodNotAllowed:
    kind = target.resource.kind
    if target.resource.structural is None or not verb:
        return no_method()
    return MethodNotAllowed(
        f'{verb} is not supported on resources of kind "{kind.group_resource}"',
        details={"group": kind.group, "kind": kind.plural},
    )


def _is_everywhere(target: Target) -> bool:
    """Whether the path names all namespaces, where objects can only be read."""
    return target.resource.kind.namespaced and not target.namespace
