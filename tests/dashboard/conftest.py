"""A dashboard of a cluster with the operator in it, and a real browser to open it."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
from page_hand import Dashboard

from browser_driver import Tab, find_browser, started_browser
from kohort.cluster.http import connect
from kohort.dashboard.server import DashboardOptions, DashboardServer
from kohort.testing import Cluster, start_cluster

# Without a browser these tests cannot run. A build machine must have one, or say that it has none.
IS_NEEDED = os.environ.get("CI") and not os.environ.get("KOHORT_WITHOUT_BROWSER")
collect_ignore_glob = [] if find_browser() or IS_NEEDED else ["test_page_*.py"]
OpenDashboard = Callable[..., Awaitable[Dashboard]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A fast cluster with the operator in it."""
    with start_cluster(operator=True, speed=20.0, racks=2, spines=1, gang="volcano") as made:
        yield made


@pytest.fixture
async def open_dashboard(cluster: Cluster) -> AsyncIterator[OpenDashboard]:
    """Start a dashboard with options; it ends with the test."""
    async with AsyncExitStack() as stack:

        async def start(**options: object) -> Dashboard:
            wish = DashboardOptions(**{"port": 0, **options})
            server = DashboardServer(lambda: connect(cluster.kubeconfig), wish)
            await server.start()
            stack.push_async_callback(server.stop)
            session = await stack.enter_async_context(aiohttp.ClientSession())
            return Dashboard(server, session)

        yield start


@pytest.fixture
async def dashboard(open_dashboard: OpenDashboard) -> Dashboard:
    """A dashboard as it is by default."""
    return await open_dashboard()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A browser for the test run; the address of its DevTools."""
    with started_browser(tmp_path_factory.mktemp("browser")) as address:
        yield address


@pytest.fixture
async def tab(browser: str, open_dashboard: OpenDashboard) -> AsyncIterator[Tab]:
    """
    A page with cookies of its own; nothing on it may have told the console an error.

    It is closed before dashboards end, which it would miss.
    """
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(browser, max_msg_size=0) as socket,
    ):
        made = Tab(socket)
        await made.open()
        yield made
        await made.close()
    assert made.errors == []
