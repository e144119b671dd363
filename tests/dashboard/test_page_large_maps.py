"""The page of nodes of a large cluster shows a part, and more when a user asks for it."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from page_checks import OVERFLOWS, check_with_axe, open_page
from page_hand import Dashboard
from still_cluster import NODES, PODS, make_cluster

from browser_driver import Tab
from kohort.dashboard.server import DashboardOptions, DashboardServer

pytestmark = pytest.mark.slow
ELEMENTS_MAX = 4000
SHOWN = "document.querySelectorAll('.host').length"
LINES = "document.querySelectorAll('.residents li').length"
CROWDED = PODS - 2 * NODES + 2  # pods on one node; the others have two


@pytest.fixture
async def large(tab: Tab) -> AsyncIterator[Dashboard]:
    """A dashboard of a large cluster; it ends after the test, and its page before."""
    server = DashboardServer(lambda: cast(Any, make_cluster()), DashboardOptions(port=0))
    await server.start()
    yield Dashboard(server, cast(Any, None))
    await tab.go("about:blank")
    await server.stop()


async def test_a_large_map_is_shown_in_part_and_more_of_it_when_asked(tab: Tab, large: Dashboard):
    await open_page(tab, large, "#/nodes")
    await tab.see(f"100 of {NODES} nodes are shown.")
    assert await tab.run(SHOWN) == 100
    assert await tab.run("document.querySelectorAll('*').length") < ELEMENTS_MAX
    await check_with_axe(tab)
    await tab.click("button[data-key=more-nodes]")
    await tab.see(f"200 of {NODES} nodes are shown.")
    assert await tab.run(SHOWN) == 200


async def test_all_pods_of_a_crowded_node_are_shown_when_asked_for(tab: Tab, large: Dashboard):
    await tab.resize(400, 800)
    await open_page(tab, large, "#/nodes")
    await tab.see(f"and {CROWDED - 10} more on node-0001")
    assert not await tab.run(OVERFLOWS)
    before = await tab.run(LINES)
    await tab.click("button[data-key='all node-0001']")
    await tab.wait_for(f"{LINES} === {before + CROWDED - 10}")


async def test_a_search_finds_a_node_that_was_left_out(tab: Tab, large: Dashboard):
    await open_page(tab, large, "#/nodes")
    await tab.see(f"of {NODES} nodes are shown.")
    await tab.press("/")
    await tab.type("node-0487")
    await tab.wait_for(f"{SHOWN} === 1")
    await tab.see("pod-00487")
    await tab.press("Escape")
    await tab.wait_for(f"{SHOWN} === 100")
    await tab.press("/")
    await tab.type("nowhere")
    await tab.see("No node matches.")
