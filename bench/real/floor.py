"""
Floor: as many pods posted by a bare client, with no controller and no webhook, until all are ready.

It is what a controller can at best reach on the same control plane at the same hour.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bench.processes import cpu_seconds
from bench.real.server import AT_ONCE, at_once
from bench.real.sites import Site
from kohort.apis.facts import read_pod

_PODS = "/api/v1/namespaces/default/pods"
_SERVICES = "/api/v1/namespaces/default/services"
_LABELS = ("name", "group-index", "worker-index", "group-key", "template-revision-hash")
_VARIABLES = ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
SECONDS_MAX = 300.0


async def measure_floor(place: Site, pods: int) -> dict[str, Any]:
    """Seconds until all pods are posted, and until all are ready; they are deleted afterwards."""
    server, processes = place.server, place.processes()
    before = {name: cpu_seconds(pid) for name, pid in processes.items()}
    began = time.monotonic()
    ready: set[str] = set()

    async def follow() -> float:
        async for _, raw in server.watch(_PODS, "labelSelector=floor"):
            pod = read_pod(raw)
            if pod.is_ready:
                ready.add(pod.metadata.name)
                if len(ready) == pods:
                    return time.monotonic() - began
        raise AssertionError("a watch goes on for ever")

    following = asyncio.create_task(follow())
    bodies = [_make_pod(number) for number in range(pods)]
    await at_once([lambda body=body: server.ask("POST", _PODS, body) for body in bodies])
    posted = time.monotonic() - began
    done = await asyncio.wait_for(following, SECONDS_MAX)
    spent = {name: round(cpu_seconds(pid) - before[name], 2) for name, pid in processes.items()}
    query = "labelSelector=floor&gracePeriodSeconds=0"
    await server.ask("DELETE", _PODS, query=query)
    return {
        "pods": pods,
        "at_once": AT_ONCE,
        "posted_s": round(posted, 2),
        "ready_s": round(done, 2),
        "others_cpu_s": spent,
    }


@asynccontextmanager
async def floor_service(place: Site) -> AsyncIterator[None]:
    """A headless Service that selects all pods of a floor, as that of a workload does."""
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "floor"},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"floor": "1"},
        },
    }
    await place.server.ask("POST", _SERVICES, body)
    try:
        yield
    finally:
        await place.server.ask("DELETE", f"{_SERVICES}/floor")


def _make_pod(number: int) -> dict[str, Any]:
    """A pod about as large as those of a workload."""
    prefix = "leaderworkerset.sigs.k8s.io"
    container = {
        "name": "c",
        "image": "x",
        "env": [{"name": name, "value": "x-0.x.default"} for name in _VARIABLES],
        "resources": {"limits": {"cpu": "10m", "memory": "10Mi"}},
    }
    metadata = {
        "name": f"floor-{number}",
        "labels": {"floor": "1", **{f"{prefix}/{name}": "x" for name in _LABELS}},
    }
    spec = {"containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
