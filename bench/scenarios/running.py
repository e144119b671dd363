"""
Running: 1,000 nodes and 10,000 pods, from Deployments to Running, and gone again.

The whole cluster lives in this process at a hundred times the usual pace, so that
its event loop and its memory can be looked at from inside.
"""

import asyncio
import gc
import time

from bench.events import run
from bench.figures import Figure
from bench.inside import Stalls, embedded, wait_until
from bench.objects import make_deployment
from bench.processes import memory_bytes, pin
from kohort.apiserver.api.requests import DeleteOptions, WriteOptions
from kohort.cluster import kinds
from kohort.simulator.embedded import Embedded

SIZE = 100  # pods of a Deployment
_SECONDS_MAX = 400.0
_SPEED = 100.0


def measure(quick: bool) -> list[Figure]:
    """Start the pods, then delete their owners."""
    pin(0)
    return run(_measure(200, 2_000) if quick else _measure(1_000, 10_000))


async def _measure(nodes: int, pods: int) -> list[Figure]:
    async with embedded(nodes, _SPEED) as cluster:
        # What is made once, at first use, is no part of what a pod costs.
        await _start(cluster, range(1))
        await wait_until(lambda: _running(cluster) >= SIZE, _SECONDS_MAX)
        gc.collect()
        before = memory_bytes()
        rest = range(1, pods // SIZE)
        up = await _timed(_start(cluster, rest), lambda: _running(cluster) >= pods)
        gc.collect()
        kilobytes = (memory_bytes() - before) / (pods - SIZE) / 1024
        events = len(cluster.api.store.bucket("events").entries)
        stored = sum(len(e.raw) for e in cluster.api.store.bucket("pods").entries.values())
        down = await _timed(_stop(cluster), lambda: not cluster.api.store.bucket("pods").entries)
    size = f"{nodes:,} nodes, {pods:,} pods"
    return [
        Figure(f"{size}: all Running at speed 100", up[0], "s"),
        Figure("CPU time for that", up[1], "s", note=f"{pods / up[1]:,.0f} pods a CPU second"),
        Figure("longest stall of the event loop", up[2].wall * 1e3, "ms", at_most=200),
        Figure("longest stall, CPU time", up[2].cpu * 1e3, "ms", at_most=200),
        Figure(
            "memory for each pod",
            kilobytes,
            "KB",
            at_most=25,
            note=f"{stored / pods / 1024:.1f} KB is its JSON; {events / pods:.1f} events with it",
        ),
        Figure("all pods deleted", down[0], "s"),
        Figure("CPU time for that ", down[1], "s"),
        Figure("longest stall meanwhile", down[2].wall * 1e3, "ms", at_most=200),
        Figure("longest stall meanwhile, CPU time", down[2].cpu * 1e3, "ms", at_most=200),
    ]


async def _timed(work, holds) -> tuple[float, float, Stalls]:  # type: ignore[no-untyped-def]
    stalls = Stalls()
    watching = asyncio.create_task(stalls.watch())
    began, cpu = time.perf_counter(), time.process_time()
    await work
    await wait_until(holds, _SECONDS_MAX)
    watching.cancel()
    return time.perf_counter() - began, time.process_time() - cpu, stalls


async def _start(cluster: Embedded, numbers: range) -> None:
    target = cluster.api.target(kinds.DEPLOYMENT, "default")
    for number in numbers:
        body = make_deployment(f"serve-{number:03d}", SIZE)
        await cluster.api.create(target, body, WriteOptions(manager="bench"))
        await asyncio.sleep(0)


async def _stop(cluster: Embedded) -> None:
    for entry in list(cluster.api.store.bucket("deployments.apps").entries.values()):
        target = cluster.api.target(kinds.DEPLOYMENT, "default", entry.name)
        await cluster.api.delete(target, DeleteOptions(propagation="Background"))
        await asyncio.sleep(0)


def _running(cluster: Embedded) -> int:
    entries = cluster.api.store.bucket("pods").entries.values()
    return sum(entry.fields.get("status.phase") == "Running" for entry in entries)
