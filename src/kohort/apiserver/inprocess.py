"""
The ``Cluster`` port on an API in the same process: no sockets, the same answers.

A controller that runs on it cannot tell that it is not the HTTP client. Objects
are copied on their way in and out, so neither side can change what the other holds.
An error has the class that its code has over HTTP: a webhook chooses the code of its refusal.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import orjson

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import (
    Answer,
    DeleteOptions,
    ListOptions,
    PatchBody,
    Target,
    User,
    WriteOptions,
)
from kohort.cluster.errors import ClusterError, NotFound, WatchExpired
from kohort.cluster.http.answers import read_status
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Listing, PatchType, Selection, WatchEvent
from kohort.cluster.selectors import parse_field_selector, parse_label_selector

MANAGER = "kohort"
USER = User()
BOOKMARK_SECONDS = 60.0


class InProcessCluster:
    """A Cluster whose requests are function calls into an API in this process."""

    def __init__(
        self, api: ApiServer, user: User = USER, bookmark_seconds: float | None = BOOKMARK_SECONDS
    ) -> None:
        self.api = api
        self._user = user
        self._bookmark_seconds = bookmark_seconds

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create an object; returns the object as stored."""
        target = self._target(kind, namespace)
        with _errors_by_code():
            return _read(await self.api.create(target, _copy(obj), self._options()))

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create with dryRun; returns the object that a create would store."""
        options = replace(self._options(), dry_run=True)
        with _errors_by_code():
            return _read(await self.api.create(self._target(kind, namespace), _copy(obj), options))

    async def read(self, address: Address) -> Object:
        """Read one object from the store."""
        return _read(await self.api.fetch(self._place(address)))

    async def update(self, address: Address, obj: Object) -> Object:
        """Replace an object; its resourceVersion guards against other writers."""
        target = self._place(address)
        with _errors_by_code():
            return _read(await self.api.update(target, _copy(obj), self._options()))

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
        content = PatchBody(form, orjson.loads(orjson.dumps(patch)))
        options = self._options(manager, force=force)
        with _errors_by_code():
            return _read(await self.api.patch(self._place(address), content, options))

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Delete an object, only with that uid if one is given."""
        options = DeleteOptions(grace, propagation or None, uid, user=self._user)
        with _errors_by_code():
            await self.api.delete(self._place(address), options)

    async def list(self, selection: Selection) -> Listing:
        """List all selected objects."""
        target = self._target(selection.kind, selection.namespace)
        page = await self.api.fetch_page(target, _choose(selection))
        return Listing(page.items, page.resource_version)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """Watch the selected objects from a version on; raises WatchExpired if it is too old."""
        target = self._target(selection.kind, selection.namespace)
        watch = self.api.watch(
            target, _choose(selection, version), initial=initial, bookmarks=initial
        )
        try:
            while not watch.is_closed:
                for event in await watch.batch(self._bookmark_seconds):
                    if event.type == "ERROR":
                        raise WatchExpired(orjson.loads(event.raw)["message"])
                    yield WatchEvent(event.type, event.raw)
        finally:
            watch.close()

    def _options(self, manager: str = "", *, force: bool = False) -> WriteOptions:
        return WriteOptions(manager or MANAGER, force=force, user=self._user)

    def _place(self, address: Address) -> Target:
        return self._target(address.kind, address.namespace, address.name, address.part)

    def _target(self, kind: Kind, namespace: str, name: str = "", part: str = "") -> Target:
        resource = self.api.registry.find(kind.group, kind.version, kind.plural)
        if resource is None:
            raise NotFound("the server could not find the requested resource", details={})
        return Target(resource, namespace if kind.namespaced else "", name, part)


@contextmanager
def _errors_by_code() -> Iterator[None]:
    """Raise an error that chose its own code as the HTTP client would."""
    try:
        yield
    except ClusterError as error:
        if error.code == type(error).code:
            raise
        raise read_status(error.status(), error.code) from error


def _choose(selection: Selection, version: str = "") -> ListOptions:
    return ListOptions(
        parse_label_selector(selection.labels),
        parse_field_selector(selection.fields),
        resource_version=version,
    )


def _read(answer: Answer) -> Object:
    found: Object = orjson.loads(answer.raw)
    return found


def _copy(obj: Object) -> Object:
    copied: Object = orjson.loads(orjson.dumps(obj))
    return copied
