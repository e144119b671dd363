"""
This is where a command finds the running cluster that it is to act on.

A name decides. Without one, the current context of the kubeconfig does, if it leads to a
cluster of this machine, running or not; else the only cluster that runs. Where several run
and nothing says which is meant, none is taken.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kohort.apiserver.host.client import Client
from kohort.cli.exits import Failure, UsageError
from kohort.cli.parser import Parser
from kohort.cli.state import State, is_name, list_running
from kohort.cluster.errors import KohortError

_PREFIX = "kohort-"  # of the contexts that clusters write
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_cluster(parser: Parser) -> None:
    """Offer the choice of a cluster."""
    parser.add_argument(
        "--name",
        help="of the cluster (default: that of the kubeconfig's context, or the only one that "
        "runs)",
    )


def choose_cluster(name: str | None) -> State:
    """The cluster that is meant, whether it runs or not."""
    if name is not None:
        return State(name)
    running = list_running()
    if meant := find_by_context(running):
        return meant
    if len(running) > 1:
        names = ", ".join(state.name for state in running)
        raise UsageError(
            f"several clusters run: {names}; name one with --name, or let KUBECONFIG be the "
            "path of its kubeconfig"
        )
    if not running:
        raise Failure("no cluster is running; start one with 'kohort up'")
    return running[0]


def find_by_context(running: list[State]) -> State | None:
    """The cluster of this machine that the kubeconfig's current context leads to."""
    listed = [Path(text) for text in os.environ.get("KUBECONFIG", "").split(os.pathsep) if text]
    files = [file for file in listed or [Path.home() / ".kube" / "config"] if file.exists()]
    context, server = _read_context(files)
    for state in running:
        if server and (state.find_control() or {}).get("url") == server:
            return state
    is_here = _find_host(context, server) in _LOOPBACK
    name = context.removeprefix(_PREFIX)
    if is_here and name != context and is_name(name):
        return State(name)
    return None if context else _find_ended(listed)


def _find_host(context: str, server: str) -> str | None:
    try:
        return urlsplit(server).hostname
    except ValueError as error:
        raise Failure(
            f"the server {server!r} of the kubeconfig's context {context!r} is no URL ({error}); "
            "mend it, or name a cluster with --name"
        ) from error


def _find_ended(files: list[Path]) -> State | None:
    """The ended cluster whose removed kubeconfig KUBECONFIG still names; then no other is meant."""
    for file in files:
        name = file.absolute().parent.name
        if is_name(name) and State(name).kubeconfig == file.absolute():
            return State(name)
    return None


def _read_context(files: list[Path]) -> tuple[str, str]:
    """The name and the server of the current context; nothing if there is none."""
    if not files:
        return "", ""
    from kohort.cluster.http.access.kubeconfig import load

    try:
        cluster, _, context = load(files).choose(None)
    except KohortError:
        return "", ""
    return context.name, str(cluster.content.get("server") or "")


def read_control(name: str | None) -> dict[str, Any]:
    """The control file of a running cluster: its URL, token and certificate."""
    return choose_cluster(name).expect_control()


def connect(name: str | None) -> Client:
    """A connection to a running cluster."""
    return connect_to(read_control(name))


def connect_to(control: dict[str, Any], seconds: float | None = None) -> Client:
    """A connection to the cluster of this control file."""
    return Client(control["url"], control["token"], control["ca"], seconds)
