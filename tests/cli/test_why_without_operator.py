"""
``kohort why`` while no operator runs, for all four APIs, with and without its lease in the cluster.

The operator has made all workloads ready at 9:00 and is gone at 9:01. At 9:05 users change some
and make others. The clock stands but for steps, so that since when is told to the second.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from command_lines import Told
from told_parts import HOUR, Expected, check_parts
from why_situations import KINDS, SHORT, TEMPLATES, Template, write_object, write_spec
from workload_hand import NAMESPACES

from kohort.apis.served import APIS
from kohort.apiserver.host.identity import make_identity
from kohort.apiserver.host.kubeconfig import Kubeconfig
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.kinds import LEASE
from kohort.cluster.port import Address
from kohort.embedded_operator import make_operator, make_settings
from kohort.simulator.embedded import Embedded, EmbeddedOptions
from kohort.testing.clusters import Cluster
from kohort.testing.threads import ServerTurn, run_in_thread

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
WELL = TEMPLATES["well"]
NEXT = Template(container={"image": "engine:2", "args": ["--new"]})
HOMES = {api.short_name: api.home for api in APIS}
LOOK = "kubectl get pods,lease/{lease} -n {namespace}"
RENEWED = f"{HOUR}01:00Z"
UNSEEN = "OperatorSilent: the operator has not seen generation 2, only 1: "
SILENT = Expected("blocked", "OperatorSilent", UNSEEN, "", "", "05:00", "kohort controller")
CALM = Expected("ready", "", "nothing: all ", "", "", "00:0", "")
WITHOUT_LEASE = {
    "edited": replace(SILENT, waits=f"{UNSEEN}does it run?"),
    "scaled": replace(SILENT, waits=f"{UNSEEN}does it run?"),
    "new": replace(
        SILENT,
        reason="NotPlanned",
        waits="NotPlanned: nothing has been made for it yet: no operator seems to run",
    ),
    "calm": CALM,
}
LAST = "its lease {namespace}/{lease} was renewed last at " + RENEWED
WITH_LEASE = {
    "edited": replace(SILENT, waits=f"{UNSEEN}{LAST}", command=LOOK),
    "scaled": replace(SILENT, waits=f"{UNSEEN}{LAST}", command=LOOK),
    "new": replace(
        SILENT,
        waits=f"there is something to do, and the operator does not do it: {LAST}",
        command=LOOK,
    ),
    "calm": CALM,
}


class Deserted:
    """A cluster in a thread, whose operator can be taken away."""

    def __init__(self, folder: Path) -> None:
        self._identity = make_identity()
        self._kubeconfig = Kubeconfig(folder / "kubeconfig", "deserted")
        self._leave: Callable[[], object] = lambda: None

    @contextmanager
    def run(self) -> Iterator[Cluster]:
        with run_in_thread("cluster", self._serve) as port:
            url = f"https://127.0.0.1:{port}"
            self._kubeconfig.write(url, self._identity)
            authority = self._identity.certificates.ca
            yield Cluster(url, self._identity.token, authority, self._kubeconfig.path)

    def end_operator(self) -> None:
        """Let the operator go as if its process had been killed."""
        self._leave()

    async def _serve(self, turn: ServerTurn) -> None:
        settings = make_settings("", "budgeted", "statefulsets")
        options = EmbeddedOptions(
            token=self._identity.token,
            tls=self._identity.server_context(),
            ca_text=self._identity.certificates.ca,
            apis=APIS,
            settings=settings,
            starts_at=datetime.fromisoformat(f"{HOUR}00:00Z"),
        )
        embedded = await Embedded.start(options)
        loop = asyncio.get_running_loop()
        work = asyncio.create_task((await make_operator(embedded, settings)).run())

        async def leave() -> None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            embedded.world.neighbour = None

        self._leave = lambda: asyncio.run_coroutine_threadsafe(leave(), loop).result(30)
        try:
            await turn.serve(embedded.port)
        finally:
            await leave()
            await embedded.stop()


def do(kubeconfig: Path, work: Callable[[HttpCluster], Any]) -> None:
    async def run() -> None:
        async with connect(kubeconfig) as door:
            await work(door)

    asyncio.run(run())


async def make_all(door: HttpCluster) -> None:
    """9:00."""
    for kind in SHORT:
        for name in ("edited", "scaled", "calm"):
            body = write_object(kind, f"{kind}-{name}", write_spec(kind, WELL, 2))
            await door.create(KINDS[kind], "default", body)


async def write_leases(door: HttpCluster) -> None:
    """One for each home, as an operator that serves all APIs holds them."""
    stamp = RENEWED.replace("Z", ".000000Z")
    spec = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": stamp}
    for home in {HOMES[kind] for kind in SHORT}:
        await door.create(NAMESPACES, "", {"metadata": {"name": home.namespace}})
        lease = {"metadata": {"name": home.lease, "namespace": home.namespace}, "spec": spec}
        await door.create(LEASE, home.namespace, lease)


async def change_all(door: HttpCluster) -> None:
    """9:05."""
    for kind in SHORT:
        for name, spec in (
            ("edited", write_spec(kind, NEXT, 2)),
            ("scaled", write_spec(kind, WELL, 3)),
        ):
            await door.patch(Address(KINDS[kind], "default", f"{kind}-{name}"), {"spec": spec})
        body = write_object(kind, f"{kind}-new", write_spec(kind, WELL, 2))
        await door.create(KINDS[kind], "default", body)


@pytest.fixture(scope="module", params=["without a lease", "with a lease"])
def deserted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, dict[str, Expected]]]:
    """The kubeconfig of a cluster without its operator, and what must be said of it."""
    has_lease = request.param == "with a lease"
    plane = Deserted(tmp_path_factory.mktemp("deserted"))
    with plane.run() as cluster:
        do(cluster.kubeconfig, make_all)
        cluster.clock.step("60s")
        plane.end_operator()
        if has_lease:
            do(cluster.kubeconfig, write_leases)
        cluster.clock.step("4m")
        do(cluster.kubeconfig, change_all)
        cluster.clock.step("60s")
        yield cluster.kubeconfig, WITH_LEASE if has_lease else WITHOUT_LEASE


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("situation", WITH_LEASE)
def test_the_four_parts_are_right_while_no_operator_runs(
    run_kohort: RunKohort,
    deserted: tuple[Path, dict[str, Expected]],
    situation: str,
    kind: str,
):
    kubeconfig, expected = deserted
    name = f"{kind}-{situation}"
    told = run_kohort("why", f"{kind}/{name}", "--kubeconfig", str(kubeconfig), "-o", "json")
    check_parts(told, kind, name, place(expected[situation], kind))


def place(wanted: Expected, kind: str) -> Expected:
    """What is expected, with the lease of the operator of that API."""
    names = {"lease": HOMES[kind].lease, "namespace": HOMES[kind].namespace}
    return replace(
        wanted, waits=wanted.waits.format(**names), command=wanted.command.format(**names)
    )


def test_a_list_over_all_kinds_names_the_lease_of_each(
    run_kohort: RunKohort, deserted: tuple[Path, dict[str, Expected]]
):
    kubeconfig, expected = deserted
    told = run_kohort("get", "--blocked", "--kubeconfig", str(kubeconfig), "-o", "json")
    rows = {row["name"]: row["health"] for row in json.loads(told.out)}
    assert sorted(rows) == sorted(
        f"{kind}-{situation}" for kind in SHORT for situation in ("edited", "scaled", "new")
    )
    for name, health in rows.items():
        kind, _, situation = name.partition("-")
        said = f"{health['reason']}: {health['message']}"
        assert place(expected[situation], kind).waits in said
