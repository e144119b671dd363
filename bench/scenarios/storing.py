"""
Storing: writes without sockets, first to the store alone, then through the whole API.

The store alone knows no schema and no admission. The API cleans, defaults, tracks
who owns what, checks, and stores.
"""

import gc
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from bench.events import run
from bench.figures import Figure
from bench.inside import make_api
from bench.objects import make_config, make_pod
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.apiserver.store.store import Store
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType

_OPTIONS = WriteOptions(manager="bench")


def measure(quick: bool) -> list[Figure]:
    """Write objects in several ways."""
    count = 2_000 if quick else 10_000
    return [*_measure_store(count), *run(_measure_api(count // 2))]


def _measure_store(count: int) -> list[Figure]:
    figures = []
    for title, objects in (
        ("small objects", [make_config(f"c-{n}") for n in range(count)]),
        ("pods of 5 KB", [make_pod(f"p-{n}", kilobytes=5) for n in range(count)]),
    ):
        store = Store()
        new = _best(partial(_put, store), _parts(objects))
        again = _best(partial(_put, store), _parts(objects))
        figures += [
            Figure(f"store: new {title}", new, "/s", at_least=10_000),
            Figure(f"store: changes of {title}", again, "/s", at_least=10_000),
        ]
    return figures


def _put(store: Store, objects: list[Object]) -> None:
    for obj in objects:
        name = obj["metadata"]["name"]
        store.put("bench", ("default", name), obj, {"metadata.name": name})


def _parts(objects: list[Object]) -> list[list[Object]]:
    size = len(objects) // 5
    return [objects[start : start + size] for start in range(0, size * 5, size)]


def _best(work: Callable[[list[Object]], None], parts: Iterable[list[Object]]) -> float:
    """The best of a few parts, by CPU time: the rate that was disturbed least."""
    rates = []
    for part in parts:
        gc.collect()
        began = time.process_time()
        work(part)
        rates.append(len(part) / (time.process_time() - began))
    return max(rates)


async def _measure_api(count: int) -> list[Figure]:
    api = await make_api()
    pods = api.target(kinds.POD, "default")
    names = [f"pod-{number:05d}" for number in range(count)]

    async def create(name: str) -> None:
        await api.create(pods, make_pod(name, kilobytes=5), _OPTIONS)

    async def label(name: str) -> None:
        patch = PatchBody(PatchType.MERGE, {"metadata": {"labels": {"step": "2"}}})
        await api.patch(api.target(kinds.POD, "default", name), patch, _OPTIONS)

    async def phase(name: str) -> None:
        patch = PatchBody(PatchType.MERGE, {"status": {"phase": "Running"}})
        await api.patch(api.target(kinds.POD, "default", name, "status"), patch, _OPTIONS)

    async def apply(name: str) -> None:
        body = {"metadata": {"name": name, "labels": {"applied": "yes"}}}
        options = WriteOptions(manager="applier", force=True)
        await api.patch(
            api.target(kinds.POD, "default", name), PatchBody(PatchType.APPLY, body), options
        )

    return [
        Figure("API: creates of pods of 5 KB", await _rate(create, names), "/s"),
        Figure("API: merge patches of a label", await _rate(label, names), "/s"),
        Figure("API: merge patches of a status", await _rate(phase, names), "/s"),
        Figure("API: server-side applies", await _rate(apply, names), "/s"),
    ]


async def _rate(work: Callable[[str], Awaitable[None]], names: list[str]) -> float:
    rates = []
    size = max(1, len(names) // 5)
    for start in range(0, size * 5, size):
        part = names[start : start + size]
        began = time.process_time()
        for name in part:
            await work(name)
        rates.append(len(part) / (time.process_time() - began))
    return max(rates)
