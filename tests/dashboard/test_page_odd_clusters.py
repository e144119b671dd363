"""The page of clusters that are not simulated or hostile, under a prefix, and without colours."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import pytest
from page_checks import check_with_axe, open_page, open_workload
from page_hand import RESOURCE, Dashboard, create, set_image

from browser_driver import Tab
from kohort.cluster.errors import NotFound
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.objects import Object
from kohort.cluster.port import Listing, Selection, WatchEvent
from kohort.dashboard.server import DashboardOptions, DashboardServer
from kohort.simulator.clock_page import CLOCK_PATH
from kohort.simulator.stages import PREFIX, PULL_ERROR
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
OpenDashboard = Callable[..., Awaitable[Dashboard]]
NAME, ATTACK = b"hostile-name", b"<img src=x onerror=window.attacked=1>"
BUTTONS = "document.querySelectorAll('button[aria-label*=\" node \"]').length"
REQUESTS = "performance.getEntriesByType('resource').map((each) => each.name)"
# Each word of a state with the class that colours it, and each phase with how it is drawn.
WORDS = "[...document.querySelectorAll('.word')].map((each) => [each.className, each.textContent])"
SHAPES = """[...document.querySelectorAll('.timeline .span')].map((each) => [
  each.classList[1], each.getAttribute('height'), getComputedStyle(each).strokeDasharray,
  each.querySelector('title').textContent])"""
BAND = "document.querySelector('.timeline .budget title')?.textContent"


class OddCluster:
    """A cluster with something odd about it; all else is as it is."""

    def __init__(self, cluster: HttpCluster) -> None:
        self._cluster = cluster

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)


class PlainCluster(OddCluster):
    """It has no clock of its own, as a cluster that is not simulated."""

    async def read_document(self, path: str) -> Object:
        """A document, but not the clock."""
        if path == CLOCK_PATH:
            raise NotFound("there is no such page")
        return await self._cluster.read_document(path)


class HostileCluster(OddCluster):
    """Its API server takes any name, so a workload and its pods have markup in theirs."""

    async def list(self, selection: Selection) -> Listing:
        """All objects, renamed."""
        found = await self._cluster.list(selection)
        return Listing([raw.replace(NAME, ATTACK) for raw in found.items], found.version)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """All changes, renamed."""
        async for event in self._cluster.watch(selection, version, initial=initial):
            yield WatchEvent(event.type, event.raw.replace(NAME, ATTACK))


@pytest.fixture
async def open_odd(cluster: Cluster, tab: Tab) -> AsyncIterator[Callable[..., Any]]:
    """Start a dashboard of an odd cluster; it ends after the test, and its page before."""
    servers: list[DashboardServer] = []

    async def start(odd: type[OddCluster]) -> Dashboard:
        def reach() -> HttpCluster:
            return cast(HttpCluster, odd(connect(cluster.kubeconfig)))

        servers.append(DashboardServer(reach, DashboardOptions(port=0)))
        await servers[-1].start()
        return Dashboard(servers[-1], cast(Any, None))

    yield start
    await tab.go("about:blank")
    for server in servers:
        await server.stop()


async def test_a_cluster_that_is_not_simulated_has_no_controls_of_a_simulation(
    tab: Tab, open_odd: Callable[..., Any]
):
    dashboard = await open_odd(PlainCluster)
    await open_page(tab, dashboard, "#/nodes")
    await tab.see("gpu-07")
    assert await tab.run("document.querySelector('#to-simulation').hidden")
    assert await tab.run(BUTTONS) == 0
    await tab.run("location.hash = '#/simulation'")
    await tab.see("Workloads")
    for path, body in (("clock", '{"action": "pause"}'), ("nodes/gpu-07/fail", "{}")):
        sent = f"fetch('api/v1/{path}', {{method: 'POST', body: '{body}'}})"
        told = await tab.run(f"{sent}.then(async (each) => [each.status, await each.text()])")
        assert told[0] == 404 and "this cluster is not simulated" in told[1]
    tab.errors[:] = [e for e in tab.errors if "404" not in e]


async def test_a_hostile_name_stays_a_text_on_every_page(
    tab: Tab, open_odd: Callable[..., Any], cluster: Cluster
):
    await create(cluster, NAME.decode(), annotations={PULL_ERROR: "no such tag"})
    dashboard = await open_odd(HostileCluster)
    await open_page(tab, dashboard)
    await tab.wait_for("!!document.querySelector('tr.help')")
    await tab.see(ATTACK.decode())
    await tab.run("document.querySelector('tr.help a').click()")
    await tab.wait_for("document.querySelector('main h1')?.innerText.startsWith('<img src=x')")
    await tab.see(f"{ATTACK.decode()}-0")
    for path in ("nodes", "journal", "simulation"):
        await tab.run(f"location.hash = '#/{path}'")
        await tab.wait_for("!document.querySelector('main').innerText.includes('Loading')")
        assert await tab.run("document.querySelectorAll('main img').length") == 0, path
    assert await tab.run("window.attacked") is None


async def test_every_request_goes_to_the_server_of_the_page_and_under_its_prefix(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    dashboard = await open_dashboard(prefix="/tools/kohort")
    await create(cluster, "inside")
    await open_page(tab, dashboard)
    paths = ("nodes", "simulation", "journal", "reason/BackingOff")
    for path in (*paths, f"workload/{RESOURCE}/default/inside", ""):
        await tab.run(f"location.hash = '#/{path}'")
        await tab.wait_for("!document.querySelector('main').innerText.includes('Loading')")
        await tab.wait_for("!!document.querySelector('main h1')")
    found = await tab.run(REQUESTS)
    assert len(found) > 15
    assert [each for each in found if not each.startswith(dashboard.base)] == []


async def test_the_speed_of_the_simulation_is_set(tab: Tab, dashboard: Dashboard):
    await open_page(tab, dashboard, "#/simulation")
    await tab.wait_for("!!document.querySelector('#speed')")
    for speed in (40, 20):
        await tab.run(f"document.querySelector('#speed').value = {speed}")
        await tab.click(".controls button:last-of-type")
        await tab.see(f"running at speed {speed}")


async def test_states_and_phases_are_told_without_colours(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "pale", 3, annotations={f"{PREFIX}load-for": "60s"})
    await create(cluster, "pale-stuck", annotations={PULL_ERROR: "no such tag"})
    await open_page(tab, dashboard)
    await tab.see("no such tag")
    words = await tab.run(WORDS)
    await open_workload(tab, dashboard, "pale")
    await tab.see("3/3 ready")
    await tab.wait_for(BAND)
    band = "groups: 3 ready of 3; a rollout keeps at least 2 and makes at most 3"
    assert await tab.run(BAND) == band
    await set_image(cluster, "pale", "engine:2")
    await tab.wait_for("!!document.querySelector('.span.loading')")
    await tab.see("3/3 updated")
    words += await tab.run(WORDS)
    assert {"word ready", "word broken"} <= {style for style, _ in words}
    for style, text in words:
        assert not text[0].isalnum(), text
        assert style.split()[-1] in text, (style, text)
    shapes = {phase: (height, dashes) for phase, height, dashes, _ in await tab.run(SHAPES)}
    assert {"loading", "ready"} <= set(shapes)
    assert len(set(shapes.values())) == len(shapes), shapes
    assert all(title.startswith(phase) for phase, _, _, title in await tab.run(SHAPES))
    await check_with_axe(tab)
