"""
Serving: requests per second over HTTPS, with the server alone on one core.

The cluster has no nodes and the pods name a scheduler that does not exist, so only the
API works; what creates cost when the scheduler looks at each pod, finds no node and
says so in its status and in an event, is shown apart. What a
request costs the server in CPU time is the figure to compare between machines
that are busy with other things.
"""

import json

from bench.events import run
from bench.figures import Figure
from bench.loads import Outcome, make_request, send
from bench.objects import DEFAULT_SCHEDULER, make_pod
from bench.processes import Cluster, cluster, pin

AT_ONCE = 64
_PODS = "/api/v1/namespaces/default/pods"


def measure(quick: bool) -> list[Figure]:
    """Create, read, patch and delete pods of 5 KB."""
    pin(1)
    with cluster("--nodes", "0") as running:
        return run(_measure(running, 1_500 if quick else 6_000))


async def _measure(running: Cluster, count: int) -> list[Figure]:
    warm = [_create(running, f"warm-{number}") for number in range(200)]
    await send(running, warm, AT_ONCE)
    names = [f"pod-{number:05d}" for number in range(count)]
    made = await send(running, [_create(running, name) for name in names], AT_ONCE)
    paths = [f"{_PODS}/{name}" for name in names]
    read = await send(running, [make_request(running, "GET", path) for path in paths * 2], AT_ONCE)
    body = json.dumps({"metadata": {"labels": {"step": "2"}}}).encode()
    patches = [make_request(running, "PATCH", path, body) for path in paths[: count // 2]]
    patched = await send(running, patches, AT_ONCE)
    deletes = [make_request(running, "DELETE", path) for path in paths[: count // 2]]
    deleted = await send(running, deletes, AT_ONCE)
    looked_at = [_create(running, f"seen-{n:05d}", DEFAULT_SCHEDULER) for n in range(count // 4)]
    seen = await send(running, looked_at, AT_ONCE)
    size = len(json.dumps(make_pod("pod-00000", kilobytes=5)))
    return [
        *_figures(f"creates ({size / 1024:.1f} KB)", made, 1_000),
        *_figures("gets", read, 3_000),
        *_figures("merge patches of a label", patched),
        *_figures("deletes", deleted),
        *_figures("creates that the scheduler looks at", seen),
    ]


def _create(running: Cluster, name: str, scheduler: str = "nobody") -> bytes:
    body = json.dumps(make_pod(name, kilobytes=5, scheduler=scheduler)).encode()
    return make_request(running, "POST", _PODS, body)


def _figures(name: str, outcome: Outcome, goal: float | None = None) -> list[Figure]:
    note = f"client used {outcome.client_cpu_seconds / outcome.seconds:.0%} of its core"
    return [
        Figure(f"{name}, {AT_ONCE} at once", outcome.rate, "/s", goal, note=note),
        Figure(f"{name}, for a second of server CPU", outcome.rate_alone, "/s", goal),
        Figure(f"{name}, server CPU", outcome.server_cpu_us, "µs each"),
    ]
