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
from bench.workloads import SIZE, BenchApi
from kohort.apis.facts import PodFacts, read_pod
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, PatchType, Selection

_SECONDS_MAX = 120.0
_CONTROLLER = (sys.executable, "-m", "bench.controller")


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

    def __init__(self, api: BenchApi, size: int) -> None:
        self._api = api
        self._size = size
        self.pods: dict[str, PodFacts] = {}
        self._ready: Counter[tuple[str, str]] = Counter()
        self.serving = 0
        self.fewest = 0
        self._wanted = 0
        self._lost_seconds = 0.0
        self._seen = time.perf_counter()

    def begin(self) -> None:
        """Count from now on for how long groups that serve now do not."""
        self._wanted, self._lost_seconds = self.serving, 0.0
        self._seen = time.perf_counter()

    def end(self) -> float:
        """The seconds for which a group did not serve since then, added over all groups."""
        self._pass_time()
        return self._lost_seconds

    def _pass_time(self) -> None:
        now = time.perf_counter()
        self._lost_seconds += max(0, self._wanted - self.serving) * (now - self._seen)
        self._seen = now

    async def follow(self, client: HttpCluster) -> None:
        """Watch, until cancelled."""
        async for change in client.watch(Selection(POD, "default"), "", initial=True):
            if change.type != "BOOKMARK":
                self._take(read_pod(change.raw), is_gone=change.type == "DELETED")

    def _take(self, pod: PodFacts, *, is_gone: bool) -> None:
        self._pass_time()
        name = pod.metadata.name
        old = self.pods.pop(name, None)
        if old is not None:
            self._count(old, -1)
        if not is_gone:
            self.pods[name] = pod
            self._count(pod, 1)
        self.fewest = min(self.fewest, self.serving)

    def _count(self, pod: PodFacts, by: int) -> None:
        marks = pod.metadata.labels
        is_counted = self._api.owner_label in marks and not pod.metadata.is_leaving
        if not pod.is_ready or not is_counted:
            return
        group = marks.get(self._api.owner_label, ""), marks.get(self._api.group_label, "")
        was = self._ready[group] >= self._size
        self._ready[group] += by
        self.serving += (self._ready[group] >= self._size) - was


@dataclass
class Scene:
    """Everything that a measurement needs."""

    api: BenchApi
    operator: Operator
    client: HttpCluster
    groups: Groups

    async def make(self, name: str, groups: int) -> None:
        """Ask for a workload."""
        await self.client.create(self.api.kind, "default", self.api.make(name, groups))

    async def edit(self, name: str, change: list[Object]) -> None:
        """Change a workload by a JSON patch."""
        address = Address(self.api.kind, "default", name)
        await self.client.patch(address, change, PatchType.JSON)

    async def warm(self) -> None:
        """What is done once, at first use, is no part of what a workload costs."""
        await self.make("warm", 1)
        await self.timed(lambda: self.are_done("warm"), self.operator.costs())

    async def are_done(self, *names: str) -> bool:
        """Whether these workloads say that all is as it was asked for."""
        listing = await self.client.list(Selection(self.api.kind, "default"))
        found = {each["metadata"]["name"]: each for each in map(orjson.loads, listing.items)}
        return all(self.api.is_done(found[name]) for name in names)

    async def timed(self, holds: Callable[[], Any], began: Costs) -> Costs:
        """Wait for something to hold; what it has cost since."""
        end = time.perf_counter() + _SECONDS_MAX
        while not await holds():
            if time.perf_counter() > end:
                raise TimeoutError("it took too long")
            await asyncio.sleep(0.1)
        return self.operator.costs().less(began)


@asynccontextmanager
async def scene(api: BenchApi, nodes: int, speed: int) -> AsyncIterator[Scene]:
    """A cluster, an operator and a user, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as folder:
        config = Path(folder, "kubeconfig")
        words = ("--nodes", str(nodes), "--speed", str(speed), "--kubeconfig", str(config))
        with cluster("--no-operator", *words) as server:
            process = subprocess.Popen(
                [*_CONTROLLER, str(config), str(_free_port()), api.served_name],
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
                    groups = Groups(api, SIZE)
                    following = asyncio.create_task(groups.follow(client))
                    yield Scene(api, operator, client, groups)
                    following.cancel()
            finally:
                process.terminate()
                process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
