"""
Operators: a cluster and an operator, each in a process of its own, and a user who watches.

The user sees pods as they change, so it knows at each moment how many groups serve;
what it sees is no more than what the cluster says.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from bench.processes import Cluster, cluster, cpu_seconds, environment, pin
from kohort.apis.facts import PodFacts, read_pod
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import POD
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Selection

_SECONDS_MAX = 120.0


@dataclass
class Costs:
    """What happened between two moments."""

    seconds: float = 0.0
    cpu: float = 0.0  # of the operator
    server_cpu: float = 0.0
    requests: Counter[str] = field(default_factory=Counter)
    reviews: Counter[str] = field(default_factory=Counter)
    looks: int = 0

    def less(self, other: "Costs") -> "Costs":
        """What came since the other."""
        return Costs(
            self.seconds - other.seconds,
            self.cpu - other.cpu,
            self.server_cpu - other.server_cpu,
            self.requests - other.requests,
            self.reviews - other.reviews,
            self.looks - other.looks,
        )


class Operator:
    """The operator's process."""

    def __init__(self, process: subprocess.Popen[str], server: Cluster) -> None:
        self._process = process
        self._server = server

    def ask(self) -> dict[str, Any]:
        """What the operator says of itself."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def costs(self) -> Costs:
        """What it has cost so far."""
        state = self.ask()
        return Costs(
            time.perf_counter(),
            state["cpu"],
            cpu_seconds(self._server.pid),
            Counter(state["requests"]),
            Counter(state["reviews"]),
            state["looks"],
        )


class Groups:
    """Which pods there are, and how many groups serve, as a watch says."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.pods: dict[str, PodFacts] = {}
        self._ready: Counter[tuple[str, str]] = Counter()
        self.serving = 0
        self.fewest = 0

    async def follow(self, client: HttpCluster) -> None:
        """Watch, until cancelled."""
        selection = Selection(POD, "default", labels.NAME)
        async for change in client.watch(selection, "", initial=True):
            if change.type != "BOOKMARK":
                self._take(read_pod(change.raw), is_gone=change.type == "DELETED")

    def _take(self, pod: PodFacts, *, is_gone: bool) -> None:
        name = pod.metadata.name
        old = self.pods.pop(name, None)
        if old is not None:
            self._count(old, -1)
        if not is_gone:
            self.pods[name] = pod
            self._count(pod, 1)
        self.fewest = min(self.fewest, self.serving)

    def _count(self, pod: PodFacts, by: int) -> None:
        if not pod.is_ready or pod.metadata.is_leaving:
            return
        marks = pod.metadata.labels
        group = marks.get(labels.NAME, ""), marks.get(labels.GROUP_INDEX, "")
        was = self._ready[group] >= self._size
        self._ready[group] += by
        self.serving += (self._ready[group] >= self._size) - was


@dataclass
class Scene:
    """Everything that a measurement needs."""

    operator: Operator
    client: HttpCluster
    groups: Groups

    async def read(self, name: str) -> Object:
        """One workload as it is now."""
        return await self.client.read(Address(labels.KIND, "default", name))

    async def are_done(self, *names: str) -> bool:
        """Whether these workloads say that all is as it was asked for."""
        listing = await self.client.list(Selection(labels.KIND, "default"))
        found = {lws["metadata"]["name"]: lws for lws in map(orjson.loads, listing.items)}
        return all(_is_done(found[name]) for name in names)

    async def timed(self, holds: Callable[[], Any], began: Costs) -> Costs:
        """Wait for something to hold; what it has cost since."""
        end = time.perf_counter() + _SECONDS_MAX
        while not await holds():
            if time.perf_counter() > end:
                raise TimeoutError("it took too long")
            await asyncio.sleep(0.1)
        return self.operator.costs().less(began)


def _is_done(lws: Object) -> bool:
    status = lws.get("status") or {}
    wanted = lws["spec"]["replicas"]
    counts = {status.get(name) for name in ("readyReplicas", "updatedReplicas", "replicas")}
    is_seen = status.get("observedGeneration") == lws["metadata"]["generation"]
    true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    return is_seen and counts == {wanted} and "Available" in true


@asynccontextmanager
async def scene(size: int, nodes: int, speed: int) -> AsyncIterator[Scene]:
    """A cluster, an operator and a user, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as folder:
        config = Path(folder, "kubeconfig")
        words = ("--nodes", str(nodes), "--speed", str(speed), "--kubeconfig", str(config))
        with cluster("--no-operator", *words) as server:
            process = subprocess.Popen(
                [sys.executable, "-m", "bench.controller", str(config), str(_free_port())],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("BENCH_LOGS") else subprocess.DEVNULL,
                text=True,
            )
            pin(1, process.pid)
            operator = Operator(process, server)
            try:
                async with connect(config) as client:
                    while not operator.ask()["ready"]:
                        await asyncio.sleep(0.1)
                    groups = Groups(size)
                    following = asyncio.create_task(groups.follow(client))
                    yield Scene(operator, client, groups)
                    following.cancel()
            finally:
                process.terminate()
                process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
