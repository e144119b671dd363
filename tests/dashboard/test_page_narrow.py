"""The page tells namesakes of several kinds apart, also on a window of 400 pixels."""

import pytest
from page_checks import OVERFLOWS, check_with_axe, open_page
from page_hand import RESOURCE, Dashboard, create, create_example, set_image

from browser_driver import Tab
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
KINDS = ("LeaderWorkerSet", "ModelServing", "RoleBasedGroup")
OWN = ["lws/llama", "ms/llama", "rbg/llama"]
ROWS = """[...document.querySelectorAll('tbody tr')]
  .filter((row) => row.dataset.id.endsWith('/llama')).map((row) => row.innerText)"""
RESIDENTS = "[...document.querySelectorAll('.residents a')].map((link) => link.innerText)"
LANES = "[...document.querySelectorAll('.timeline text.lane')].map((text) => text.textContent)"
# Names of lanes that lie over a box of the time line, or go beyond its edge.
COVERED = """[...document.querySelectorAll('.timeline text.lane')].filter((text) => {
  const own = text.getBBox(), edge = text.ownerSVGElement.clientWidth;
  const boxes = [...document.querySelectorAll('.timeline rect')];
  return own.x + own.width > edge || boxes.some((rect) => {
    const box = rect.getBBox(), bottom = own.y + own.height - 3;
    const isBeside = box.x > own.x + own.width || own.x > box.x + box.width;
    return !isBeside && box.y < bottom && own.y + 3 < box.y + box.height;
  });
}).map((text) => text.textContent)"""
DISABLED = """[...document.querySelectorAll('.controls button')].slice(0, 2)
  .map((button) => button.disabled)"""


async def test_namesakes_of_several_kinds_are_told_apart_on_every_page(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "llama", 3)
    await create_example(cluster, "modelserving.yaml")
    await create_example(cluster, "rolebasedgroup.yaml")
    await tab.resize(400, 800)
    await open_page(tab, dashboard)
    await tab.wait_for(f"({ROWS}).length === 3")
    rows = await tab.run(ROWS)
    assert [kind for kind in KINDS if sum(kind in row for row in rows) != 1] == [], rows
    assert not await tab.run(OVERFLOWS)
    await check_with_axe(tab)
    await tab.run("location.hash = '#/nodes'")
    await tab.wait_for(f"new Set({RESIDENTS}).size === 3")
    assert sorted(set(await tab.run(RESIDENTS))) == OWN
    for width in (400, 1200):
        await tab.resize(width, 800)
        await tab.run("location.hash = '#/journal'")
        await tab.wait_for(f"({LANES}).length === 3")
        assert await tab.run(LANES) == OWN
        assert await tab.run(COVERED) == []
        assert not await tab.run(OVERFLOWS)


async def test_lanes_of_a_time_line_have_their_names_on_a_narrow_window(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "laned", 3)
    await tab.resize(400, 800)
    await open_page(tab, dashboard, f"#/workload/{RESOURCE}/default/laned")
    await tab.see("3/3 ready")
    await set_image(cluster, "laned", "engine:2")
    await tab.see("3/3 updated")
    await tab.wait_for(f"({LANES}).length === 4")
    assert await tab.run(LANES) == ["ready groups", "group 0", "group 1", "group 2"]
    assert await tab.run(COVERED) == []
    assert not await tab.run(OVERFLOWS)
    await check_with_axe(tab)


async def test_the_clock_offers_only_what_would_change_it(tab: Tab, dashboard: Dashboard):
    await open_page(tab, dashboard, "#/simulation")
    await tab.see("running at speed")
    await tab.wait_for(f"({DISABLED}).join() === 'false,true'")
    await tab.click(".controls button:nth-of-type(1)")
    await tab.see("paused at speed")
    await tab.wait_for(f"({DISABLED}).join() === 'true,false'")
    await tab.click(".controls button:nth-of-type(2)")
    await tab.see("running at speed")
    await check_with_axe(tab)
