"""The server of the dashboard: who may ask, what is answered, and how changes are told."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from page_hand import RESOURCE, Dashboard, create, edit

from kohort.cli.main import main
from kohort.dashboard.server import PAGES
from kohort.testing import Cluster

pytestmark = pytest.mark.slow
OpenDashboard = Callable[..., Awaitable[Dashboard]]
PAGES_BYTES_MAX = 200 * 1024


@asynccontextmanager
async def listen(dashboard: Dashboard, last_id: str = "") -> AsyncIterator[Callable[[], Any]]:
    """The stream of changes, one event after the other."""
    headers = {"Last-Event-ID": last_id} if last_id else {}
    url = f"{dashboard.base}api/v1/stream"
    async with dashboard.session.get(url, headers=headers) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"

        async def read() -> dict[str, str]:
            async with asyncio.timeout(30):
                event: dict[str, str] = {}
                while line := (await answer.content.readline()).decode().rstrip("\n"):
                    name, _, value = line.partition(": ")
                    event[name] = value
                return event

        yield read


async def wait_until_ready(dashboard: Dashboard, name: str) -> None:
    async with asyncio.timeout(60):
        while True:
            _, rows = await dashboard.read("workloads")
            found = [row for row in rows if row["name"] == name]
            if found and found[0]["health"]["word"] == "ready":
                return
            await asyncio.sleep(0.1)


def run_kohort(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    main(words)
    return json.loads(capsys.readouterr().out)


async def find_difference(
    dashboard: Dashboard, path: str, capsys: pytest.CaptureFixture[str], *words: str
) -> Any:
    """What the command line and the page say, if they do not come to say the same."""
    for _ in range(20):
        told = await asyncio.to_thread(run_kohort, capsys, *words, "-o", "json")
        status, shown = await dashboard.read(path)
        if (status, shown) == (200, told):
            return None
        await asyncio.sleep(0.5)  # a status may have been written in between
    return shown, told


async def test_a_token_works_once_and_becomes_a_cookie(dashboard: Dashboard):
    await dashboard.log_in()
    assert (await dashboard.read("cluster"))[0] == 200
    async with aiohttp.ClientSession() as other, other.get(dashboard.server.url) as answer:
        assert answer.status == 401
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert (await answer.text()).startswith("The token in this URL has been used; it works")


async def test_a_cookie_is_out_of_reach_of_scripts_and_of_other_sites(dashboard: Dashboard):
    async with dashboard.session.get(dashboard.server.url) as answer:
        cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


@pytest.mark.parametrize("path", ["", "?token=", "?token=wrong", "app.js", "api/v1/workloads"])
async def test_nothing_is_shown_without_the_token(dashboard: Dashboard, path: str):
    async with dashboard.session.get(f"{dashboard.base}{path}") as answer:
        assert answer.status == 401
        told = await answer.text()
        assert "kohort dashboard" in told
        assert ("not the one of this page" in told) == ("wrong" in path)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1", "", "[::"])
async def test_a_foreign_host_is_refused(dashboard: Dashboard, host: str):
    await dashboard.log_in()
    assert (await dashboard.read("cluster", Host=host))[0] in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9", "[::1]:7070"])
async def test_a_forwarded_port_is_served(dashboard: Dashboard, host: str):
    await dashboard.log_in()
    assert (await dashboard.read("cluster", Host=host))[0] == 200


async def test_a_proxy_is_served_under_the_name_that_was_allowed(open_dashboard: OpenDashboard):
    dashboard = await open_dashboard(allowed_hosts=("kohort.example",))
    await dashboard.log_in()
    assert (await dashboard.read("cluster", Host="kohort.example"))[0] == 200
    assert (await dashboard.read("cluster", Host="other.example"))[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_foreign_page_can_neither_read_nor_change(dashboard: Dashboard, origin: str):
    await dashboard.log_in()
    assert (await dashboard.read("workloads", Origin=origin))[0] == 403
    assert (await dashboard.send("clock", {"action": "pause"}, Origin=origin))[0] == 403


async def test_a_change_without_an_origin_is_refused(dashboard: Dashboard):
    await dashboard.log_in()
    url = f"{dashboard.base}api/v1/clock"
    async with dashboard.session.post(url, json={"action": "pause"}) as answer:
        assert answer.status == 403


@pytest.mark.parametrize("path", ["", "app.js", "style.css", "api/v1/cluster", "api/v1/stream"])
async def test_every_answer_has_a_content_security_policy(dashboard: Dashboard, path: str):
    await dashboard.log_in()
    async with dashboard.session.get(f"{dashboard.base}{path}") as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


async def test_files_outside_of_the_pages_are_not_sent(dashboard: Dashboard):
    await dashboard.log_in()
    for name in ("..%2fserver.py", "server.py", "%2e%2e/gate.py", ".hidden"):
        async with dashboard.session.get(f"{dashboard.base}{name}") as answer:
            assert answer.status == 404, name


async def test_a_path_prefix_is_served(open_dashboard: OpenDashboard):
    dashboard = await open_dashboard(prefix="/tools/kohort")
    assert "/tools/kohort/?token=" in dashboard.server.url
    await dashboard.log_in()
    assert (await dashboard.read("cluster"))[0] == 200
    async with dashboard.session.get(f"{dashboard.origin}/api/v1/cluster") as answer:
        assert answer.status == 404


def test_pages_are_small_and_name_nothing_outside():
    files = [path for path in PAGES.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < PAGES_BYTES_MAX
    for path in files:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text and "//cdn" not in text
        assert not any(word in text for word in ("innerHTML", "outerHTML", "insertAdjacentHTML"))
        assert 'src="/' not in text and 'href="/' not in text and '"/api' not in text


async def test_json_equals_that_of_the_command_line(
    dashboard: Dashboard,
    cluster: Cluster,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    monkeypatch.setenv("KOHORT_HOME", str(tmp_path))
    await create(cluster, "equal", 3)
    await dashboard.log_in()
    await wait_until_ready(dashboard, "equal")
    one = f"workloads/{RESOURCE}/default/equal"
    pairs = {
        "workloads": ("get", "-A"),
        one: ("get", "lws/equal"),
        f"{one}/why": ("why", "lws/equal"),
        f"{one}/topology": ("get", "lws/equal", "--topology"),
        f"{one}/history": ("rollout", "history", "lws/equal"),
        f"{one}/plan": ("plan", "lws/equal"),
        "topology": ("sim", "topology", "--kubeconfig", str(cluster.kubeconfig)),
    }
    for path, words in pairs.items():
        assert await find_difference(dashboard, path, capsys, *words) is None, path


async def test_an_unknown_workload_and_an_unknown_view_are_not_found(dashboard: Dashboard):
    await dashboard.log_in()
    status, told = await dashboard.read(f"workloads/{RESOURCE}/default/nobody")
    assert (status, told["message"]) == (404, f"{RESOURCE}/nobody does not exist")


async def test_a_change_is_told_with_its_row(dashboard: Dashboard, cluster: Cluster):
    await dashboard.log_in()
    await dashboard.read("workloads")
    async with listen(dashboard) as read:
        assert (await read())["event"] == "reset"
        await create(cluster, "told")
        names: set[str] = set()
        while "told" not in names:
            event = await read()
            data = json.loads(event.get("data", "{}"))
            names.update(row["name"] for row in data.get("rows", ()))
        assert event["event"] == "change"


async def test_a_page_that_comes_back_gets_what_it_missed(dashboard: Dashboard, cluster: Cluster):
    await dashboard.log_in()
    await dashboard.read("workloads")
    async with listen(dashboard) as read:
        last_id = (await read())["id"]
    await create(cluster, "missed")
    await wait_until_ready(dashboard, "missed")
    async with listen(dashboard, last_id) as read:
        event = await read()
        assert event["event"] == "change"
        assert int(event["id"].rpartition("-")[2]) == int(last_id.rpartition("-")[2]) + 1


@pytest.mark.parametrize("last_id", ["other-1", "1", "", "x-y"])
async def test_a_page_of_another_run_loads_everything_again(dashboard: Dashboard, last_id: str):
    await dashboard.log_in()
    async with listen(dashboard, last_id) as read:
        assert (await read())["event"] == "reset"


async def test_clock_and_nodes_of_a_simulation_are_controlled(
    dashboard: Dashboard, cluster: Cluster
):
    await dashboard.log_in()
    status, clock = await dashboard.send("clock", {"action": "pause"})
    assert (status, clock["isPaused"]) == (200, True)
    assert cluster.clock.read().is_paused
    await dashboard.send("clock", {"action": "resume"})
    assert (await dashboard.send("clock", {"action": "jump"}))[0] == 400
    assert (await dashboard.send("nodes/gpu-0/explode", {}))[0] == 400
    assert (await dashboard.send("nodes/gpu-99/fail", {}))[0] == 404


async def test_a_workload_that_is_deleted_is_gone(dashboard: Dashboard, cluster: Cluster):
    await create(cluster, "leaver")
    await dashboard.log_in()
    await wait_until_ready(dashboard, "leaver")
    await edit(cluster, "leaver", {"spec": {"replicas": 0}})
    status, tree = await dashboard.read(f"workloads/{RESOURCE}/default/leaver")
    assert (status, tree["row"]["name"]) == (200, "leaver")


async def test_a_dashboard_reads_only_unless_it_may_write(dashboard: Dashboard, cluster: Cluster):
    await create(cluster, "guarded")
    await dashboard.log_in()
    await wait_until_ready(dashboard, "guarded")
    one = f"workloads/{RESOURCE}/default/guarded"
    status, plan = await dashboard.send(f"{one}/plan", {"verb": "restart"})
    assert (status, len(plan["forecast"]["steps"])) == (200, 2)
    body = {"verb": "restart", "version": plan["version"]}
    status, told = await dashboard.send(f"{one}/turn", body)
    assert (status, "--allow-writes" in told["message"]) == (403, True)
    assert (await dashboard.send(f"{one}/plan", {"verb": "restart"}))[1]["version"] == plan[
        "version"
    ]


async def test_a_write_needs_the_version_that_its_plan_was_shown_for(
    open_dashboard: OpenDashboard, cluster: Cluster
):
    dashboard = await open_dashboard(allows_writes=True)
    await create(cluster, "planned")
    await dashboard.log_in()
    await wait_until_ready(dashboard, "planned")
    one = f"workloads/{RESOURCE}/default/planned"
    for body in ({"verb": "pause"}, {"verb": "pause", "version": "1"}):
        assert (await dashboard.send(f"{one}/turn", body))[0] == 409
    for body in ({"verb": "explode"}, {"verb": "pause", "role": "x"}, {"verb": "undo"}):
        assert (await dashboard.send(f"{one}/plan", body))[0] == 400
    _, plan = await dashboard.send(f"{one}/plan", {"verb": "pause"})
    body = {"verb": "pause", "version": plan["version"]}
    assert (await dashboard.send(f"{one}/turn", body))[0] == 200
    async with asyncio.timeout(30):
        while (await dashboard.read(f"{one}/page"))[1]["held"] != [""]:
            await asyncio.sleep(0.1)
