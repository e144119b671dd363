"""The journal and the explanations of reasons in a real browser."""

import json
from collections.abc import Awaitable, Callable

import pytest
from page_checks import OVERFLOWS, check_with_axe, open_page, open_workload
from page_hand import Dashboard, create, set_image

from browser_driver import Tab
from kohort.simulator.stages import PREFIX, PULL_ERROR
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
OpenDashboard = Callable[..., Awaitable[Dashboard]]
VALUE = "Number(document.querySelector('#moment').value)"
STEP = "document.querySelector('#step').innerText"


async def open_journal(tab: Tab, dashboard: Dashboard, cluster: Cluster, name: str) -> None:
    """Let a workload roll out, and open the journal of it."""
    await create(cluster, name)
    await open_workload(tab, dashboard, name)
    await tab.see("2/2 ready")
    await set_image(cluster, name, "engine:2")
    await tab.see("2/2 updated")
    await tab.click("a[href^='#/journal/']")
    await tab.wait_for(f"({STEP}).includes('default/{name}')")


async def test_the_slider_goes_back_to_a_moment_and_its_plan(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await open_journal(tab, dashboard, cluster, "recalled")
    await tab.see("the newest")
    await tab.see("2/2 updated")
    await check_with_axe(tab)
    await tab.run("document.querySelector('#moment').focus()")
    await tab.press("Home")
    await tab.wait_for(f"{VALUE} === 0 && ({STEP}).includes('no group')")
    # The heading has no number beside that of the moment among those of the workload.
    assert await tab.run(f"({STEP}).startsWith('default/recalled LeaderWorkerSet')")
    await tab.see("create Service recalled")
    await tab.see("this is 1 of")
    await tab.press("ArrowRight")
    await tab.wait_for(f"{VALUE} === 1")
    await tab.press("End")
    await tab.see("the newest")
    await tab.prefer("dark")
    await check_with_axe(tab)


async def test_keys_open_the_journal_and_go_through_it(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await open_journal(tab, dashboard, cluster, "keyed")
    await tab.press("h")
    await tab.see("Workloads")
    await tab.press("t")
    await tab.see("all workloads")
    last = await tab.wait_for(VALUE)
    await tab.press(",")
    await tab.wait_for(f"{VALUE} === {last - 1}")
    await tab.press(".")
    await tab.see("the newest")


async def test_a_past_moment_stays_while_the_operator_goes_on(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await open_journal(tab, dashboard, cluster, "moving")
    await tab.press(",")
    await tab.press(",")
    before = await tab.run(VALUE)
    count = await tab.run("Number(document.querySelector('#moment').max)")
    await set_image(cluster, "moving", "engine:3")
    await tab.wait_for(f"Number(document.querySelector('#moment').max) > {count}")
    assert await tab.run(VALUE) == before
    await tab.click("#newest")
    await tab.see("the newest")


async def test_the_time_line_of_the_journal_is_clicked(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await open_journal(tab, dashboard, cluster, "clicked")
    assert await tab.run("document.querySelectorAll('.tick-box.acts').length") > 1
    await tab.run(
        "document.querySelector('.timeline svg')"
        ".dispatchEvent(new MouseEvent('click', {clientX: 0, bubbles: true}))"
    )
    await tab.wait_for(f"{VALUE} === 0")


async def test_a_wait_of_the_journal_leads_to_its_explanation(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    attack = "<img src=x onerror=window.attacked=1>"
    await create(cluster, "awaiting", annotations={PULL_ERROR: attack, f"{PREFIX}load-for": "9s"})
    await open_page(tab, dashboard, "#/journal/LeaderWorkerSet/default/awaiting")
    await tab.wait_for("!!document.querySelector('#step a.reason')")
    name = await tab.run("document.querySelector('#step a.reason').innerText")
    await tab.click("#step a.reason")
    await tab.wait_for(f"document.querySelector('h1').innerText === {json.dumps(name)}")
    await tab.see("what to do")
    assert await tab.run("document.querySelectorAll('main img').length") == 0
    await check_with_axe(tab)


async def test_reasons_of_a_stuck_workload_are_explained_offline(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "explained", annotations={PULL_ERROR: "no such tag"})
    await open_page(tab, dashboard)
    await tab.wait_for("!!document.querySelector('.waits a.reason')")
    await open_workload(tab, dashboard, "explained")
    await tab.wait_for("!!document.querySelector('#why a[href=\"#/reason/ImagePullBackOff\"]')")
    await tab.click("#why a[href='#/reason/ImagePullBackOff']")
    await tab.see("what to do")
    await tab.run("location.hash = '#/reason/%3Cimg%20src=x%3E'")
    await tab.see("No page is about this word.")
    assert await tab.run("document.querySelectorAll('main img').length") == 0


async def test_a_cluster_that_shows_no_journal_says_what_to_do(
    tab: Tab, open_dashboard: OpenDashboard
):
    dashboard = await open_dashboard(journal_address="http://127.0.0.1:1")
    await tab.resize(400, 800)
    await open_page(tab, dashboard, "#/journal")
    await tab.see("cannot read the journal at http://127.0.0.1:1")
    assert not await tab.run(OVERFLOWS)
    await check_with_axe(tab)
