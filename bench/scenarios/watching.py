"""
Watching: how many events reach watchers per second, over ten connections.

Small objects are changed by merge patches, 64 at once, and each of ten watchers is
told of each change. The same patches without watchers show what the deliveries
themselves cost the server.
"""

import asyncio
import json
import time

from bench.events import run
from bench.figures import Figure
from bench.loads import make_request, send, trust
from bench.objects import make_config
from bench.processes import Cluster, cluster, pin

WATCHERS = 10
AT_ONCE = 64
_CONFIGS = "/api/v1/namespaces/default/configmaps"
_EVENT = b'{"type":"'


class _Watcher(asyncio.Protocol):
    """Counts events by how they begin; nothing is decoded."""

    def __init__(self) -> None:
        self.events = 0
        self.last = 0.0
        self._tail = b""
        self.request = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        seen = self._tail + data
        self.events += seen.count(_EVENT)
        self._tail = seen[-len(_EVENT) + 1 :]
        self.last = time.perf_counter()


def measure(quick: bool) -> list[Figure]:
    """Change objects with and without watchers."""
    pin(1)
    with cluster("--nodes", "0", "--no-operator") as running:
        return run(_measure(running, 3_000 if quick else 10_000))


async def _measure(running: Cluster, count: int) -> list[Figure]:
    names = [f"config-{number}" for number in range(100)]
    bodies = [json.dumps(make_config(name)).encode() for name in names]
    await send(running, [make_request(running, "POST", _CONFIGS, b) for b in bodies], AT_ONCE)
    alone = await send(running, _changes(running, names, count, "a"), AT_ONCE)
    watchers = [await _watch(running) for _ in range(WATCHERS)]
    await _wait_for(watchers, len(names))
    before = sum(watcher.events for watcher in watchers)
    began = time.perf_counter()
    watched = await send(running, _changes(running, names, count, "b"), AT_ONCE)
    await _wait_for(watchers, len(names) + count)
    seconds = max(watcher.last for watcher in watchers) - began
    events = sum(watcher.events for watcher in watchers) - before
    extra = watched.server_cpu_seconds - alone.server_cpu_seconds
    client = watched.client_cpu_seconds / watched.seconds
    return [
        Figure(
            f"deliveries to {WATCHERS} watchers",
            events / seconds,
            "/s",
            at_least=20_000,
            note=f"client used {client:.0%} of its core",
        ),
        Figure(
            "deliveries, for a second of server CPU",
            events / watched.server_cpu_seconds,
            "/s",
            at_least=20_000,
            note="the patches that cause them included",
        ),
        Figure("a delivery, server CPU", extra / events * 1e6, "µs each"),
        Figure("patches without watchers", alone.rate, "/s"),
        Figure("patches without watchers, server CPU", alone.server_cpu_us, "µs each"),
    ]


def _changes(running: Cluster, names: list[str], count: int, mark: str) -> list[bytes]:
    requests = []
    for number in range(count):
        body = json.dumps({"data": {"step": f"{mark}{number}"}}).encode()
        path = f"{_CONFIGS}/{names[number % len(names)]}"
        requests.append(make_request(running, "PATCH", path, body))
    return requests


async def _watch(running: Cluster) -> _Watcher:
    watcher = _Watcher()
    path = f"{_CONFIGS}?watch=true&fieldSelector=metadata.name!=kube-root-ca.crt"
    watcher.request = make_request(running, "GET", path)
    loop = asyncio.get_running_loop()
    await loop.create_connection(lambda: watcher, "127.0.0.1", running.port, ssl=trust(running))
    return watcher


async def _wait_for(watchers: list[_Watcher], events: int) -> None:
    end = time.monotonic() + 60
    while any(watcher.events < events for watcher in watchers):
        if time.monotonic() > end:
            raise TimeoutError(f"events so far: {[watcher.events for watcher in watchers]}")
        await asyncio.sleep(0.002)
