"""
The ``Cluster`` port over HTTP.

Objects that are cached stay encoded; objects that a write answers with are
decoded. A list whose pages expire is begun again, and the second time fetched
whole, so that it ends on a busy cluster too.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from random import Random
from types import TracebackType
from typing import Self
from urllib.parse import quote

import orjson

from kohort.cluster.errors import WatchExpired
from kohort.cluster.http.access.access import Access
from kohort.cluster.http.frames import Lines, read_line, read_object, read_page
from kohort.cluster.http.transport import Bucket, Call, Transport
from kohort.cluster.kinds import LEASE
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Listing, PatchType, Selection, WatchEvent


def collection_path(kind: Kind, namespace: str) -> str:
    """The path of all objects of a kind, of one namespace if one is given."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    if namespace and kind.namespaced:
        root = f"{root}/namespaces/{quote(namespace, safe='')}"
    return f"{root}/{kind.plural}"


def object_path(address: Address) -> str:
    """The path of one object, or of a part of it."""
    path = f"{collection_path(address.kind, address.namespace)}/{quote(address.name, safe=':')}"
    return f"{path}/{address.part}" if address.part else path


PAGE_OBJECTS_MAX = 500
QPS_DEFAULT = 500.0
BURST_DEFAULT = 500
_WATCH_SECONDS = (1800, 3600)
SLACK_SECONDS = 60.0  # a watch that the server has not ended so long after its time is dead


class HttpCluster:
    """A Kubernetes API behind a URL."""

    def __init__(
        self,
        access: Access,
        *,
        qps: float = QPS_DEFAULT,
        burst: int = BURST_DEFAULT,
    ) -> None:
        self.server = access.server
        self.namespace = access.namespace
        self.context = access.context
        self._chance = Random()
        self._transport = Transport(access, Bucket(qps, burst), self._chance)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def server_date(self) -> str:
        """The Date of the server's last answer, as HTTP writes it; empty before the first."""
        return self._transport.server_date

    async def close(self) -> None:
        """Let all connections go."""
        await self._transport.close()

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create an object; returns the object as stored."""
        path = collection_path(kind, namespace)
        call = Call("POST", path, body=_encode(obj), is_urgent=kind == LEASE)
        return await self._write(call)

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create with dryRun; returns the object that a create would store."""
        path = collection_path(kind, namespace)
        return await self._write(Call("POST", path, {"dryRun": "All"}, _encode(obj)))

    async def read(self, address: Address) -> Object:
        """Read one object from the API server."""
        call = Call("GET", object_path(address), is_urgent=address.kind == LEASE)
        return read_object(await self._transport.send(call))

    async def read_document(self, path: str) -> Object:
        """Read the document at a path, such as an OpenAPI schema."""
        return read_object(await self._transport.send(Call("GET", path)))

    async def stream_log(
        self, address: Address, query: Mapping[str, str]
    ) -> AsyncGenerator[bytes, None]:
        """The log of a pod's container, in chunks; with ``follow`` also what it writes later."""
        call = Call("GET", object_path(replace(address, part="log")), query)
        async with aclosing(self._transport.stream(call)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def send_document(self, path: str, body: Object) -> Object:
        """POST a body to a path that no Kubernetes API has, such as that of a simulated clock."""
        return await self._write(Call("POST", path, body=_encode(body)))

    async def update(self, address: Address, obj: Object) -> Object:
        """Replace an object; its resourceVersion guards against other writers."""
        is_urgent = address.kind == LEASE
        call = Call("PUT", object_path(address), body=_encode(obj), is_urgent=is_urgent)
        return await self._write(call)

    async def patch(
        self,
        address: Address,
        patch: Object | list[Object],
        form: PatchType = PatchType.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Patch an object; returns the object as stored."""
        query = {"fieldManager": manager} if manager else {}
        if force:
            query["force"] = "true"
        body = _encode(patch)
        return await self._write(Call("PATCH", object_path(address), query, body, form.value))

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Delete an object, only with that uid if one is given."""
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if propagation:
            options["propagationPolicy"] = propagation
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        await self._transport.send(Call("DELETE", object_path(address), body=_encode(options)))

    async def list(self, selection: Selection) -> Listing:
        """List all selected objects, page by page."""
        try:
            return await self._list_in_pages(selection, PAGE_OBJECTS_MAX)
        except WatchExpired:
            return await self._list_in_pages(selection, 0)

    async def _list_in_pages(self, selection: Selection, limit: int) -> Listing:
        query = _select(selection)
        if limit:
            query["limit"] = str(limit)
        path = collection_path(selection.kind, selection.namespace)
        page = read_page(await self._transport.send(Call("GET", path, query)))
        items = page.items
        while page.continue_from:
            query["continue"] = page.continue_from
            page = read_page(await self._transport.send(Call("GET", path, query)))
            items.extend(page.items)
        return Listing(items, page.version)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        """Watch the selected objects from a version on; raises WatchExpired if it is too old."""
        query = {**_select(selection), "watch": "true", "allowWatchBookmarks": "true"}
        seconds = self._chance.randint(*_WATCH_SECONDS)
        query["timeoutSeconds"] = str(seconds)
        if version:
            query["resourceVersion"] = version
        if initial:
            query["sendInitialEvents"] = "true"
            query["resourceVersionMatch"] = "NotOlderThan"
        path = collection_path(selection.kind, selection.namespace)
        lines = Lines()
        stream = self._transport.stream(Call("GET", path, query), seconds + SLACK_SECONDS)
        async with aclosing(stream) as chunks:
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    yield read_line(line)

    async def _write(self, call: Call) -> Object:
        return read_object(await self._transport.send(call))


def _encode(body: Object | list[Object]) -> bytes:
    encoded: bytes = orjson.dumps(body)
    return encoded


def _select(selection: Selection) -> dict[str, str]:
    query = {"labelSelector": selection.labels, "fieldSelector": selection.fields}
    return {name: value for name, value in query.items() if value}
