"""
Starts a cluster in a thread beside the tests.

It has an event loop of its own, so it serves blocking and asynchronous clients
alike, and a test that blocks does not stop it. It listens on loopback with TLS
and a random token, as ``kohort up`` does, and is gone when the block ends.
"""

import math
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from kohort.testing.controls import GPUS_MAX, NODES_MAX, Clock, Nodes, check_whole
from kohort.testing.threads import ServerTurn, run_in_thread

if TYPE_CHECKING:
    from kohort.apis.api import Settings
    from kohort.apiserver.host.client import Client
    from kohort.controller.process.served_apis import ServedApis
    from kohort.simulator.embedded import Embedded, EmbeddedOptions

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
            with suppress(Exception):  # The first error is the one to report.
                error.add_note(f"the namespace {name} held then:\n{self.dump(name)}")
            raise
        finally:
            _delete_namespace(client, name)
            client.close()

    def _connect(self) -> "Client":
        from kohort.apiserver.host.client import Client

        return Client(self.url, self.token, self.ca)


class ClusterOptions(TypedDict, total=False):
    """The options of a cluster for tests."""

    nodes: int
    gpus_per_node: int
    racks: int
    speed: float  # divides the delays of the simulated parts
    spines: int  # network spines, over which the racks are spread
    gang: str  # a scheduler that places pods together; the cluster serves its kinds
    late_events: bool  # a fault: watch events of a write come after its response
    operator: bool  # Kohort's own operator runs in the cluster, which serves its kinds


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
    from kohort.apiserver.host.identity import make_identity
    from kohort.apiserver.host.kubeconfig import Kubeconfig
    from kohort.simulator.embedded import EmbeddedOptions

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
    serve = partial(_serve, options, settings)
    with (
        TemporaryDirectory(prefix="kohort-") as folder,
        run_in_thread("cluster", serve) as port,
    ):
        url = f"https://{options.host}:{port}"
        kubeconfig = Kubeconfig(Path(folder, "kubeconfig"), _NAME)
        kubeconfig.write(url, identity)
        authority, gpus = identity.certificates.ca, wish.gpus_per_node
        yield Cluster(url, identity.token, authority, kubeconfig.path, gpus)


def _find_settings(gang: str) -> "Settings":
    """The operator's settings, with a carrier that the gang scheduler supports."""
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


async def _serve(options: "EmbeddedOptions", settings: "Settings | None", turn: ServerTurn) -> None:
    """Run a cluster, with the operator if there are settings for it, until the block ends."""
    from kohort.simulator.embedded import Embedded

    if settings is not None:
        from kohort.apis.served import APIS

        options = replace(options, apis=APIS, settings=settings)
    embedded = await Embedded.start(options)
    try:
        async with _operating(embedded, settings):
            await turn.serve(embedded.port)
    finally:
        await embedded.stop()


@asynccontextmanager
async def _operating(embedded: "Embedded", settings: "Settings | None") -> AsyncIterator[None]:
    """Run the operator, if there is one, while the block runs."""
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
    from kohort.apiserver.host.client import Refusal

    try:
        client.delete(f"{_NAMESPACES}/{name}")
    except Refusal as refusal:
        if refusal.status != _NOT_FOUND:
            raise
        return
    _wait_until_gone(client, name)


def _wait_until_gone(client: "Client", name: str) -> None:
    """Wait until a namespace is deleted; one that finalizers hold is left behind."""
    from kohort.apiserver.host.client import Refusal

    end = time.monotonic() + NAMESPACE_SECONDS_MAX
    while time.monotonic() < end:
        try:
            client.read(f"{_NAMESPACES}/{name}")
        except Refusal:
            return
        time.sleep(0.01)
