"""
Serving: requests per second over HTTPS, with the server alone on one core.

The cluster has no nodes and the pods name a scheduler that does not exist, so only the
API works; what creates cost when the scheduler looks at each pod, finds no node and
says so in its status and in an event, is shown apart. What a
request costs the server in CPU time is the figure to compare between machines
that are busy with other things.
"""

import json
from statistics import median

from bench.events import run
from bench.figures import Figure
from bench.loads import Outcome, make_request, send
from bench.objects import DEFAULT_SCHEDULER, make_pod
from bench.processes import Cluster, cluster, pin

AT_ONCE = 64
PARTS = 5
_PODS = "/api/v1/namespaces/default/pods"


def measure(quick: bool) -> list[Figure]:
    """Create, read, patch and delete pods of 5 KB."""
    pin(1)
    with cluster("--nodes", "0", "--no-operator") as running:
        return run(_measure(running, 1_500 if quick else 6_000))


async def _measure(running: Cluster, count: int) -> list[Figure]:
    warm = [_create(running, f"warm-{number}") for number in range(200)]
    await send(running, warm, AT_ONCE)
    names = [f"pod-{number:05d}" for number in range(count)]
    made = await _send(running, [_create(running, name) for name in names])
    paths = [f"{_PODS}/{name}" for name in names]
    read = await _send(running, [make_request(running, "GET", path) for path in paths * 2])
    body = json.dumps({"metadata": {"labels": {"step": "2"}}}).encode()
    patches = [make_request(running, "PATCH", path, body) for path in paths[: count // 2]]
    patched = await _send(running, patches)
    deletes = [make_request(running, "DELETE", path) for path in paths[: count // 2]]
    deleted = await _send(running, deletes)
    looked_at = [_create(running, f"seen-{n:05d}", DEFAULT_SCHEDULER) for n in range(count // 4)]
    seen = await _send(running, looked_at)
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


async def _send(running: Cluster, requests: list[bytes]) -> list[Outcome]:
    """Send the requests in a few parts: the best was disturbed least."""
    size = -(-len(requests) // PARTS)
    parts = [requests[start : start + size] for start in range(0, len(requests), size)]
    return [await send(running, part, AT_ONCE) for part in parts]


def _figures(name: str, outcomes: list[Outcome], goal: float | None = None) -> list[Figure]:
    best = max(outcomes, key=lambda outcome: outcome.rate)
    note = f"client used {best.client_cpu_seconds / best.seconds:.0%} of its core"
    return [
        Figure(f"{name} (best part)", best.rate, "/s", goal, note=note),
        Figure(f"{name} (median)", median(o.rate for o in outcomes), "/s"),
        Figure(f"{name}, by server CPU", median(o.rate_alone for o in outcomes), "/s", goal),
        Figure(f"{name}, server CPU", median(o.server_cpu_us for o in outcomes), "µs each"),
    ]
