"""
This is where ``kohort clusters`` lists the clusters that run on this machine.

Each is asked how many nodes it has; one that does not answer in time is listed, too. Files that
killed processes left behind are removed, with a line on stderr.
"""

import argparse
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from kohort.cli.connection import connect_to, find_by_context
from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser, add_output
from kohort.cli.state import State, list_states
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cluster.errors import KohortError

_SECONDS_MAX = 2.0
_NODES = "/api/v1/nodes?limit=1"
_HEAD = ("", "NAME", "STATUS", "PORT", "AGE", "NODES", "DATA")


@dataclass(frozen=True, slots=True)
class Listed:
    """A cluster that runs."""

    name: str
    status: str  # running, starting, silent
    pid: int
    started: str
    is_current: bool  # whether commands without a name act on it, by the kubeconfig
    port: int | None = None
    url: str = ""
    nodes: int | None = None  # None: it did not answer
    kubeconfig: str = ""
    data_dir: str = ""  # empty: it is kept in memory


def _make_parser(prog: str) -> Parser:
    summary = "list the clusters that run on this machine; * is the one that the kubeconfig names"
    parser = Parser(prog, summary, ("", "-o json"))
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    states = list_states()
    stale = [state.name for state in states if state.clear_stale()]
    running = [(state, pid) for state in states if (pid := state.find_pid()) is not None]
    current = None
    with suppress(Failure):  # A damaged kubeconfig names none.
        current = find_by_context([state for state, _ in running])
    found = [_list(state, pid, state == current) for state, pid in running]
    listed = [cluster for cluster in found if cluster is not None]
    if stale:
        news = f"removed the stale files of {', '.join(stale)}: killed earlier"
        print(news, file=sys.stderr)
    if arguments.output == "json":
        from kohort.cli.render.values import write_value

        print(write_value(listed, "json"))
    elif not listed:
        print("no cluster is running; start one with 'kohort up'")
    else:
        _print(listed)
    return Exit.DONE


def _list(state: State, pid: int, is_current: bool) -> Listed | None:
    """The line of a cluster; None if it has ended in the meantime."""
    try:
        changed = state.pid_file.stat().st_mtime
    except FileNotFoundError:
        return None
    began = datetime.fromtimestamp(changed, UTC).replace(microsecond=0)
    started = began.isoformat().replace("+00:00", "Z")
    control = state.find_control()
    if control is None:
        return Listed(state.name, "starting", pid, started, is_current)
    client = connect_to(control, _SECONDS_MAX)
    try:
        answer = client.read(_NODES)
        more = answer.get("metadata", {}).get("remainingItemCount") or 0
        nodes: int | None = len(answer["items"]) + more
    except KohortError:
        nodes = None
    finally:
        client.close()
    return Listed(
        name=state.name,
        status="silent" if nodes is None else "running",
        pid=pid,
        started=started,
        is_current=is_current,
        port=urlsplit(control["url"]).port,
        url=control["url"],
        nodes=nodes,
        kubeconfig=control["kubeconfig"],
        data_dir=control.get("dataDir") or "",
    )


def _print(listed: list[Listed]) -> None:
    from kohort.cli.render.lines import align
    from kohort.views.ages import find_time, write_age

    now = datetime.now(UTC)
    rows = [
        (
            "*" if cluster.is_current else "",
            cluster.name,
            cluster.status,
            "-" if cluster.port is None else str(cluster.port),
            write_age(find_time(cluster.started), now),
            "-" if cluster.nodes is None else str(cluster.nodes),
            cluster.data_dir or "in memory",
        )
        for cluster in listed
    ]
    show(*align([_HEAD, *rows]))


CLUSTERS = Command(_make_parser, _run)
