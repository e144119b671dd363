"""
Growing: what an operation costs with 1,000 objects and with 20,000.

In-process figures are CPU time of this process, HTTP figures CPU time of the server,
so that a busy machine does not bend the comparison.
"""

import json
import time
from collections.abc import Awaitable, Callable

from bench.events import run
from bench.figures import Figure
from bench.inside import make_api
from bench.loads import make_request, send
from bench.objects import make_pod
from bench.processes import Cluster, cluster, pin
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import ListOptions, PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.port import PatchType

AT_ONCE = 32
_SIZES = (1_000, 20_000)
_PODS = "/api/v1/namespaces/default/pods"
_OPTIONS = WriteOptions(manager="bench")
_PATCH = {"metadata": {"labels": {"step": "2"}}}
_Costs = dict[str, float]


def measure(quick: bool) -> list[Figure]:
    """Compare both sizes, with and without HTTP."""
    pin(1)
    sizes = (1_000, 5_000) if quick else _SIZES
    inside = run(_inside(sizes))
    with cluster("--nodes", "0", "--no-operator") as running:
        outside = run(_outside(running, sizes))
    return [*_compare("in-process", inside, sizes), *_compare("HTTPS", outside, sizes)]


def _compare(place: str, costs: dict[int, _Costs], sizes: tuple[int, ...]) -> list[Figure]:
    few, many = sizes
    figures = []
    for name, cost in costs[few].items():
        later = costs[many][name]
        figures += [
            Figure(f"{place}: {name}, {few:,} objects", cost, "µs CPU"),
            Figure(
                f"{place}: {name}, {many:,} objects",
                later,
                "µs CPU",
                note=f"{later / cost:.2f} times as much",
            ),
        ]
    return figures


async def _inside(sizes: tuple[int, ...]) -> dict[int, _Costs]:
    api = await make_api()
    pods = api.target(kinds.POD, "default")
    made = 0
    costs = {}
    for size in sizes:
        while made < size:
            await api.create(pods, make_pod(f"pod-{made:05d}"), _OPTIONS)
            made += 1
        costs[size] = await _cost_inside(api, size)
    return costs


async def _cost_inside(api: ApiServer, size: int) -> _Costs:
    names = [f"pod-{number * size // 300:05d}" for number in range(300)]
    pods = api.target(kinds.POD, "default")
    patch = PatchBody(PatchType.MERGE, {"metadata": {"labels": {"size": str(size)}}})

    async def create(name: str) -> None:
        await api.create(pods, make_pod(f"{name}-{size}"), _OPTIONS)

    async def read(name: str) -> None:
        api.read(api.target(kinds.POD, "default", name))

    async def change(name: str) -> None:
        await api.patch(api.target(kinds.POD, "default", name), patch, _OPTIONS)

    async def page(name: str) -> None:
        api.list(pods, ListOptions(limit=500))

    return {
        "create": await _cost(create, names),
        "get": await _cost(read, names * 20),
        "patch": await _cost(change, names),
        "list page of 500": await _cost(page, names[:50]),
    }


async def _cost(work: Callable[[str], Awaitable[None]], names: list[str]) -> float:
    """The best of a few parts, in microseconds of CPU time for each."""
    costs = []
    part = max(1, len(names) // 5)
    for start in range(0, part * 5, part):
        began = time.process_time()
        for name in names[start : start + part]:
            await work(name)
        costs.append((time.process_time() - began) / part * 1e6)
    return min(costs)


async def _outside(running: Cluster, sizes: tuple[int, ...]) -> dict[int, _Costs]:
    costs = {}
    made = 0
    for size in sizes:
        bodies = [_body(f"pod-{number:05d}") for number in range(made, size - 500)]
        made = max(made, size - 500)
        await send(running, [make_request(running, "POST", _PODS, b) for b in bodies], AT_ONCE)
        costs[size] = await _cost_outside(running, size)
    return costs


def _body(name: str) -> bytes:
    return json.dumps(make_pod(name)).encode()


async def _cost_outside(running: Cluster, size: int) -> _Costs:
    step = max(1, (size - 500) // 500)
    names = [f"pod-{number * step:05d}" for number in range(500)]
    paths = [f"{_PODS}/{name}" for name in names]
    patch = json.dumps({"metadata": {"labels": {"size": str(size)}}}).encode()
    bodies = [_body(f"{name}-{size}") for name in names]
    loads = {
        "create": [make_request(running, "POST", _PODS, body) for body in bodies],
        "get": [make_request(running, "GET", path) for path in paths * 4],
        "patch": [make_request(running, "PATCH", path, patch) for path in paths],
        "list page of 500": [make_request(running, "GET", f"{_PODS}?limit=500")] * 50,
    }
    return {
        name: (await send(running, load, AT_ONCE)).server_cpu_us for name, load in loads.items()
    }
