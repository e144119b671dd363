"""A page of a large cluster, which takes long to read: what is known is shown at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from page_checks import check_with_axe, open_page
from page_hand import Dashboard, create

from browser_driver import Tab
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.port import Listing, Selection, WatchEvent
from kohort.dashboard.server import DashboardOptions, DashboardServer
from kohort.surveys import POD
from kohort.testing import Cluster

pytestmark = pytest.mark.slow


class SlowCluster:
    """A cluster that lists no pods before it may."""

    def __init__(self, cluster: HttpCluster) -> None:
        self._cluster = cluster
        self.may_list = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def list(self, selection: Selection) -> Listing:
        """All objects, pods among them as soon as they may be listed."""
        if selection.kind == POD:
            await self.may_list.wait()
        return await self._cluster.list(selection)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """All objects and changes, those of pods as soon as they may be listed."""
        if selection.kind == POD:
            await self.may_list.wait()
        async for event in self._cluster.watch(selection, version, initial=initial):
            yield event


@pytest.fixture
async def slow(cluster: Cluster) -> SlowCluster:
    """The cluster behind a slow wire."""
    return SlowCluster(connect(cluster.kubeconfig))


@pytest.fixture
async def cold(slow: SlowCluster, tab: Tab) -> AsyncIterator[DashboardServer]:
    """A dashboard that no browser has opened yet; it ends after the test, and its page before."""
    server = DashboardServer(lambda: cast(HttpCluster, slow), DashboardOptions(port=0))
    await server.start()
    yield server
    await tab.go("about:blank")
    await server.stop()


async def test_names_are_shown_before_the_pods_are_listed(
    tab: Tab, cold: DashboardServer, slow: SlowCluster, cluster: Cluster
):
    await create(cluster, "early")
    await open_page(tab, Dashboard(cold, cast(Any, None)))
    await tab.see("early")
    await tab.see("○ reading")
    await tab.see("reading the cluster: ")
    assert "2/2" not in await tab.run("document.querySelector('tbody').innerText")
    await check_with_axe(tab)
    slow.may_list.set()
    await tab.wait_for("document.querySelector('tbody').innerText.includes('2/2')")
    await tab.wait_for("!document.body.innerText.includes('reading the cluster')")


async def test_a_page_of_a_workload_waits_for_its_pods(
    tab: Tab, cold: DashboardServer, slow: SlowCluster, cluster: Cluster
):
    await create(cluster, "awaited")
    address = "#/workload/leaderworkerset.leaderworkerset.x-k8s.io/default/awaited"
    await open_page(tab, Dashboard(cold, cast(Any, None)), address)
    await tab.see("Loading")
    slow.may_list.set()
    await tab.see("2/2 ready")
