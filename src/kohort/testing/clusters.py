"""
This is where a cluster is started in a thread beside the tests.

It has an event loop of its own, so it serves blocking and asynchronous clients
alike, and a test that blocks does not stop it. It listens on loopback with TLS
and a random token, as ``kohort up`` does, and is gone when the block ends.
"""

import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from kohort.testing.controls import GPUS_MAX, NODES_MAX, Clock, Nodes, check_whole

if TYPE_CHECKING:
    from kohort.apis.api import Settings
    from kohort.controller.process.served_apis import ServedApis
    from kohort.simulator.embedded import Embedded, EmbeddedOptions
    from kohort.simulator.host.client import Client

NAMESPACE_SECONDS_MAX = 5.0
RACKS_DEFAULT = 2
_NAME = "test"
_NAMESPACES = "/api/v1/namespaces"
_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster, and what a client needs to reach it."""

    url: str
    token: str
    ca: str  # PEM
    kubeconfig: Path
    gpus_per_node: int = 8

    @property
    def clock(self) -> Clock:
        """The clock of the simulated delays, to pause, step and speed up."""
        return Clock(self._connect)

    @property
    def nodes(self) -> Nodes:
        """The simulated nodes, to add, fail and recover."""
        return Nodes(self._connect, self.gpus_per_node)

    def dump(self, namespace: str) -> str:
        """All that a namespace holds: events, objects as YAML, and the last lines of logs."""
        from kohort.testing.dumps import dump_namespace

        client = self._connect()
        try:
            return dump_namespace(client, namespace)
        finally:
            client.close()

    @contextmanager
    def namespace(self, name: str) -> Iterator[str]:
        """A namespace of that name, which is deleted with all it holds when the block ends.

        An exception that ends the block gets a note with a dump of the namespace.
        """
        client = self._connect()
        client.create(_NAMESPACES, {"metadata": {"name": name}})
        try:
            yield name
        except Exception as error:
            with suppress(Exception):  # The first error is the one to be told.
                error.add_note(f"the namespace {name} held then:\n{self.dump(name)}")
            raise
        finally:
            _delete_namespace(client, name)
            client.close()

    def _connect(self) -> "Client":
        from kohort.simulator.host.client import Client

        return Client(self.url, self.token, self.ca)


class ClusterOptions(TypedDict, total=False):
    """What a cluster in a test can be told."""

    nodes: int
    gpus_per_node: int
    racks: int
    speed: float  # divides the delays of the simulated parts
    spines: int  # that the racks stand under
    gang: str  # a scheduler that places pods together: its kinds are served then
    late_events: bool  # a fault: watchers hear of a write after its writer was answered
    operator: bool  # Kohort's own operator runs in it, and its kinds are served


@dataclass(frozen=True, slots=True)
class _Wish:
    nodes: int = 8
    gpus_per_node: int = 8
    racks: int = 0  # 0: two, or one for each node if there are fewer
    speed: float = 100.0
    spines: int = 0
    gang: str = ""
    late_events: bool = False
    operator: bool = False


@contextmanager
def start_cluster(**options: Unpack[ClusterOptions]) -> Iterator[Cluster]:
    """Start a cluster, and stop it when the block ends.

    ``speed`` divides the delays of the simulated parts: at 100, a pod that takes
    two seconds to start is ready in twenty milliseconds. ``gang`` names a scheduler
    that places pods together, such as ``volcano``: its kinds are served then. With
    ``late_events``, watch events come after the answer to the write that caused them. With
    ``operator``, Kohort's own operator runs in the cluster, and its kinds are served.
    """
    unknown = sorted(set(options) - ClusterOptions.__optional_keys__)
    if unknown:
        known = ", ".join(sorted(ClusterOptions.__optional_keys__))
        raise TypeError(f"start_cluster() knows no {', '.join(unknown)}; its options are {known}")
    wish = _Wish(**options)
    _check(options, wish)
    with _start(wish) as cluster:
        yield cluster


@contextmanager
def _start(wish: _Wish) -> Iterator[Cluster]:
    from kohort.simulator.embedded import EmbeddedOptions
    from kohort.simulator.host.identity import make_identity
    from kohort.simulator.host.kubeconfig import Kubeconfig

    identity = make_identity()
    settings = _find_settings(wish.gang) if wish.operator else None
    options = EmbeddedOptions(
        token=identity.token,
        tls=identity.server_context(),
        ca_text=identity.certificates.ca,
        nodes=wish.nodes,
        gpus_per_node=wish.gpus_per_node,
        racks=_count_racks(wish),
        spines=wish.spines or (1 if wish.gang else 0),
        gang=wish.gang,
        speed=wish.speed,
        late_events=wish.late_events,
    )
    with TemporaryDirectory(prefix="kohort-") as folder, _running(options, settings) as port:
        url = f"https://{options.host}:{port}"
        kubeconfig = Kubeconfig(Path(folder, "kubeconfig"), _NAME)
        kubeconfig.write(url, identity)
        authority, gpus = identity.certificates.ca, wish.gpus_per_node
        yield Cluster(url, identity.token, authority, kubeconfig.path, gpus)


def _find_settings(gang: str) -> "Settings":
    """What the operator is told: as usual, on the carrier that the gang scheduler can do with."""
    from kohort.embedded_operator import find_gangs, make_settings

    carrier = "pods" if any(dialect.marks_first for dialect in find_gangs(gang)) else "statefulsets"
    return make_settings(gang, "budgeted", carrier)


def _count_racks(wish: _Wish) -> int:
    return wish.racks or min(RACKS_DEFAULT, max(wish.nodes, 1))


def _check(options: ClusterOptions, wish: _Wish) -> None:
    check_whole("nodes", wish.nodes, 0, NODES_MAX)
    check_whole("gpus_per_node", wish.gpus_per_node, 0, GPUS_MAX)
    if "racks" in options:
        check_whole("racks", wish.racks, 1, max(wish.nodes, 1), "the number of nodes")
    if not isinstance(wish.speed, int | float) or not 0 < wish.speed < math.inf:
        raise ValueError(f"speed must be a number above 0, not {wish.speed!r}")
    _check_network(_count_racks(wish), wish.spines, wish.gang)


def _check_network(racks: int, spines: int, gang: str) -> None:
    from kohort.apis.gangs.known import DIALECTS

    check_whole("spines", spines, 0, racks, "the number of racks")
    if gang and gang not in DIALECTS:
        raise ValueError(f"gang must be one of {', '.join(DIALECTS)}, not {gang!r}")


@contextmanager
def _running(options: "EmbeddedOptions", settings: "Settings | None") -> Iterator[int]:
    host = _Host(options, settings)
    host.start()
    try:
        yield host.wait_until_ready()
    finally:
        host.stop()


class _Host(threading.Thread):
    """The thread that a cluster lives in."""

    def __init__(self, options: "EmbeddedOptions", settings: "Settings | None") -> None:
        super().__init__(name="kohort-cluster", daemon=True)
        self._options = options
        self._settings = settings  # of the operator; None: there is none
        self._told = threading.Event()
        self._port = 0
        self._error: BaseException | None = None
        self._is_ending = threading.Event()
        self._end: Callable[[], object] = lambda: None

    def run(self) -> None:
        """Serve until told to stop."""
        from kohort.process.loop import run

        try:
            run(self._serve())
        except BaseException as error:
            self._error = error
            if self._port:
                raise  # Nobody waits any more who could tell of it.
        finally:
            self._told.set()

    async def _serve(self) -> None:
        import asyncio

        from kohort.simulator.embedded import Embedded

        options = self._options
        if self._settings is not None:
            from kohort.apis.served import APIS

            options = replace(options, apis=APIS, settings=self._settings)
        embedded = await Embedded.start(options)
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(stop.set)
        if self._is_ending.is_set():  # It was told so before there was anything to end.
            stop.set()
        try:
            async with _operating(embedded, self._settings):
                self._port = embedded.port
                self._told.set()
                await stop.wait()
        finally:
            await embedded.stop()

    def wait_until_ready(self) -> int:
        """The port, once the cluster listens."""
        self._told.wait()
        if self._error is not None:
            raise RuntimeError(f"the cluster did not start: {self._error}") from self._error
        return self._port

    def stop(self) -> None:
        """End the cluster, and wait for that."""
        self._is_ending.set()
        if self.is_alive():
            self._end()
        self.join()


@asynccontextmanager
async def _operating(embedded: "Embedded", settings: "Settings | None") -> AsyncIterator[None]:
    """Let the operator work while the block runs, if there is one."""
    if settings is None:
        yield
        return
    import asyncio

    from kohort.embedded_operator import keep_running, make_operator

    def make() -> "Coroutine[Any, Any, ServedApis]":
        return make_operator(embedded, settings)

    work = asyncio.create_task(keep_running(await make(), make))
    try:
        yield
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


def _delete_namespace(client: "Client", name: str) -> None:
    """Delete a namespace, unless the test has done so, and wait for its end."""
    from kohort.simulator.host.client import Refusal

    try:
        client.delete(f"{_NAMESPACES}/{name}")
    except Refusal as refusal:
        if refusal.status != _NOT_FOUND:
            raise
        return
    _wait_until_gone(client, name)


def _wait_until_gone(client: "Client", name: str) -> None:
    """Wait for a namespace to end; one that finalizers hold is left behind, not waited for."""
    from kohort.simulator.host.client import Refusal

    end = time.monotonic() + NAMESPACE_SECONDS_MAX
    while time.monotonic() < end:
        try:
            client.read(f"{_NAMESPACES}/{name}")
        except Refusal:
            return
        time.sleep(0.01)
