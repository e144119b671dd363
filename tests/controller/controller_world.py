"""A cluster in the test's process, one that breaks on demand, and builders of objects."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import ClusterError, Unavailable, WatchExpired
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Listing, Selection, WatchEvent
from kohort.controller.clock import LoopTime

CONFIGMAP = Kind("", "v1", "ConfigMap", "configmaps")
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
ALL = Selection(CONFIGMAP, "lab")
_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_RESOURCES = builtin_resources()


class RefusingCluster(InProcessCluster):
    """A cluster whose lists and watches fail while an error is set; open watches fail, too."""

    error: ClusterError | None = None

    async def list(self, selection: Selection) -> Listing:
        if self.error:
            raise self.error
        return await super().list(selection)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        if self.error:
            raise self.error
        async for change in super().watch(selection, version, initial=initial):
            if self.error:
                raise self.error
            yield change


class TestTime(LoopTime):
    """Timestamps that follow the loop's virtual time."""

    __test__ = False

    def now(self) -> datetime:
        return _START + timedelta(seconds=self.elapsed())


async def make_cluster(*, seed: int = 1) -> InProcessCluster:
    api = ApiServer(Store(), Registry(_RESOURCES), lambda: _START, Random(seed))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "lab"}})
    return cluster


def config_map(name: str, owner: str = "", **data: str) -> Object:
    metadata: Object = {"name": name}
    if owner:
        reference = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    return {"metadata": metadata, "data": data}


class Breaking:
    """A cluster whose lists and streams fail by chance, until it is healed."""

    def __init__(self, inner: InProcessCluster, chance: Random) -> None:
        self._inner = inner
        self._chance = chance
        self.is_healed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _maybe_fail(self, rate: float) -> None:
        if not self.is_healed and self._chance.random() < rate:
            error: type[ClusterError] = self._chance.choice([Unavailable, WatchExpired])
            raise error("by chance")

    async def list(self, selection: Selection) -> Listing:
        self._maybe_fail(0.3)
        return await self._inner.list(selection)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        self._maybe_fail(0.2)
        async for change in self._inner.watch(selection, version, initial=initial):
            yield change
            self._maybe_fail(0.2)
            if not self.is_healed and self._chance.random() < 0.1:
                return
