"""
An executor that only notes actions, and a read-only client, for controllers that must not write.

Two locks, each enough by itself: the executor hands the actions of a plan to a listener and sends
none, and the client refuses all requests that store something. An action that was not sent is
neither done nor failed, so the controller learns nothing from it and plans on what it reads.
"""

import builtins
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from dataclasses import replace
from typing import NoReturn

from kohort.cluster.actions import Action
from kohort.cluster.errors import Forbidden
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Cluster, Listing, PatchType, Selection, WatchEvent
from kohort.controller.execute import Executor, Outcome, Result

Listener = Callable[[Hashable, tuple[Action, ...]], None]  # workload, planned actions


class WithheldExecutor(Executor):
    """Hands the actions of plans to a listener, and sends none of them."""

    def __init__(self, cluster: Cluster, listen: Listener) -> None:
        super().__init__(cluster, may_write=lambda: False)
        self._listen = listen

    async def run(self, actions: Sequence[Action], key: Hashable = None) -> list[Outcome]:
        """Note the actions; each counts as not sent."""
        self._listen(key, tuple(actions))
        return [Outcome(action, Result.SKIPPED, message="it is withheld") for action in actions]


class ReadOnlyCluster:
    """Passes reads and watches on, of one namespace if one is given, and refuses every write."""

    def __init__(self, inner: Cluster, namespace: str = "") -> None:
        self._inner = inner
        self._namespace = namespace
        self.refused: builtins.list[tuple[str, str]] = []  # verb, and kind with name

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Refused."""
        self._refuse("create", kind, str((obj.get("metadata") or {}).get("name", "")))

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Refused, which the controller takes as a response of admission."""
        self._refuse("create", kind, "with dryRun")

    async def read(self, address: Address) -> Object:
        """Read one object from the API server."""
        return await self._inner.read(address)

    async def update(self, address: Address, obj: Object) -> Object:
        """Refused."""
        self._refuse("update", address.kind, address.name)

    async def patch(
        self,
        address: Address,
        patch: Object | builtins.list[Object],
        form: PatchType = PatchType.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Refused."""
        self._refuse("patch", address.kind, address.name)

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Refused."""
        self._refuse("delete", address.kind, address.name)

    async def list(self, selection: Selection) -> Listing:
        """List all selected objects."""
        return await self._inner.list(self._limit(selection))

    def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """Watch the selected objects from a resource version on."""
        return self._inner.watch(self._limit(selection), version, initial=initial)

    def _limit(self, selection: Selection) -> Selection:
        if not self._namespace or selection.namespace or not selection.kind.namespaced:
            return selection
        return replace(selection, namespace=self._namespace)

    def _refuse(self, verb: str, kind: Kind, name: str) -> NoReturn:
        self.refused.append((verb, f"{kind.name} {name}"))
        raise Forbidden(f"this client writes nothing: {verb} {kind.name} {name} is not sent")
