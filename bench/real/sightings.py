"""
Seeing: pods and workloads as two watches give them, and one place that waits for a moment.

A group serves when all its pods are ready and none is being deleted. Every change is
looked at, so the fewest groups that served are the fewest that a client could see.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
import orjson

from bench.real.server import Server
from bench.workloads import SIZE, BenchApi
from kohort.apis.facts import Condition, Meta

Where = tuple[str, str]  # namespace, name


class _Container(msgspec.Struct):
    image: str = ""


class _PodSpec(msgspec.Struct):
    containers: list[_Container] = []


class _PodStatus(msgspec.Struct):
    conditions: list[Condition] | None = None


class _Pod(msgspec.Struct):
    metadata: Meta
    spec: _PodSpec
    status: _PodStatus


_pod = msgspec.json.Decoder(_Pod)


@dataclass(frozen=True, slots=True)
class Pod:
    """What is seen of a pod."""

    where: Where
    workload: str
    group: str
    uid: str
    image: str
    is_ready: bool

    @property
    def unit(self) -> tuple[str, str, str]:
        """Its group."""
        return self.where[0], self.workload, self.group


def read_pod(api: BenchApi, raw: bytes) -> Pod:
    """What is seen of a pod as the server writes it."""
    pod = _pod.decode(raw)
    meta = pod.metadata
    conditions = pod.status.conditions or ()
    is_ready = any(c.type == "Ready" and c.status == "True" for c in conditions)
    return Pod(
        (meta.namespace, meta.name),
        meta.labels.get(api.owner_label, ""),
        meta.labels.get(api.group_label, ""),
        meta.uid,
        pod.spec.containers[0].image,
        is_ready and not meta.is_leaving,
    )


class Sight:
    """All pods of workloads, and all workloads."""

    def __init__(self, api: BenchApi) -> None:
        self._api = api
        self.pods: dict[Where, Pod] = {}
        self.done: dict[Where, bool] = {}  # whether the status says that all is as asked for
        self.present: Counter[str] = Counter()  # pods, by namespace
        self.ready: Counter[str] = Counter()
        self.serving: Counter[Where] = Counter()  # groups that serve, by workload
        self.fewest: dict[Where, int] = {}
        self.made = 0
        self._units: Counter[tuple[str, str, str]] = Counter()
        self._changed = asyncio.Event()

    def take_pod(self, kind: str, raw: bytes) -> None:
        """See a change of a pod."""
        new = read_pod(self._api, raw)
        old = self.pods.get(new.where)
        self.made += kind == "ADDED" and (old is None or old.uid != new.uid)
        if kind == "DELETED":
            self.pods.pop(new.where, None)
            self._count(old, None)
        else:
            self.pods[new.where] = new
            self._count(old, new)
        self._changed.set()

    def _count(self, old: Pod | None, new: Pod | None) -> None:
        # Both at once, so that an update of a ready pod is not seen as a gap.
        touched = {pod.unit: self._serves(pod.unit) for pod in (old, new) if pod is not None}
        for pod, by in ((old, -1), (new, 1)):
            if pod is not None:
                self.present[pod.where[0]] += by
                self.ready[pod.where[0]] += by * pod.is_ready
                self._units[pod.unit] += by * pod.is_ready
        for unit, served in touched.items():
            where = unit[:2]
            self.serving[where] += self._serves(unit) - served
            if where in self.fewest:
                self.fewest[where] = min(self.fewest[where], self.serving[where])

    def _serves(self, unit: tuple[str, str, str]) -> bool:
        return self._units[unit] >= SIZE

    def take_workload(self, kind: str, raw: bytes) -> None:
        """See a change of a workload."""
        seen = orjson.loads(raw)
        where = (seen["metadata"]["namespace"], seen["metadata"]["name"])
        if kind == "DELETED":
            self.done.pop(where, None)
        else:
            self.done[where] = self._api.is_done(seen)
        self._changed.set()

    async def wait(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Look at every change until it holds; false if it never did."""
        end = time.monotonic() + seconds
        while not holds():
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), end - time.monotonic())
            except TimeoutError:
                return False
        return True


@asynccontextmanager
async def sight(server: Server, api: BenchApi) -> AsyncIterator[Sight]:
    """What is to be seen, until the block ends."""
    seen = Sight(api)

    async def follow(path: str, query: str, take: Callable[[str, bytes], None]) -> None:
        async for kind, raw in server.watch(path, query):
            take(kind, raw)

    async with asyncio.TaskGroup() as group:
        following = [
            group.create_task(
                follow("/api/v1/pods", f"labelSelector={api.owner_label}", seen.take_pod)
            ),
            group.create_task(follow(api.path, "limit=0", seen.take_workload)),
        ]
        yield seen
        for task in following:
            task.cancel()
