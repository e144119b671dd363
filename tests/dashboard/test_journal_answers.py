"""The operator's journal as the dashboard answers it: moments, steps, and where to ask for them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from page_hand import Dashboard, create
from test_dashboard_server import run_kohort, wait_until_ready

from kohort.cli.main import main
from kohort.cluster.http import connect
from kohort.dashboard.journal_reader import JournalReader
from kohort.operator_journal import OperatorAddress
from kohort.testing import Cluster, start_cluster

pytestmark = pytest.mark.slow
OpenDashboard = Callable[..., Awaitable[Dashboard]]


def make_entry(name: str, at: float, namespace: str = "default") -> dict[str, Any]:
    """An entry of a workload without groups."""
    policy = {"max_unavailable": 1, "groups": 0}
    return {
        "kind": "LeaderWorkerSet",
        "at": at,
        "workload": {
            **{"namespace": namespace, "name": name, "uid": "u", "generation": 1, "groups": 0},
            **{"roles": [], "revision": "new", "rollout": policy},
        },
        "observed": {},
        "decisions": [{"verb": "wait", "about": "WaitingForReady", "why": "it waits"}],
        "actions": ["create Pod x"],
    }


class FakeOperator:
    """Shows a journal at its own address, to clients with a token."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.requests = 0
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        """The journal."""
        self.requests += 1
        if request.headers.get("Authorization") != "Bearer secret":
            return web.Response(status=403, text="no")
        return web.json_response({"version": "9", "entries": self.entries})


@pytest.fixture
async def operator() -> AsyncIterator[FakeOperator]:
    """An operator at an address of its own."""
    made, app = FakeOperator(), web.Application()
    app.router.add_get("/debug/journal", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


async def test_steps_equal_those_of_record_and_replay(
    dashboard: Dashboard,
    cluster: Cluster,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    monkeypatch.setenv("KOHORT_HOME", str(tmp_path))
    await create(cluster, "journalled")
    await dashboard.log_in()
    await wait_until_ready(dashboard, "journalled")
    file = str(tmp_path / "all.jsonl")
    await asyncio.to_thread(main, ("record", "-A", "-o", file))
    told = await asyncio.to_thread(run_kohort, capsys, "replay", file, "-o", "json")
    _, page = await dashboard.read("journal")
    shown = [
        (await dashboard.read(f"journal/step?id={moment['id']}"))[1] for moment in page["moments"]
    ]
    assert page["problem"] == ""
    assert shown[: len(told)] == told
    assert [m["waits"] for m in page["moments"] if m["waits"]]


async def test_a_cluster_without_an_operator_in_it_says_how_to_reach_one(tmp_path: Path):
    with start_cluster(operator=False, nodes=0) as bare:
        async with connect(bare.kubeconfig) as port:
            page = await JournalReader(port).list_moments()
    assert page.moments == ()
    assert "the operator has to be asked itself" in page.problem
    assert page.commands[0].startswith("kubectl port-forward -n lws-system deploy/")
    assert page.commands[1].startswith("kohort dashboard --journal-address https://")


async def read_from(
    operator: FakeOperator, cluster: Cluster, token: str, namespace: str = ""
) -> JournalReader:
    """A reader that has asked the operator at its own address."""
    async with connect(cluster.kubeconfig) as port:
        reader = JournalReader(port, namespace, OperatorAddress(operator.url, token))
        await reader.list_moments()
        return reader


async def test_an_operator_at_its_own_address_is_asked_with_the_token(
    operator: FakeOperator, cluster: Cluster
):
    operator.entries = [make_entry("one", 1.5), make_entry("one", 1.5), make_entry("two", 2.0)]
    page = await (await read_from(operator, cluster, "secret")).list_moments()
    assert [(m.name, m.at, m.waits, m.actions) for m in page.moments] == [
        ("one", "1970-01-01T00:00:01.500Z", "WaitingForReady", 1),
        ("one", "1970-01-01T00:00:01.500Z", "WaitingForReady", 1),
        ("two", "1970-01-01T00:00:02.000Z", "WaitingForReady", 1),
    ]
    assert (len({m.id for m in page.moments}), page.version) == (3, "9")
    refused = await (await read_from(operator, cluster, "guess")).list_moments()
    assert (refused.moments, refused.problem) == ((), f"{operator.url} answered 403: no")


async def test_the_operator_is_not_asked_again_at_once(operator: FakeOperator, cluster: Cluster):
    operator.entries = [make_entry("one", 1.0)]
    reader = await read_from(operator, cluster, "secret")
    await asyncio.gather(*(reader.list_moments() for _ in range(20)))
    assert operator.requests == 1


async def test_only_entries_of_the_namespace_are_kept(operator: FakeOperator, cluster: Cluster):
    operator.entries = [make_entry("one", 1.0, "chat"), make_entry("two", 2.0, "other")]
    reader = await read_from(operator, cluster, "secret", "chat")
    assert [m.name for m in (await reader.list_moments()).moments] == ["one"]
    assert reader.entries_held == 1


async def test_entries_of_another_program_are_a_problem_and_no_failure(
    operator: FakeOperator, cluster: Cluster
):
    operator.entries = [{"kind": 7}]
    page = await (await read_from(operator, cluster, "secret")).list_moments()
    assert "it is no entry of a journal" in page.problem


async def test_a_moment_that_is_forgotten_is_not_found(dashboard: Dashboard):
    await dashboard.log_in()
    status, told = await dashboard.read("journal/step?id=LeaderWorkerSet/default/x/1.0/1")
    assert status == 404
    assert "does not remember this moment" in told["message"]


async def test_reasons_are_those_of_the_reference(dashboard: Dashboard):
    await dashboard.log_in()
    _, reasons = await dashboard.read("reasons")
    text = (Path(__file__).parents[2] / "docs/reference/reasons.md").read_text()
    assert set(reasons["BackingOff"]) == {"meaning", "cause", "action"}
    for name, page in reasons.items():
        assert f"## {name}\n\n{page['meaning']}\n\n- Cause: {page['cause']}" in text
    assert json.dumps(reasons).count("{") == text.count("\n## ") + 1
