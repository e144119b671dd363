"""A cluster client that counts its writes, by verb and by result."""

import builtins
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Cluster, Listing, PatchType, Selection, WatchEvent

T = TypeVar("T")
Recorder = Callable[[str, str], None]  # verb, result


class CountedCluster:
    """Passes every request on to another client, and counts writes."""

    def __init__(self, inner: Cluster, record: Recorder) -> None:
        self._inner = inner
        self._record = record

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create an object; returns the object as stored."""
        return await self._count("create", self._inner.create(kind, namespace, obj))

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create with dryRun: returns the object that a create would store."""
        return await self._inner.dry_run_create(kind, namespace, obj)

    async def read(self, address: Address) -> Object:
        """Read one object from the API server."""
        return await self._inner.read(address)

    async def update(self, address: Address, obj: Object) -> Object:
        """Replace an object; its resourceVersion guards against other writers."""
        return await self._count("update", self._inner.update(address, obj))

    async def patch(
        self,
        address: Address,
        patch: Object | builtins.list[Object],
        form: PatchType = PatchType.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object; returns the object as stored."""
        verb = "apply" if form is PatchType.APPLY else "patch"
        asked = self._inner.patch(address, patch, form, manager=manager, force=force)
        return await self._count(verb, asked)

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Delete an object; if a uid is given, only the object with that uid."""
        asked = self._inner.delete(address, uid=uid, propagation=propagation, grace=grace)
        await self._count("delete", asked)

    async def list(self, selection: Selection) -> Listing:
        """List all selected objects."""
        return await self._inner.list(selection)

    def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """Watch the selected objects from a resource version on."""
        return self._inner.watch(selection, version, initial=initial)

    async def _count(self, verb: str, asked: Awaitable[T]) -> T:
        try:
            answer = await asked
        except KohortError as error:
            self._record(verb, type(error).__name__)
            raise
        self._record(verb, "Done")
        return answer
