"""Pausing and resuming a rollout: who may ask for it, and the dialogs of the page in a browser."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from page_checks import check_with_axe, open_workload
from page_hand import RESOURCE, Dashboard, create, set_image

from browser_driver import Tab
from kohort.apis.leaderworkerset.labels import KIND
from kohort.cluster.http import connect
from kohort.cluster.port import Address
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
OpenDashboard = Callable[..., Awaitable[Dashboard]]
DIALOG = "document.querySelector('#turn')"


def path_of(name: str) -> str:
    return f"workloads/{RESOURCE}/default/{name}"


async def read_partition(cluster: Cluster, name: str) -> int:
    async with connect(cluster.kubeconfig) as port:
        root = await port.read(Address(KIND, "default", name))
    rollout = root["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    return int(rollout.get("partition") or 0)


async def wait_for_page(
    dashboard: Dashboard, name: str, is_so: Callable[[Any], bool]
) -> dict[str, Any]:
    """The page of a workload, when a claim about it is true."""
    async with asyncio.timeout(60):
        while True:
            status, page = await dashboard.read(f"{path_of(name)}/page")
            if status == 200 and is_so(page):
                return dict(page)
            await asyncio.sleep(0.1)


async def plan_and_take(dashboard: Dashboard, name: str, verb: str, **headers: str) -> int:
    """Plan a verb as the page does, and send it with other headers; the status of the answer."""
    _, plan = await dashboard.send(f"{path_of(name)}/plan", {"verb": verb})
    body = {"verb": verb, "version": plan["version"]}
    return (await dashboard.send(f"{path_of(name)}/turn", body, **headers))[0]


@pytest.mark.parametrize("verb", ["pause", "resume"])
async def test_a_dashboard_that_only_reads_plans_a_pause_and_makes_none(
    dashboard: Dashboard, open_dashboard: OpenDashboard, cluster: Cluster, verb: str
):
    await create(cluster, f"only-read-{verb}")
    await dashboard.log_in()
    await wait_for_page(dashboard, f"only-read-{verb}", lambda page: bool(page["history"]))
    writer = await open_dashboard(allows_writes=True)
    await writer.log_in()
    if verb == "resume":
        assert await plan_and_take(writer, "only-read-resume", "pause") == 200
        await wait_for_page(dashboard, "only-read-resume", lambda page: page["held"] == [""])
    before = await read_partition(cluster, f"only-read-{verb}")
    _, plan = await dashboard.send(f"{path_of(f'only-read-{verb}')}/plan", {"verb": verb})
    assert plan["isChange"]
    assert await plan_and_take(dashboard, f"only-read-{verb}", verb) == 403
    assert await read_partition(cluster, f"only-read-{verb}") == before


@pytest.mark.parametrize("verb", ["pause", "resume"])
@pytest.mark.parametrize(
    ("number", "headers"),
    [(1, {"Origin": "http://evil.example"}), (2, {"Origin": "null"}), (3, {"Host": "a.example"})],
)
async def test_a_foreign_page_can_neither_pause_nor_resume(
    open_dashboard: OpenDashboard,
    cluster: Cluster,
    verb: str,
    number: int,
    headers: dict[str, str],
):
    dashboard = await open_dashboard(allows_writes=True)
    name = f"foreign-{verb}-{number}"
    await create(cluster, name)
    await dashboard.log_in()
    await wait_for_page(dashboard, name, lambda page: bool(page["history"]))
    assert await plan_and_take(dashboard, name, verb, **headers) == 403
    assert await read_partition(cluster, name) == 0


async def begin_rollout(tab: Tab, dashboard: Dashboard, cluster: Cluster, name: str) -> None:
    """A page of four groups that have begun to change their image, while the clock stands."""
    await create(cluster, name, 4)
    await open_workload(tab, dashboard, name)
    await tab.see("4/4 ready")
    await asyncio.to_thread(cluster.clock.pause)
    await set_image(cluster, name, "engine:2")
    await tab.see("never below 3 of 4 groups")


async def confirm(tab: Tab) -> None:
    """Take the write whose plan the dialog shows."""
    await tab.wait_for("!document.querySelector('#turn-yes').hidden")
    await tab.click("#turn-yes")
    await tab.wait_for(f"!{DIALOG}.open")


async def test_a_pause_shows_its_plan_and_cancel_writes_nothing(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    await begin_rollout(tab, await open_dashboard(allows_writes=True), cluster, "going")
    assert not await tab.run("!!document.querySelector('button[data-key=resume]')")
    await tab.click("button[data-key=pause]")
    await tab.wait_for(f"{DIALOG}.innerText.includes('the partition is 3 until it is resumed')")
    assert "going is paused" in await tab.run(f"{DIALOG}.innerText")
    await check_with_axe(tab)
    await tab.click("#turn button[value=no]")
    await tab.wait_for(f"!{DIALOG}.open")
    assert await read_partition(cluster, "going") == 0
    await asyncio.to_thread(cluster.clock.resume)


async def test_a_rollout_is_paused_and_resumed_by_dialogs_that_show_their_plans(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    await begin_rollout(tab, await open_dashboard(allows_writes=True), cluster, "halted")
    await tab.click("button[data-key=pause]")
    await confirm(tab)
    assert await read_partition(cluster, "halted") == 3
    await tab.wait_for("!!document.querySelector('button[data-key=resume]')")
    assert not await tab.run("!!document.querySelector('button[data-key=pause]')")
    await asyncio.to_thread(cluster.clock.resume)
    await tab.see("1/4 updated")

    await tab.click("button[data-key=resume]")
    await tab.wait_for(f"{DIALOG}.innerText.includes('never below 3 of 4 groups')")
    assert "halted goes on" in await tab.run(f"{DIALOG}.innerText")
    await check_with_axe(tab)
    assert await read_partition(cluster, "halted") == 3
    await confirm(tab)
    assert await read_partition(cluster, "halted") == 0
    await tab.see("4/4 updated")
    await tab.wait_for("!!document.querySelector('button[data-key=pause]')")
