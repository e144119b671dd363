"""The pages of the dashboard in a real browser."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from page_checks import OVERFLOWS, check_with_axe, open_page, open_workload
from page_hand import RESOURCE, Dashboard, create, create_example, remove, set_image

from browser_driver import Tab
from kohort.apis.leaderworkerset.labels import KIND
from kohort.cluster.http import connect
from kohort.cluster.objects import Kind
from kohort.cluster.port import Address
from kohort.simulator.stages import PREFIX, PULL_ERROR
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
OpenDashboard = Callable[..., Awaitable[Dashboard]]
EVENTS = Kind("", "v1", "Event", "events")
# Names of phases that are higher, lower or wider than the box that they stand in.
CLIPPED = """[...document.querySelectorAll('.timeline .span-text')].filter((text) => {
  const own = text.getBBox(), box = text.previousElementSibling.getBBox();
  const isHigh = own.y < box.y || own.y + own.height > box.y + box.height;
  return isHigh || own.x + own.width > box.x + box.width;
}).map((text) => text.textContent)"""
# The titles of the areas right within the area of a name.
LIST_NESTED = """[...document.querySelectorAll('.area')]
  .find((area) => area.firstElementChild.innerText.startsWith('{}'))
  ?.querySelectorAll(':scope > .area > :first-child').values()
  .map((title) => title.innerText.split(' ')[0]).toArray()"""
FOCUSED = "document.activeElement.dataset.line || ''"


def find_row(name: str) -> str:
    return f"document.querySelector('tr[data-id$=\"/{name}\"]')"


async def test_the_overview_shows_workloads_and_hides_the_token(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "shown")
    await open_page(tab, dashboard)
    await tab.wait_for(f"{find_row('shown')}?.innerText.includes('2/2')")
    assert "token" not in await tab.run("location.href")
    await check_with_axe(tab)
    await tab.prefer("dark")
    await check_with_axe(tab)


async def test_blocked_workloads_come_first(tab: Tab, dashboard: Dashboard, cluster: Cluster):
    await create(cluster, "aaa-fine")
    await create(cluster, "zzz-stuck", annotations={PULL_ERROR: "manifest unknown"})
    await open_page(tab, dashboard)
    await tab.see("manifest unknown")
    await tab.wait_for("document.querySelector('tbody tr').dataset.id.endsWith('/zzz-stuck')")
    assert "✗ broken" in await tab.run(f"{find_row('zzz-stuck')}.querySelector('.state').innerText")
    await check_with_axe(tab)
    await remove(cluster, "zzz-stuck")
    await tab.wait_for(f"!{find_row('zzz-stuck')}")


async def test_the_page_of_a_workload_follows_a_rollout(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    slow = {f"{PREFIX}load-for": "60s"}
    await create(cluster, "rolling", 3, annotations=slow, gpus=2)
    await open_workload(tab, dashboard, "rolling")
    await tab.see("3/3 ready")
    await tab.see("12 of 12 GPUs in use")
    await set_image(cluster, "rolling", "engine:2")
    await tab.see("updating")
    await tab.wait_for("!!document.querySelector('.timeline .span.leaving, .span.loading')")
    await tab.see("3/3 updated")
    await tab.see("+       - image: engine:2")
    await tab.wait_for("!!document.querySelector('.timeline .span-text.loading')")
    assert await tab.run(CLIPPED) == []
    assert await tab.run("document.querySelectorAll('.timeline .budget').length") == 1
    assert await tab.run("document.querySelectorAll('.timeline text.lane').length") >= 4
    await check_with_axe(tab)


async def test_a_stuck_rollout_is_explained_and_marked(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "halted", annotations={PULL_ERROR: "no such tag"})
    await open_workload(tab, dashboard, "halted")
    await tab.see("no such tag")
    await tab.wait_for("!!document.querySelector('.timeline .mark-text')")
    await tab.see("kubectl describe pod halted-0")
    assert await tab.run("document.querySelector('#why').classList.contains('help')")
    await check_with_axe(tab)


async def test_nodes_show_who_stands_where(tab: Tab, dashboard: Dashboard, cluster: Cluster):
    await create(cluster, "standing", 4)
    await open_page(tab, dashboard)
    await tab.wait_for(f"{find_row('standing')}?.innerText.includes('4/4')")
    await tab.press("n")
    await tab.see("rack-0")
    await tab.see("standing group 3")
    await tab.see("gang standing-3")
    # Each domain stands in the one above it: the racks in their spine.
    assert await tab.run(LIST_NESTED.format("spine-0")) == ["rack-0", "rack-1"]
    assert await tab.run("document.querySelectorAll('.host').length") == 8
    await check_with_axe(tab)


async def test_a_node_fails_and_recovers_by_the_controls_of_the_simulation(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await open_page(tab, dashboard, "#/simulation")
    await tab.click("button[aria-label='fail node gpu-07']")
    await tab.click("button[aria-label='recover node gpu-07']")
    await tab.click("button[aria-label='fail node gpu-07']")
    await tab.wait_for("!!document.querySelector(\"button[aria-label='recover node gpu-07']\")")
    await check_with_axe(tab)
    await tab.click("button[aria-label='recover node gpu-07']")
    await tab.click(".controls button:nth-of-type(1)")
    await tab.see("paused at speed 20")
    await tab.click(".controls button:nth-of-type(2)")
    await tab.see("running at speed 20")


async def test_the_page_comes_back_when_the_server_does(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    first = await open_dashboard()
    await open_page(tab, first)
    await first.server.pause()
    await tab.wait_for("document.body.dataset.connection === 'reconnecting'")
    await create(cluster, "meanwhile")
    await first.server.start()
    await tab.wait_for("document.body.dataset.connection === 'live'")
    await tab.see("meanwhile")
    tab.errors[:] = [e for e in tab.errors if "ERR_" not in e and "Failed to load" not in e]


async def test_keys_move_open_explain_and_search(tab: Tab, dashboard: Dashboard, cluster: Cluster):
    for name in ("key-one", "key-two"):
        await create(cluster, name)
    await open_page(tab, dashboard)
    await tab.see("key-two")
    await tab.press("/")
    await tab.type("key-")
    await tab.wait_for("document.querySelectorAll('tbody tr').length === 2")
    await tab.press("Enter")
    await tab.wait_for(f"({FOCUSED}).endsWith('/key-one')")
    await tab.press("j")
    await tab.wait_for(f"({FOCUSED}).endsWith('/key-two')")
    await tab.press("k")
    await tab.press("w")
    await tab.wait_for("document.activeElement.id === 'why'")
    assert "key-one" in await tab.run("location.hash")
    await tab.press("?")
    await tab.wait_for("document.querySelector('#help').open")
    await tab.press("Escape")
    await tab.wait_for("!document.querySelector('#help').open")
    await tab.press("h")
    await tab.wait_for("!!document.querySelector('tbody tr [data-line]')")
    await tab.press("j")
    await tab.wait_for(FOCUSED)
    await tab.press("Enter")
    await tab.wait_for("location.hash.startsWith('#/workload/')")


async def test_hostile_texts_stay_texts(tab: Tab, dashboard: Dashboard, cluster: Cluster):
    attack = "<img src=x onerror=window.attacked=1><script>window.attacked=1</script>"
    await create(cluster, "hostile", annotations={PULL_ERROR: attack})
    async with connect(cluster.kubeconfig) as port:
        about = {"kind": "LeaderWorkerSet", "name": "hostile", "namespace": "default"}
        found = await port.read(Address(KIND, "default", "hostile"))
        about["uid"] = found["metadata"]["uid"]
        event = {"metadata": {"name": "hostile.1"}, "involvedObject": about, "reason": attack}
        await port.create(EVENTS, "default", {**event, "message": attack, "type": "Warning"})
    await open_page(tab, dashboard)
    await tab.see(attack)
    await tab.go(f"{dashboard.base}#/workload/{RESOURCE}/default/hostile")
    await tab.see(attack)
    await tab.go(f"{dashboard.base}#/workload/{RESOURCE}/default/%3Cimg%20src=x%3E")
    await tab.see("<img src=x> does not exist")
    assert await tab.run("document.querySelectorAll('main img, main script').length") == 0
    assert await tab.run("window.attacked") is None
    tab.errors[:] = [e for e in tab.errors if "404" not in e]


@pytest.mark.parametrize(
    "path", ["", "#/nodes", "#/simulation", "#/journal", "#/reason/BackingOff", "#/workload/narrow"]
)
async def test_every_page_is_clean_in_both_themes_and_needs_no_scrolling_sideways(
    tab: Tab, dashboard: Dashboard, cluster: Cluster, path: str
):
    if path.startswith("#/workload"):
        await create(cluster, "narrow", annotations={PULL_ERROR: "x" * 200})
        path = f"#/workload/{RESOURCE}/default/narrow"
    await tab.resize(400, 800)
    await open_page(tab, dashboard, path)
    await tab.wait_for("!!document.querySelector('main h1')")
    await tab.wait_for("!document.querySelector('main').innerText.includes('Loading')")
    assert not await tab.run(OVERFLOWS)
    for width, theme in ((400, "light"), (400, "dark"), (1200, "dark"), (1200, "light")):
        await tab.resize(width, 800)
        await tab.prefer(theme)
        await check_with_axe(tab)


async def test_a_write_shows_its_plan_first(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    dashboard = await open_dashboard(allows_writes=True)
    await create(cluster, "steered")
    await open_workload(tab, dashboard, "steered")
    await tab.see("2/2 ready")
    await tab.click("button[data-key=restart]")
    await tab.see("never below 1 of 2 groups")
    await check_with_axe(tab)
    assert await tab.run("document.querySelectorAll('#history tbody tr').length") == 1
    await tab.click("#turn-yes")
    await tab.wait_for("!document.querySelector('#turn').open")
    await tab.see("2/2 updated")
    await tab.wait_for("document.querySelectorAll('#history tbody tr').length === 2")


async def test_an_undo_shows_the_way_back_and_then_goes_it(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    dashboard = await open_dashboard(allows_writes=True)
    await create(cluster, "regretted")
    await open_workload(tab, dashboard, "regretted")
    await tab.see("2/2 ready")
    assert not await tab.run("!!document.querySelector('button[data-key=undo]')")
    await set_image(cluster, "regretted", "engine:2")
    await tab.wait_for("document.querySelectorAll('#history tbody tr').length === 2")
    await tab.see("2/2 updated")
    await tab.click("button[data-key=undo]")
    await tab.see("never below 1 of 2 groups")
    plan = await tab.run("document.querySelector('#turn').innerText")
    assert "engine:2 → engine:1" in plan
    assert await read_image(cluster, "regretted") == "engine:2"
    await tab.click("#turn-yes")
    await tab.wait_for("!document.querySelector('#turn').open")
    assert await read_image(cluster, "regretted") == "engine:1"


async def read_image(cluster: Cluster, name: str) -> str:
    async with connect(cluster.kubeconfig) as port:
        root = await port.read(Address(KIND, "default", name))
    spec = root["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    return str(spec["containers"][0]["image"])


async def test_a_page_that_only_reads_offers_no_verbs(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "unsteered")
    await open_workload(tab, dashboard, "unsteered")
    await tab.see("2/2 ready")
    assert await tab.run("document.querySelectorAll('.controls button[data-key]').length") == 0
    await tab.see("There is nothing to do.")


async def test_the_steps_of_a_rollout_are_shown_before_they_happen(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create(cluster, "stepping", 4)
    await open_workload(tab, dashboard, "stepping")
    await tab.see("4/4 ready")
    await asyncio.to_thread(cluster.clock.pause)
    await set_image(cluster, "stepping", "engine:2")
    await tab.see("comes: group 2")
    await tab.see("never below 3 of 4 groups")
    await asyncio.to_thread(cluster.clock.resume)
    await tab.see("4/4 updated")
    await tab.see("There is nothing to do.")


async def test_the_page_works_under_a_path_prefix(
    tab: Tab, open_dashboard: OpenDashboard, cluster: Cluster
):
    dashboard = await open_dashboard(prefix="/tools/kohort")
    await create(cluster, "prefixed")
    await open_page(tab, dashboard)
    await tab.wait_for(f"{find_row('prefixed')}?.innerText.includes('2/2')")
    await tab.press("n")
    await tab.see("rack-0")


async def test_roles_and_instances_are_levels_of_the_tree(
    tab: Tab, dashboard: Dashboard, cluster: Cluster
):
    await create_example(cluster, "modelserving.yaml")
    resource = "modelserving.workload.serving.volcano.sh"
    await open_page(tab, dashboard, f"#/workload/{resource}/default/llama")
    await tab.see("2/2 ready")
    await tab.run("for (const fold of document.querySelectorAll('details')) fold.open = true")
    await tab.see("role prefill")
    await tab.see("decode 0")
    await tab.wait_for("document.querySelectorAll('.tree li li li li.member').length > 3")
    await tab.wait_for("document.querySelectorAll('.timeline text.lane').length > 4")
    await check_with_axe(tab)
