"""
``kohort why`` in constructed situations over all four APIs, on a cluster with the operator at work.

Each answer has four parts: what waits, on what, since when, and the safest next command. The
clock of the cluster stands, so that since when is told to the second.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from command_lines import Cli, Told
from told_parts import EXPECTED, HOUR, Expected, check_parts
from troubled_cluster import ROLLED, TIGHT, change_all, list_workloads, make_all
from why_situations import SHORT

from kohort.apis.inferenceservice.kinds import INFERENCE_SERVICE
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.kinds import EVENT
from kohort.cluster.objects import find_condition
from kohort.cluster.port import Address, Selection

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
SITUATIONS = [
    *((found.kind, name) for name, found in list_workloads().items()),
    *((kind, f"{kind}-quota") for kind in SHORT),
]


def do(kubeconfig: Path, work: Callable[[HttpCluster], Any]) -> None:
    async def run() -> None:
        async with connect(kubeconfig) as door:
            await work(door)

    asyncio.run(run())


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster with all situations at once."""
    cli = Cli(tmp_path_factory.mktemp("troubled"))
    flags = ("--port", "0", "--clock", f"{HOUR}00:00Z", "--no-dashboard", "--detach")
    kubeconfig = Path(json.loads(cli("up", *flags, "-o", "json").out)["kubeconfig"])
    do(kubeconfig, make_all)
    run(cli, "sim", "clock", "step", "60s")
    for kind in ROLLED:
        run(cli, "rollout", "pause", f"{kind}/{kind}-paused", "--kubeconfig", kubeconfig)
    do(kubeconfig, change_all)
    run(cli, "sim", "node", "fail", "gpu-06")
    run(cli, "sim", "clock", "step", "3m")
    run(cli, "sim", "clock", "step", "3m")
    run(cli, "sim", "node", "fail", "gpu-07")
    run(cli, "sim", "clock", "step", "60s")
    yield kubeconfig
    cli("down")


def run(cli: Cli, *words: str | Path) -> None:
    told = cli(*words)
    assert told.code == 0, told.err


def find_expected(kind: str, name: str) -> Expected:
    situation = name.removeprefix(f"{kind}-")
    return EXPECTED.get(f"{kind} {situation}") or EXPECTED[situation]


@pytest.mark.parametrize(("kind", "name"), SITUATIONS)
def test_the_four_parts_are_right(run_kohort: RunKohort, troubled: Path, kind: str, name: str):
    wanted = find_expected(kind, name)
    place = ("-n", TIGHT if name.endswith("-quota") else "default", "--kubeconfig", str(troubled))
    told = run_kohort("why", f"{kind}/{name}", *place, "-o", "json")
    check_parts(told, kind, name, wanted)


def test_at_least_forty_different_situations_are_tried_over_all_four_apis():
    tried = {(kind, name.removeprefix(f"{kind}-")) for kind, name in SITUATIONS}
    assert len(tried) == len(SITUATIONS) >= 40
    assert {kind for kind, _ in tried} == set(SHORT) == {"lws", "ms", "rbg", "isvc"}
    assert min(Counter(kind for kind, _ in tried).values()) >= 10
    assert len({find_expected(kind, name) for kind, name in SITUATIONS}) >= 20


@pytest.mark.parametrize("name", ["lws-roll-crash", "ms-roll-pull", "rbg-role", "isvc-away"])
def test_get_leads_with_the_reason_of_why(run_kohort: RunKohort, troubled: Path, name: str):
    target = (f"{name.split('-', maxsplit=1)[0]}/{name}", "--kubeconfig", str(troubled))
    waits = json.loads(run_kohort("why", *target, "-o", "json").out)["waits"]
    assert run_kohort("get", *target).out.splitlines()[1] == f"  {waits}"


def test_a_crash_beside_pods_that_serve_is_told_alike_everywhere(
    run_kohort: RunKohort, troubled: Path
):
    """Status, event, get and why name component, pod, container and exit code."""
    found: dict[str, Any] = {}

    async def read(door: HttpCluster) -> None:
        found["service"] = await door.read(Address(INFERENCE_SERVICE, "default", "isvc-roll-crash"))
        found["events"] = [
            orjson.loads(raw) for raw in (await door.list(Selection(EVENT, "default"))).items
        ]

    do(troubled, read)
    ready = find_condition(found["service"], "Ready") or {}
    assert (ready["status"], ready["reason"]) == ("False", "CrashLoopBackOff")
    said = ready["message"]
    assert said.startswith("component engine crashes: container ")
    assert " of pod isvc-roll-crash-engine-" in said
    assert "with exit code 1" in said
    assert any(said in each["message"] for each in found["events"])
    pod = said.partition(" of pod ")[2].partition(" ")[0]
    for words in ("get", "why"):
        told = run_kohort(words, "isvc/isvc-roll-crash", "--kubeconfig", str(troubled)).out
        parts = ("CrashLoopBackOff: role engine", f"{pod}  CrashLoopBackOff: exit 1", " -c engine ")
        assert all(part in told for part in parts), told
