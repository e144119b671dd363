"""
This is where a cluster is started in a thread beside the tests.

It has an event loop of its own, so it serves blocking and asynchronous clients
alike, and a test that blocks does not stop it. It listens on loopback with TLS
and a random token, as ``kohort up`` does, and is gone when the block ends.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict, Unpack

if TYPE_CHECKING:
    from kohort.simulator.embedded import EmbeddedOptions
    from kohort.simulator.hosting.client import Client

NAMESPACE_SECONDS_MAX = 5.0
_NAME = "test"
_NAMESPACES = "/api/v1/namespaces"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster, and what a client needs to reach it."""

    url: str
    token: str
    ca: str  # PEM
    kubeconfig: Path

    @contextmanager
    def namespace(self, name: str) -> Iterator[str]:
        """A namespace of that name, which is deleted with all it holds when the block ends."""
        client = self._connect()
        client.create(_NAMESPACES, {"metadata": {"name": name}})
        try:
            yield name
        finally:
            client.delete(f"{_NAMESPACES}/{name}")
            _wait_until_gone(client, name)
            client.close()

    def _connect(self) -> "Client":
        from kohort.simulator.hosting.client import Client

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


@dataclass(frozen=True, slots=True)
class _Wish:
    nodes: int = 8
    gpus_per_node: int = 8
    racks: int = 2
    speed: float = 100.0
    spines: int = 0
    gang: str = ""
    late_events: bool = False


@contextmanager
def start_cluster(**options: Unpack[ClusterOptions]) -> Iterator[Cluster]:
    """Start a cluster, and stop it when the block ends.

    ``speed`` divides the delays of the simulated parts: at 100, a pod that takes
    two seconds to start is ready in twenty milliseconds. ``gang`` names a scheduler
    that places pods together, such as ``volcano``: its kinds are served then. With
    ``late_events``, watch events come after the answer to the write that caused them.
    """
    unknown = sorted(set(options) - ClusterOptions.__optional_keys__)
    if unknown:
        known = ", ".join(sorted(ClusterOptions.__optional_keys__))
        raise TypeError(f"start_cluster() knows no {', '.join(unknown)}; its options are {known}")
    wish = _Wish(**options)
    _check(wish)
    with _start(wish) as cluster:
        yield cluster


@contextmanager
def _start(wish: _Wish) -> Iterator[Cluster]:
    from kohort.simulator.embedded import EmbeddedOptions
    from kohort.simulator.hosting.identity import make_identity
    from kohort.simulator.hosting.kubeconfig import Kubeconfig

    identity = make_identity()
    options = EmbeddedOptions(
        token=identity.token,
        tls=identity.server_context(),
        ca_text=identity.certificates.ca,
        nodes=wish.nodes,
        gpus_per_node=wish.gpus_per_node,
        racks=min(wish.racks, max(wish.nodes, 1)),
        spines=min(wish.spines or (1 if wish.gang else 0), max(wish.nodes, 1)),
        gang=wish.gang,
        speed=wish.speed,
        late_events=wish.late_events,
    )
    with TemporaryDirectory(prefix="kohort-") as folder, _running(options) as port:
        url = f"https://{options.host}:{port}"
        kubeconfig = Kubeconfig(Path(folder, "kubeconfig"), _NAME)
        kubeconfig.write(url, identity)
        yield Cluster(url, identity.token, identity.certificates.ca, kubeconfig.path)


def _check(wish: _Wish) -> None:
    for name, value, least in (
        ("nodes", wish.nodes, 0),
        ("gpus_per_node", wish.gpus_per_node, 0),
        ("racks", wish.racks, 1),
    ):
        if value < least:
            raise ValueError(f"{name} must be {least} or more, not {value}")
    if not 0 < wish.speed < math.inf:
        raise ValueError(f"speed must be a number above 0, not {wish.speed}")
    _check_network(wish.racks, wish.spines, wish.gang)


def _check_network(racks: int, spines: int, gang: str) -> None:
    from kohort.apis.gangs.known import DIALECTS

    if not 0 <= spines <= racks:
        raise ValueError(f"spines must be from 0 to the number of racks, not {spines}")
    if gang and gang not in DIALECTS:
        raise ValueError(f"gang must be one of {', '.join(DIALECTS)}, not {gang!r}")


@contextmanager
def _running(options: "EmbeddedOptions") -> Iterator[int]:
    host = _Host(options)
    host.start()
    try:
        yield host.wait_until_ready()
    finally:
        host.stop()


class _Host(threading.Thread):
    """The thread that a cluster lives in."""

    def __init__(self, options: "EmbeddedOptions") -> None:
        super().__init__(name="kohort-cluster", daemon=True)
        self._options = options
        self._told = threading.Event()
        self._port = 0
        self._error: BaseException | None = None
        self._end: Callable[[], object] = lambda: None

    def run(self) -> None:
        """Serve until told to stop."""
        from kohort.simulator.hosting.loop import run

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

        embedded = await Embedded.start(self._options)
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(stop.set)
        self._port = embedded.port
        self._told.set()
        await stop.wait()
        await embedded.stop()

    def wait_until_ready(self) -> int:
        """The port, once the cluster listens."""
        self._told.wait()
        if self._error is not None:
            raise RuntimeError(f"the cluster did not start: {self._error}") from self._error
        return self._port

    def stop(self) -> None:
        """End the cluster, and wait for that."""
        if self.is_alive():
            self._end()
        self.join()


def _wait_until_gone(client: "Client", name: str) -> None:
    """Wait for a namespace to end; one that finalizers hold is left behind, not waited for."""
    from kohort.simulator.hosting.client import Refusal

    end = time.monotonic() + NAMESPACE_SECONDS_MAX
    while time.monotonic() < end:
        try:
            client.read(f"{_NAMESPACES}/{name}")
        except Refusal:
            return
        time.sleep(0.01)
