"""
Viewing: what the dashboard costs with 200 workloads and 10,000 pods.

One workload is made by the operator in an embedded cluster; its objects are then multiplied and
served by a cluster that only lists and watches, so that nothing but the dashboard is measured.
"""

import asyncio
import itertools
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from statistics import median
from typing import Any, cast

import orjson

from bench.figures import Figure
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET as API
from kohort.apis.leaderworkerset.labels import KIND
from kohort.cluster.errors import NotFound
from kohort.cluster.http import connect
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Listing, Selection, WatchEvent
from kohort.dashboard.answers import Answers
from kohort.dashboard.state import State
from kohort.testing import Cluster, start_cluster
from kohort.views.plain import to_plain
from kohort.views.samples import needed

SEED = "seed-workload"
GROUPS, SIZE = 10, 5
CHUNK = 50  # objects that arrive together
_UUID = re.compile(rb'"[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})')
Raws = list[bytes]  # in the class below, list is a method
VERSIONS = itertools.count(1_000_000)
_BOOKMARK = {"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "1"}


class StillCluster:
    """A cluster that serves the objects it was given, and changes that it is told."""

    server, context = "still", "still"

    def __init__(self, objects: dict[Kind, list[bytes]]) -> None:
        self._objects = objects
        self._queues: dict[Kind, list[asyncio.Queue[WatchEvent]]] = {}

    def push(self, kind: Kind, raw: bytes, change: str = "MODIFIED") -> None:
        """Tell all watchers that an object has changed, was made, or is gone."""
        for queue in self._queues.get(kind, ()):
            queue.put_nowait(WatchEvent(change, raw))

    async def list(self, selection: Selection) -> Listing:
        """All objects of a kind."""
        return Listing(self._find(selection.kind), "1")

    async def read(self, address: Address) -> Object:
        """No object is read one by one."""
        raise NotFound(f"{address.name} is not served")

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """All objects of a kind, and then changes."""
        queue: asyncio.Queue[WatchEvent] = asyncio.Queue()
        self._queues.setdefault(selection.kind, []).append(queue)
        for number, raw in enumerate(self._find(selection.kind)):
            if number % CHUNK == 0:
                await asyncio.sleep(0)  # as a socket does between two reads
            yield WatchEvent("ADDED", raw)
        yield WatchEvent("BOOKMARK", orjson.dumps({"metadata": _BOOKMARK}))
        while True:
            yield await queue.get()

    def _find(self, kind: Kind) -> Raws:
        return self._objects.get(kind, [])


def multiply(seed: dict[Kind, list[bytes]], times: int) -> dict[Kind, list[bytes]]:
    """The objects of one workload as those of many, with names and uids of their own."""
    made: dict[Kind, list[bytes]] = {}
    for kind, raws in seed.items():
        is_shared = kind == NODE
        for number in range(1 if is_shared else times):
            name, prefix = f"workload-{number:04}".encode(), b'"%08x\\1' % number
            for raw in raws:
                renamed = raw.replace(SEED.encode(), name)
                made.setdefault(kind, []).append(raw if is_shared else _UUID.sub(prefix, renamed))
    return made


async def take_seed(cluster: Cluster) -> dict[Kind, list[bytes]]:
    """The objects of one workload that is ready."""
    container = {"name": "engine", "image": "engine:1"}
    template = {"metadata": {}, "spec": {"containers": [container]}}
    spec = {
        "replicas": GROUPS,
        "leaderWorkerTemplate": {"size": SIZE, "workerTemplate": template},
    }
    async with connect(cluster.kubeconfig) as port:
        typed = {"apiVersion": KIND.api_version, "kind": KIND.name}
        await port.create(KIND, "default", {**typed, "metadata": {"name": SEED}, "spec": spec})
        ready = 0
        while ready < GROUPS:
            await asyncio.sleep(0.2)
            found = await port.read(Address(KIND, "default", SEED))
            ready = (found.get("status") or {}).get("readyReplicas", 0)
        await asyncio.sleep(1)
        kinds = {KIND, NODE, POD, *(watched.kind for watched in needed(API))}
        seed: dict[Kind, list[bytes]] = {}
        for kind in kinds:
            try:
                seed[kind] = (await port.list(Selection(kind))).items
            except NotFound:
                continue
        return seed


def measure(quick: bool) -> list[Figure]:
    """Fill a dashboard, ask it for everything, and change one pod after the other."""
    with start_cluster(operator=True, nodes=16, speed=1000.0) as cluster:
        seed = asyncio.run(take_seed(cluster))
    return asyncio.run(_measure(multiply(seed, 40 if quick else 200), 50 if quick else 100))


async def _measure(objects: dict[Kind, list[bytes]], changes: int) -> list[Figure]:
    cluster = StillCluster(objects)  # it is never written to
    state = State(cast(Any, cluster), apis=(API,))
    begun, before = time.process_time(), read_megabytes()
    running = asyncio.create_task(state.run())
    names, first = await _open_cold(state, begun)
    await state.is_ready.wait()
    filled, held = time.process_time() - begun, read_megabytes() - before
    answers, workload = Answers(state), next(iter(state.workloads))
    rows = await _time(_wrap(answers.list_rows))
    page = await _time(lambda: answers.show(workload, "page"))
    nodes = await _time(lambda: answers.show_nodes({}))
    await _change(state, cluster, objects[POD], changes // 4)
    before = read_megabytes()
    costs = await _change(state, cluster, objects[POD], changes)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    pods = len(objects[POD])
    return [
        Figure("workloads", len(state.workloads), ""),
        Figure("pods", pods, ""),
        Figure("cold: names of all workloads, CPU time", names, "s", at_most=1),
        Figure("cold: first rows, CPU time", first, "s"),
        Figure("cold: all rows, CPU time", filled, "s"),
        Figure("caches and pictures", held, "MB"),
        Figure("rows of the overview", rows, "ms", at_most=500),
        Figure("page of one workload", page, "ms", at_most=100),
        Figure("map of all nodes and pods", nodes, "ms"),
        Figure("one pod changes, CPU time until it is told", median(costs), "ms", at_most=100),
        Figure(f"memory after {changes} changes more", read_megabytes() - before, "MB", at_most=5),
    ]


async def _open_cold(state: State, begun: float) -> tuple[float, float]:
    """When a page that listens from the start has all names, and when it has its first rows."""
    names = first = 0.0
    stream = state.feed.listen("")
    async for part in stream:
        now = time.process_time() - begun
        if not names and len(state.read_progress().expected) + len(state.workloads) > 1:
            names = now
        if b"event: change" in part and b'"rows":[{' in part:
            first = now
            break
    return names or first, first


def _wrap(make: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def run() -> Any:
        return make()

    return run


async def _time(make: Callable[[], Awaitable[Any]]) -> float:
    """Milliseconds of CPU time until an answer is written."""
    begun = time.process_time()
    orjson.dumps(to_plain(await make()))
    return (time.process_time() - begun) * 1e3


async def _change(
    state: State, cluster: StillCluster, pods: list[bytes], changes: int
) -> list[float]:
    """Milliseconds of CPU time for each of so many changes of a pod."""
    costs = []
    stream = state.feed.listen("")
    await anext(stream)
    for number in range(changes):
        pod = orjson.loads(pods[number * 37 % len(pods)])
        pod["metadata"]["resourceVersion"] = str(next(VERSIONS))
        for condition in pod["status"]["conditions"]:
            if condition["type"] == "Ready":
                condition["status"] = "False" if number % 2 else "True"
        begun = time.process_time()
        cluster.push(POD, orjson.dumps(pod))
        while not (await anext(stream)).startswith(b"id:"):
            continue
        costs.append((time.process_time() - begun) * 1e3)
    return costs


def read_megabytes() -> float:
    """What this process has in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4 / 1024
