"""A page of a user who may list nothing: it says so, and shows workloads as soon as it may."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from page_checks import OVERFLOWS, check_with_axe, open_page
from page_hand import Dashboard, create

from browser_driver import Tab
from kohort.cluster.errors import Forbidden
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.port import Listing, Selection, WatchEvent
from kohort.dashboard.server import DashboardOptions, DashboardServer
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
BOX = "document.querySelector('#problems')"


class RefusingCluster:
    """A cluster that lets a user list and watch nothing before it may."""

    def __init__(self, cluster: HttpCluster) -> None:
        self._cluster = cluster
        self.is_allowed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def list(self, selection: Selection) -> Listing:
        """All objects, as soon as they may be listed."""
        self._judge("list", selection)
        return await self._cluster.list(selection)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """All objects and changes, as soon as they may be watched."""
        self._judge("watch", selection)
        async for event in self._cluster.watch(selection, version, initial=initial):
            yield event

    def _judge(self, verb: str, selection: Selection) -> None:
        """Refuse in the words of an API server."""
        if not self.is_allowed:
            kind = selection.kind
            raise Forbidden(
                f'{kind.group_resource} is forbidden: User "jane" cannot {verb} resource '
                f'"{kind.plural}" in API group "{kind.group}" at the cluster scope'
            )


@pytest.fixture
async def refusing(cluster: Cluster) -> RefusingCluster:
    """The cluster of a user without permissions."""
    return RefusingCluster(connect(cluster.kubeconfig))


@pytest.fixture
async def refused(refusing: RefusingCluster, tab: Tab) -> AsyncIterator[Dashboard]:
    """A dashboard of that user; it ends after the test, and its page before."""
    server = DashboardServer(lambda: cast(HttpCluster, refusing), DashboardOptions(port=0))
    await server.start()
    yield Dashboard(server, cast(Any, None))
    await tab.go("about:blank")
    await server.stop()


async def test_a_user_who_may_list_nothing_reads_why(
    tab: Tab, refused: Dashboard, refusing: RefusingCluster, cluster: Cluster
):
    await create(cluster, "hidden")
    await tab.resize(400, 800)
    await open_page(tab, refused)
    await tab.see("No workload can be seen.")
    shown = await tab.run(f"[...{BOX}.querySelectorAll(':scope > p')].map((p) => p.innerText)")
    assert len(shown) == 3
    assert shown[0].startswith("leaderworkersets.leaderworkerset.x-k8s.io cannot be shown: ")
    assert 'User "jane" cannot ' in shown[0]
    assert 'resource "leaderworkersets"' in shown[0]
    await tab.run(f"{BOX}.querySelector('details').open = true")
    await tab.see('resource "pods"')
    assert not await tab.run(OVERFLOWS)
    await check_with_axe(tab)
    refusing.is_allowed = True
    await tab.see("hidden")
    await tab.wait_for(f"{BOX}.hidden")
