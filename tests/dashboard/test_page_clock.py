"""Ages on pages of a cluster with another clock than this machine: they follow that clock."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, cast

import pytest
from page_hand import RESOURCE, make_workload

from browser_driver import Tab
from children import started
from kohort.apis.leaderworkerset.labels import KIND
from kohort.cluster.errors import NotFound
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.objects import Object
from kohort.dashboard.server import DashboardOptions, DashboardServer
from kohort.simulator.clock_page import CLOCK_PATH
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
# The clock is years behind, so that the wall clock cannot pass for it.
UP = ("up", "--clock", "2020-01-01T09:00:00Z", "--port", "0", "--dashboard-port", "0")
AGE = "(document.querySelector('tbody tr td:last-child time.age')?.textContent || '')"


@pytest.fixture
def past(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A cluster whose clock stands in the past, with its page: what it says of itself."""
    command = [sys.executable, "-m", "kohort", *UP, "-o", "json"]
    environment = {**os.environ, "KOHORT_HOME": str(tmp_path)}
    with started(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.terminate()
        process.wait(timeout=60)


async def turn_clock(past: dict[str, Any], change: Object) -> None:
    async with connect(Path(past["kubeconfig"])) as port:
        await port.send_document(CLOCK_PATH, change)


async def test_ages_follow_the_clock_of_the_cluster(past: dict[str, Any], tab: Tab):
    async with connect(Path(past["kubeconfig"])) as port:
        await port.create(KIND, "default", make_workload("aged"))
    await tab.go(past["dashboard"])
    await tab.wait_for(f"{AGE} === '0s'")
    await turn_clock(past, {"action": "step", "seconds": 90})
    await tab.wait_for(f"{AGE} === '1m30s'")
    # At the pace of the wall this would take longer than the test waits.
    await turn_clock(past, {"action": "speed", "speed": 60})
    await turn_clock(past, {"action": "resume"})
    await tab.wait_for(f"parseInt({AGE}) >= 5")
    await tab.run(f"location.hash = '#/workload/{RESOURCE}/default/aged'")
    await tab.wait_for("!!document.querySelector('.timeline .span.ready')")
    await turn_clock(past, {"action": "pause"})
    await tab.go("about:blank")


class AheadCluster:
    """A cluster whose API server is two hours ahead of this machine."""

    def __init__(self, cluster: HttpCluster) -> None:
        self._cluster = cluster

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    @property
    def server_date(self) -> str:
        return format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)

    async def read_document(self, path: str) -> Object:
        raise NotFound(f"{path}: this cluster is not simulated")


@pytest.fixture
async def ahead(cluster: Cluster, tab: Tab) -> AsyncIterator[DashboardServer]:
    """A dashboard of that cluster; it ends after the test, and its page before."""
    reached = cast(HttpCluster, AheadCluster(connect(cluster.kubeconfig)))
    server = DashboardServer(lambda: reached, DashboardOptions(port=0))
    await server.start()
    yield server
    await tab.go("about:blank")
    await server.stop()


async def test_ages_follow_the_date_of_the_server_where_it_is_far_from_ours(
    tab: Tab, ahead: DashboardServer, cluster: Cluster
):
    async with connect(cluster.kubeconfig) as port:
        await port.create(KIND, "default", make_workload("older"))
    await tab.go(ahead.url)
    await tab.wait_for(f"{AGE}.startsWith('2h')")
