"""
This is where a cluster is started inside this process, and stopped again.

Everything that must not be lost is claimed before anything is written: the name,
the kubeconfig's place, the data folder. The heavy imports come last, so that a
mistake on the command line is answered before they cost anything.
"""

import asyncio
import errno
import json
import os
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.cli.exits import Failure
from kohort.cli.processes.signals import catch_signals
from kohort.cli.state import State, check_owner, writing
from kohort.cli.terminal import show
from kohort.process.loop import run
from kohort.process.memory import bound_heaps, settle_memory

if TYPE_CHECKING:
    from kohort.apis.api import Settings
    from kohort.apiserver.host.identity import Identity
    from kohort.cluster.http import HttpCluster
    from kohort.controller.process.served_apis import ServedApis
    from kohort.dashboard.server import DashboardServer
    from kohort.simulator.embedded import Embedded

HOST = "127.0.0.1"
PORT_DEFAULT = 6443
_PORT_FILE = "port"
_PORT_FAULTS = {
    errno.EADDRINUSE: "is in use",
    errno.EACCES: "is reserved by the system for its administrator",
}
_GPUS = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class Wish:
    """The cluster that the command line asks for."""

    name: str
    nodes: int
    gpus_per_node: int
    racks: int
    speed: float
    port: int | None
    kubeconfig: Path | None
    data_dir: Path | None
    has_operator: bool = True
    strategy: str = "budgeted"  # of the operator's rollouts
    carrier: str = "statefulsets"  # of new workloads
    has_sample: bool = False  # whether a sample workload is made, and its start printed
    gang: str = ""  # the dialect of gangs; empty: none are made
    spines: int = 0  # 0: nodes stand under none
    apis: tuple[str, ...] = ()  # names of those that the operator serves; none: all
    late_events: bool = False  # a fault: watchers hear of a write after its answer
    has_dashboard: bool = True
    dashboard_port: int | None = None  # None: the usual one, or a free one
    starts_at: datetime | None = None  # of a clock of its own; None: the wall's
    asked: frozenset[str] = frozenset()  # the fields about nodes that the user gave


@dataclass(frozen=True, slots=True)
class Ready:
    """A started cluster, as ``kohort up`` prints it."""

    name: str
    url: str
    kubeconfig: str
    pid: int
    nodes: int
    gpus: int
    racks: int
    speed: float
    operator: bool = False
    spines: int = 0
    gang: str = ""
    dashboard: str = ""  # its URL with a token; empty: there is none
    notes: tuple[str, ...] = ()  # flags that a kept cluster could not follow


def host(wish: Wish, announce: Callable[[Ready], None]) -> None:
    """Run a cluster until a signal ends it."""
    state = State(wish.name)
    os.umask(0o077)  # A database holds secrets as much as a kubeconfig does.
    if wish.data_dir:
        if wish.data_dir.exists() and not wish.data_dir.is_dir():
            raise Failure(f"{wish.data_dir} is not a folder")
        with _keeping(wish.data_dir):
            wish.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_owner(wish.data_dir, "choose another data folder with --data-dir")
    bound_heaps()
    with state.claim():
        run(_Hosting(wish, state, announce).run())


class _Hosting:
    """One cluster in this process, from its claim to its end."""

    def __init__(self, wish: Wish, state: State, announce: Callable[[Ready], None]) -> None:
        from kohort.apiserver.host.kubeconfig import Kubeconfig

        self._wish = wish
        self._state = state
        self._announce = announce
        self._kubeconfig = Kubeconfig(wish.kubeconfig or state.kubeconfig, wish.name)

    async def run(self) -> None:
        """Start, say so, wait, stop."""
        stop = catch_signals()
        self._kubeconfig.check()
        identity = self._identify()
        embedded = await self._start(identity)
        settle_memory()
        dashboard: DashboardServer | None = None
        try:
            work = await self._prepare(embedded)
            dashboard = await self._serve_page()
            if not stop.is_set():
                self._publish(embedded, identity, dashboard.url if dashboard else "")
            if self._wish.has_sample:
                work.append(self._show_sample(embedded))
            await _first(stop.wait(), embedded.fail(), *work)
        finally:
            if dashboard is not None:
                await dashboard.stop()
            await embedded.stop()
            # A kept cluster keeps its secrets and its port, so its kubeconfig stays true.
            if self._wish.data_dir is None:
                self._kubeconfig.remove()

    def _identify(self) -> "Identity":
        from kohort.apiserver.host.identity import keep_identity, make_identity

        if self._wish.data_dir is None:
            return make_identity()
        with _keeping(self._wish.data_dir):
            return keep_identity(self._wish.data_dir)

    async def _start(self, identity: "Identity") -> "Embedded":
        from kohort.apis.served import KNOWN, choose_apis
        from kohort.simulator.embedded import Embedded, EmbeddedOptions

        wish = self._wish
        options = EmbeddedOptions(
            token=identity.token,
            tls=identity.server_context(),
            ca_text=identity.certificates.ca,
            host=HOST,
            port=_choose_port(wish),
            nodes=wish.nodes,
            gpus_per_node=wish.gpus_per_node,
            racks=wish.racks,
            spines=wish.spines,
            gang=wish.gang,
            speed=wish.speed,
            data_dir=wish.data_dir,
            late_events=wish.late_events,
            apis=choose_apis(wish.apis or tuple(KNOWN)) if wish.has_operator else (),
            settings=self._settings(),
            starts_at=wish.starts_at,
        )
        try:
            return await Embedded.start(options)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and wish.port is None:
                # Another process was faster since we looked.
                return await Embedded.start(replace(options, port=0))
            if (reason := _PORT_FAULTS.get(error.errno or 0)) is None:
                raise
            raise Failure(
                f"port {options.port} {reason}; name another with --port, or leave it out for "
                "a free one"
            ) from error

    async def _prepare(self, embedded: "Embedded") -> list[Coroutine[Any, Any, None]]:
        """The other tasks of this process while the cluster runs."""
        if not self._wish.has_operator:
            return []
        from kohort.apis.served import KNOWN, choose_apis
        from kohort.embedded_operator import keep_running, make_operator

        async def make() -> "ServedApis":
            apis = choose_apis(self._wish.apis or tuple(KNOWN))
            return await make_operator(embedded, self._settings(), apis)

        # The first one is made before the command says that the cluster is ready.
        return [keep_running(await make(), make)]

    async def _show_sample(self, embedded: "Embedded") -> None:
        from kohort.apiserver.inprocess import InProcessCluster
        from kohort.cli.processes.sample import show_sample

        def say(line: str) -> None:
            show(f"  {'sample':<12}{line}")

        await show_sample(InProcessCluster(embedded.api), say)
        await asyncio.Event().wait()

    async def _serve_page(self) -> "DashboardServer | None":
        """The dashboard of this cluster; it reads nothing before its page is opened."""
        if not self._wish.has_dashboard:
            return None
        from kohort.dashboard.server import PORT_DEFAULT, DashboardOptions, DashboardServer

        def reach() -> "HttpCluster":
            from kohort.cluster.http import connect

            return connect(self._kubeconfig.path, f"kohort-{self._wish.name}")

        asked = self._wish.dashboard_port
        options = DashboardOptions(port=PORT_DEFAULT if asked is None else asked)
        server = DashboardServer(reach, options)
        try:
            await server.start(may_move=asked is None)
        except OSError as error:
            reason = _PORT_FAULTS.get(error.errno or 0, "cannot be listened on")
            raise Failure(
                f"port {asked} {reason}; name another with --dashboard-port, or leave the page "
                "out with --no-dashboard"
            ) from error
        return server

    def _settings(self) -> "Settings":
        from kohort.embedded_operator import make_settings

        return make_settings(self._wish.gang, self._wish.strategy, self._wish.carrier)

    def _publish(self, embedded: "Embedded", identity: "Identity", dashboard: str) -> None:
        from kohort.apiserver.host.identity import write_secret

        url = f"https://{HOST}:{embedded.port}"
        with writing(self._kubeconfig.path, "name another file with --kubeconfig"):
            self._kubeconfig.write(url, identity)
        if self._wish.data_dir:
            write_secret(self._wish.data_dir / _PORT_FILE, str(embedded.port))
        ready = replace(
            _describe(self._wish, embedded, url, self._kubeconfig.path), dashboard=dashboard
        )
        self._write_control(ready, identity)
        self._announce(ready)

    def _write_control(self, ready: Ready, identity: "Identity") -> None:
        from kohort.apiserver.host.identity import write_secret

        control = {
            **asdict(ready),
            "token": identity.token,
            "ca": identity.certificates.ca,
            "gpusPerNode": self._wish.gpus_per_node,
            "dataDir": str(self._wish.data_dir) if self._wish.data_dir else None,
        }
        write_secret(self._state.control_file, json.dumps(control, indent=2))


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait for the first of several coroutines, cancel the others, and raise its error if any."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    for task in done:
        task.result()


def _keeping(folder: Path) -> AbstractContextManager[None]:
    return writing(folder, "choose another data folder with --data-dir")


def _choose_port(wish: Wish) -> int:
    if wish.port is not None:
        return wish.port
    candidates = [PORT_DEFAULT]
    if wish.data_dir and (last := wish.data_dir / _PORT_FILE).exists():
        text = last.read_text().strip()
        candidates.insert(0, int(text) if text.isdecimal() and int(text) < 65_536 else PORT_DEFAULT)
    return next((port for port in candidates if _is_free(port)), 0)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _describe(wish: Wish, embedded: "Embedded", url: str, kubeconfig: Path) -> Ready:
    """The cluster as it runs; one that was kept on disk may differ from the flags."""
    from kohort.cluster.node_labels import RACK, SPINE

    nodes = [entry.decode() for entry in embedded.api.store.bucket("nodes").entries.values()]
    labels = [node["metadata"].get("labels", {}) for node in nodes]
    racks, spines = ({found.get(key) for found in labels} - {None} for key in (RACK, SPINE))
    capacities = [node.get("status", {}).get("capacity", {}) for node in nodes]
    gpus = [int(capacity.get(_GPUS, 0)) for capacity in capacities]
    found = {
        "nodes": {len(nodes)},
        "gpus_per_node": set(gpus),
        "racks": {len(racks)},
        "spines": {len(spines)},
    }
    return Ready(
        name=wish.name,
        url=url,
        kubeconfig=str(kubeconfig),
        pid=os.getpid(),
        nodes=len(nodes),
        gpus=sum(gpus),
        racks=len(racks),
        speed=wish.speed,
        operator=wish.has_operator,
        spines=len(spines),
        gang=wish.gang,
        notes=tuple(_list_ignored(wish, found)),
    )


def _list_ignored(wish: Wish, found: dict[str, set[int]]) -> Iterator[str]:
    """Flags about nodes that are ignored, since a kept cluster has other nodes already."""
    for name in sorted(wish.asked) if wish.data_dir else ():
        asked, there = getattr(wish, name), found[name]
        if there and there != {asked}:
            flag = f"--{name.replace('_', '-')}"
            numbers = " or ".join(map(str, sorted(there)))
            yield f"{flag} {asked} is ignored: the cluster kept in {wish.data_dir} has {numbers}"
