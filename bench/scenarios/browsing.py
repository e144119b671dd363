"""
Browsing: what a browser has to do for the pages of 200 workloads and 10,000 pods.

The dashboard serves a cluster that only lists and watches, on whose clock an hour passes: every
minute another workload is rolled out, group by group, while one page shows the overview and one
the first workload. A real Chromium counts its own work and its own heap.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
import orjson

from bench.figures import Figure
from bench.scenarios.viewing import VERSIONS, StillCluster, multiply, read_megabytes, take_seed
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind, Object
from kohort.dashboard.server import DashboardOptions, DashboardServer
from kohort.testing import start_cluster

GROUPS, SIZE = 10, 5
MINUTES = 60
_ROWS = "document.querySelectorAll('tbody tr').length"
_UPDATES = "Number(document.body.dataset.updates || 0)"
_READ = "!document.body.innerText.includes('reading the cluster')"
_LONGEST = "window.longest"
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime || 0"
_ELEMENTS = "document.querySelectorAll('main *').length"
_BYTES = """
  performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/v1/nodes'))
    .reduce((sum, e) => sum + e.encodedBodySize, 0)
"""
_WATCH = """
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ type: 'longtask' }); true
"""


class MovingCluster(StillCluster):
    """The same with a clock, on which minutes pass as they are told to."""

    server_date = ""

    def __init__(self, objects: dict[Kind, list[bytes]]) -> None:
        super().__init__(objects)
        self.now = datetime.now(UTC)

    async def read_document(self, path: str) -> Object:
        """The clock of a simulation that stands but for what is told."""
        stamp = self.now.isoformat(timespec="seconds").replace("+00:00", "Z")
        return {"now": stamp, "isOwn": True, "isPaused": True, "speed": 1.0, "elapsedSeconds": 0}

    async def close(self) -> None:
        """Nothing is open."""


def measure(quick: bool) -> list[Figure]:
    """Open the pages, let an hour pass, and open the page of nodes."""
    with start_cluster(operator=True, nodes=16, speed=1000.0) as cluster:
        seed = asyncio.run(take_seed(cluster))
    workloads, minutes = (40, 12) if quick else (200, MINUTES)
    return asyncio.run(_measure(multiply(seed, workloads), workloads, minutes))


async def _measure(objects: dict[Kind, list[bytes]], workloads: int, minutes: int) -> list[Figure]:
    cluster = MovingCluster(objects)
    server = DashboardServer(lambda: cast(Any, cluster), DashboardOptions(port=0))
    await server.start()
    try:
        async with _open_tabs(3) as (cold, shown, one):
            figures = [Figure("pods", len(objects[POD]), "")]
            figures += await _open_pages(server, workloads, cold, shown, one)
            figures += await _pass_time(cluster, objects[POD], minutes, shown, one)
            figures += await _show_nodes(cold)
            return figures
    finally:
        await server.stop()


@asynccontextmanager
async def _open_tabs(number: int) -> AsyncIterator[list[Any]]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from browser_driver import Tab, started_browser

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        address = stack.enter_context(started_browser(Path(folder)))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        tabs: list[Any] = []
        for _ in range(number):
            tab = Tab(await session.ws_connect(address, max_msg_size=0))
            await tab.open(beside=tabs[0] if tabs else None)
            tabs.append(tab)
        yield tabs
        await tabs[0].close()


async def _open_pages(
    server: DashboardServer, workloads: int, cold: Any, shown: Any, one: Any
) -> list[Figure]:
    """Open the overview before the cluster is read and after it, and the page of a workload."""
    await cold.come_forward()
    await cold.go(server.url)
    await cold.wait_for(f"{_ROWS} >= {workloads}", seconds=600)
    first = await cold.wait_for(_PAINT)
    await cold.wait_for(_READ, seconds=600)
    base = server.url.partition("?")[0]
    await shown.come_forward()
    await shown.go(base)
    rows = await shown.run(_until(f"{_ROWS} >= {workloads}"))
    warm = await shown.wait_for(_PAINT)
    await one.come_forward()
    await one.go(f"{base}#/workload/leaderworkerset.leaderworkerset.x-k8s.io/default/workload-0000")
    tree = await one.run(_until("!!document.querySelector('.tree')"))
    return [
        Figure("cold: first contentful paint", first, "ms", at_most=1000),
        Figure("first contentful paint", warm, "ms", at_most=1000),
        Figure("all rows of the overview", rows, "ms", at_most=1000),
        Figure("the page of a workload", tree, "ms", at_most=1000),
    ]


def _until(condition: str) -> str:
    """Milliseconds since the page was asked for, as soon as something holds."""
    return (
        "new Promise((tell) => { const look = () => "
        f"({condition}) ? tell(performance.now()) : setTimeout(look, 5); look(); }})"
    )


async def _pass_time(
    cluster: MovingCluster, pods: list[bytes], minutes: int, shown: Any, one: Any
) -> list[Figure]:
    for tab in (shown, one):
        await tab.run(_WATCH)
    before = float(await shown.run(_UPDATES))
    sizes: list[tuple[float, float, float]] = []
    work = await shown.read_metrics()
    other = await one.read_metrics()
    for minute in range(minutes):
        await _roll_out(cluster, pods, minute % 4 if minute % 2 else 0, minute)
        if minute in (minutes // 3, minutes - 1):
            sizes.append((await _weigh(shown), await _weigh(one), read_megabytes()))
    updates = float(await shown.run(_UPDATES)) - before
    spent, lone = await _find_work(shown, work), await _find_work(one, other)
    early, late = sizes
    return [
        Figure(f"updates in {minutes} minutes", updates, ""),
        Figure("work of an update, overview", spent / updates, "ms", at_most=100),
        Figure("longest task, overview", await shown.run(_LONGEST), "ms", at_most=100),
        Figure("work of an update, page of a workload", lone / updates, "ms", at_most=100),
        Figure("longest task, page of a workload", await one.run(_LONGEST), "ms", at_most=100),
        Figure("heap of the overview at the end", late[0], "MB"),
        Figure("  more than after a third", late[0] - early[0], "MB", at_most=1),
        Figure("heap of the page of a workload at the end", late[1], "MB"),
        Figure("  more than after a third", late[1] - early[1], "MB", at_most=1),
        Figure("memory of the server at the end", late[2], "MB"),
        Figure("  more than after a third", late[2] - early[2], "MB", at_most=5),
    ]


async def _roll_out(cluster: MovingCluster, pods: list[bytes], workload: int, round_: int) -> None:
    """Replace all pods of one workload within a minute, group by group."""
    own = pods[workload * GROUPS * SIZE : (workload + 1) * GROUPS * SIZE]
    for group in range(GROUPS):
        cluster.now += timedelta(seconds=60 / GROUPS)
        for raw in own[group * SIZE : (group + 1) * SIZE]:
            old = _make_pod(raw, round_, is_ready=False)
            cluster.push(POD, old, "DELETED")
            cluster.push(POD, _make_pod(raw, round_ + 1, is_ready=False), "ADDED")
        await asyncio.sleep(0.25)
        for raw in own[group * SIZE : (group + 1) * SIZE]:
            cluster.push(POD, _make_pod(raw, round_ + 1, is_ready=True))
        await asyncio.sleep(0.25)


def _make_pod(raw: bytes, round_: int, *, is_ready: bool) -> bytes:
    pod = orjson.loads(raw)
    pod["metadata"]["resourceVersion"] = str(next(VERSIONS))
    pod["metadata"]["uid"] = f"{pod['metadata']['uid'][:-4]}{round_:04}"
    for condition in pod["status"]["conditions"]:
        if condition["type"] in ("Ready", "ContainersReady"):
            condition["status"] = "True" if is_ready else "False"
    return orjson.dumps(pod)


async def _weigh(tab: Any) -> float:
    """Megabytes of the page's heap without garbage."""
    await tab.collect_garbage()
    return float((await tab.read_metrics())["JSHeapUsedSize"]) / 2**20


async def _find_work(tab: Any, before: dict[str, float]) -> float:
    """Milliseconds of all tasks of the page since then."""
    after = await tab.read_metrics()
    return (float(after["TaskDuration"]) - before["TaskDuration"]) * 1e3


async def _show_nodes(tab: Any) -> list[Figure]:
    """The first visit of the page of nodes, and the longest task in which the page draws it."""
    await tab.come_forward()
    await tab.run(_WATCH)
    begun = time.process_time()
    work = await tab.read_metrics()
    # The browser keeps so many answers, and forgets later ones.
    await tab.run("performance.clearResourceTimings(); true")
    await tab.run("window.begun = performance.now(); location.hash = '#/nodes'; true")
    shown = await tab.run(_until("!!document.querySelector('.host')"))
    spent = shown - await tab.run("window.begun")
    cost = (time.process_time() - begun) * 1e3
    used = (float((await tab.read_metrics())["ThreadTime"]) - work["ThreadTime"]) * 1e3
    await tab.wait_for("window.longest > 0 || performance.now() - window.begun > 3000")
    return [
        Figure("first visit of the page of nodes", spent, "ms", at_most=1000),
        Figure("  CPU time of the server", cost, "ms"),
        Figure("  CPU time of the page", used, "ms"),
        Figure("  longest task of the page", await tab.run(_LONGEST), "ms", at_most=100),
        Figure("  elements of the page", await tab.run(_ELEMENTS), ""),
        Figure("  bytes of its answers", await tab.run(_BYTES), ""),
    ]
