"""
An API server without controllers, in a thread beside the tests: it only stores objects.

For tests of clients and of controllers that need no pods to start: definitions, schemas,
defaults, webhooks, watches and server-side apply work as in a cluster. ``start_cluster``
starts the same API server with nodes, a scheduler and the built-in controllers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from kohort.testing.threads import ServerTurn, run_in_thread

if TYPE_CHECKING:
    from kohort.apiserver.host.identity import Identity

_NAME = "api-server"


@dataclass(frozen=True, slots=True)
class ApiServerAddress:
    """The URL of a running API server, with the token and certificate for clients."""

    url: str
    token: str
    ca: str  # PEM
    kubeconfig: Path


@contextmanager
def start_api_server(*, late_events: bool = False) -> Iterator[ApiServerAddress]:
    """Start an API server without nodes and controllers, and stop it when the block ends.

    With ``late_events``, watch events come after the answer to the write that caused them.
    """
    from kohort.apiserver.host.identity import make_identity
    from kohort.apiserver.host.kubeconfig import Kubeconfig

    identity = make_identity()
    serve = partial(_serve, identity, late_events)
    with (
        TemporaryDirectory(prefix="kohort-") as folder,
        run_in_thread("API server", serve) as port,
    ):
        url = f"https://127.0.0.1:{port}"
        kubeconfig = Kubeconfig(Path(folder, "kubeconfig"), _NAME)
        kubeconfig.write(url, identity)
        yield ApiServerAddress(url, identity.token, identity.certificates.ca, kubeconfig.path)


async def _serve(identity: "Identity", late_events: bool, turn: ServerTurn) -> None:
    from kohort.apiserver.assembly import start_alone

    tls = identity.server_context()
    server = await start_alone(identity.token, tls, late_events=late_events)
    try:
        await turn.serve(server.port)
    finally:
        await server.stop_listening()
        await server.close()
