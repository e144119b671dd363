"""
The API of the cluster, without sockets: every verb that a client can use.

This is where a request finds the code that serves it, and nothing else. The
HTTP server, the simulated parts and tests all come in through here, so none of
them can do what another cannot.

The answer to a write waits until the write is committed. A read does not wait: it commits
pending writes first, so no client sees a change that a crash could take back.
"""

from collections.abc import Awaitable, Callable
from copy import copy
from datetime import datetime
from random import Random

from kohort.apiserver.api.admission import Admission, NoAdmission
from kohort.apiserver.api.context import Context, encode, learn
from kohort.apiserver.api.definitions import BUCKET as DEFINITIONS
from kohort.apiserver.api.definitions import serve_all, settle, settle_all, settle_leaving
from kohort.apiserver.api.reads import pages, watches
from kohort.apiserver.api.reads.watches import Watch
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import (
    Answer,
    DeleteOptions,
    ListOptions,
    Page,
    PatchBody,
    Target,
    WriteOptions,
)
from kohort.apiserver.api.subresources.access import issue_token, know_no_user, review
from kohort.apiserver.api.subresources.bind import bind
from kohort.apiserver.api.subresources.eviction import evict
from kohort.apiserver.api.subresources.scale import read_scale, write_scale
from kohort.apiserver.api.writes import deletion, patch_writes, pipeline
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.store import Store
from kohort.cluster.objects import Kind, Object

__all__ = ["ApiServer", "Watch"]

_REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")


async def _at_once() -> None:
    pass


class ApiServer:
    """All verbs on all kinds of one cluster."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        clock: Callable[[], datetime],
        chance: Random,
        admission: Admission | None = None,
    ) -> None:
        self.context = Context(store, registry, clock, chance, admission or NoAdmission())
        self.store = store
        self.registry = registry
        self.find_user = know_no_user  # the user whose token this is, for token reviews
        self.settled: Callable[[], Awaitable[None]] = _at_once  # answers wait for this
        serve_all(self.context)

    def without_waiting(self) -> "ApiServer":
        """The same API for components of its process, which never wait for a commit."""
        other = copy(self)
        other.settled = _at_once
        return other

    async def resume(self) -> None:
        """Continue work on definitions that a kill of the process interrupted."""
        await settle_all(self.context)

    def target(self, kind: Kind, namespace: str = "", name: str = "", part: str = "") -> Target:
        """The target of a request, for callers that know the kind."""
        return Target(self.registry.of(kind), namespace, name, part)

    async def create(
        self, target: Target, body: Object, options: WriteOptions, *, raw: bytes | None = None
    ) -> Answer:
        """Create an object, or handle a POST to a subresource."""
        if target.subresource:
            answer = await self._post(target, body, options)
        elif target.resource.kind.group in _REVIEWS:
            return review(target, body, options.user, self.find_user)
        else:
            answer = await pipeline.create(self.context, target, body, options, raw)
            await self._follow(target, (body.get("metadata") or {}).get("name", ""))
        await self.settled()
        return answer

    async def _post(self, target: Target, body: Object, options: WriteOptions) -> Answer:
        match target.subresource:
            case "binding":
                return await bind(self.context, target, body, options)
            case "eviction":
                return await evict(self.context, target, body, options)
        assert target.subresource == "token", "the server routes to what the kind serves"
        return issue_token(self.context, target, body)

    async def update(
        self, target: Target, body: Object, options: WriteOptions, *, raw: bytes | None = None
    ) -> Answer:
        """Replace an object."""
        if target.subresource == "scale":
            answer = await write_scale(self.context, target, body, options)
        else:
            answer = await pipeline.update(self.context, target, body, options, raw)
        await self._follow(target, target.name)
        await self.settled()
        return answer

    async def patch(self, target: Target, patch: PatchBody, options: WriteOptions) -> Answer:
        """Change part of an object."""
        if target.subresource == "scale":
            answer = await write_scale(self.context, target, patch, options)
        else:
            answer = await patch_writes.patch(self.context, target, patch, options)
        await self._follow(target, target.name)
        await self.settled()
        return answer

    async def delete(self, target: Target, options: DeleteOptions) -> Answer:
        """Delete an object."""
        answer = await deletion.delete(self.context, target, options)
        await self._follow(target, target.name)
        await self.settled()
        return answer

    async def delete_collection(
        self, target: Target, chosen: ListOptions, options: DeleteOptions
    ) -> Answer:
        """Delete all selected objects."""
        answer = await deletion.delete_collection(self.context, target, chosen, options)
        await self._follow(target, "")
        await self.settled()
        return answer

    async def _follow(self, target: Target, name: str) -> None:
        """After a write, update the served kinds if it concerns a definition or its last object."""
        if target.resource.bucket == DEFINITIONS:
            await settle(self.context, name)
        elif target.resource.structural is not None:
            await settle_leaving(self.context, target.resource.bucket)

    def read(self, target: Target) -> Answer:
        """One object, or its scale."""
        self.store.flush()
        return _show(target, self.context.expect(target))

    async def fetch(self, target: Target) -> Answer:
        """As ``read``, but calls the conversion webhook if the object needs it."""
        self.store.flush()
        entry = self.context.expect(target)
        await learn(target.resource, (entry,), fresh=True)
        return _show(target, entry)

    async def fetch_page(self, target: Target, options: ListOptions) -> Page:
        """As ``list``, but calls the conversion webhook for objects that need it."""
        self.store.flush()
        return await pages.fetch_page(self.context, target, options)

    def list(self, target: Target, options: ListOptions) -> Page:
        """List the selected objects, or one page of them."""
        self.store.flush()
        return pages.list_page(self.context, target, options)

    def watch(
        self, target: Target, options: ListOptions, *, initial: bool, bookmarks: bool
    ) -> Watch:
        """Watch the changes from a version on."""
        self.store.flush()
        return watches.open_watch(
            self.context, target, options, initial=initial, bookmarks=bookmarks
        )


def _show(target: Target, entry: StoredObject) -> Answer:
    if target.subresource == "scale":
        return read_scale(target, entry)
    return Answer(encode(target.resource, entry))
