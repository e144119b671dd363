"""A large cluster in which nothing changes: nodes, and pods that belong to no workload."""

import asyncio
from collections.abc import AsyncIterator

import orjson

from kohort.cluster.errors import NotFound
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Listing, Selection, WatchEvent

NODES, PODS = 500, 3000
_BOOKMARK = {"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "1"}


class StillCluster:
    """A cluster in which nothing changes."""

    server, context, server_date = "still", "still", ""

    def __init__(self, objects: dict[Kind, list[bytes]]) -> None:
        self._objects = objects

    async def list(self, selection: Selection) -> Listing:
        """All objects of a kind."""
        return Listing(self._objects.get(selection.kind, []), "1")

    async def read(self, address: Address) -> Object:
        """No object is read one by one."""
        raise NotFound(f"{address.name} is not served")

    async def read_document(self, path: str) -> Object:
        """No document is served."""
        raise NotFound(f"{path} is not served")

    async def close(self) -> None:
        """Nothing is open."""

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """All objects of a kind, and no change."""
        for raw in self._objects.get(selection.kind, ()):
            yield WatchEvent("ADDED", raw)
        yield WatchEvent("BOOKMARK", orjson.dumps({"metadata": _BOOKMARK}))
        await asyncio.Event().wait()


def make_node(number: int) -> Object:
    status = {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": []}
    return {"metadata": {"name": f"node-{number:04}"}, "spec": {}, "status": status}


def make_pod(number: int) -> Object:
    container = {"name": "engine", "image": "engine:1", "env": [{"name": "A", "value": "a" * 99}]}
    return {
        "metadata": {"name": f"pod-{number:05}", "namespace": "default", "uid": str(number)},
        "spec": {
            "nodeName": f"node-{number % NODES if number < 2 * NODES else 1:04}",
            "containers": [container],
        },
        "status": {"phase": "Running"},
    }


def make_cluster() -> StillCluster:
    nodes = [orjson.dumps(make_node(n)) for n in range(NODES)]
    return StillCluster({NODE: nodes, POD: [orjson.dumps(make_pod(n)) for n in range(PODS)]})
