"""
A cluster of workloads of all four APIs that its operator has left.

The operator has made all workloads ready at 9:00 and is gone at 9:01. At 9:05 users change some
and make others. The clock stands but for steps.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from told_parts import HOUR
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

WELL = TEMPLATES["well"]
NEXT = Template(container={"image": "engine:2", "args": ["--new"]})
HOMES = {api.short_name: api.home for api in APIS}
RENEWED = f"{HOUR}01:00Z"


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


@contextmanager
def deserted_cluster(folder: Path, *, has_lease: bool) -> Iterator[Path]:
    """The kubeconfig of such a cluster at 9:06."""
    plane = Deserted(folder)
    with plane.run() as cluster:
        do(cluster.kubeconfig, make_all)
        cluster.clock.step("60s")
        plane.end_operator()
        if has_lease:
            do(cluster.kubeconfig, write_leases)
        cluster.clock.step("4m")
        do(cluster.kubeconfig, change_all)
        cluster.clock.step("60s")
        yield cluster.kubeconfig
