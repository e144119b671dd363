"""
This is where ``kohort dashboard`` serves the page of a cluster until it is interrupted.

The cluster is asked once before the address is printed, so that a wrong context or missing
credentials are reported on the terminal and not on the page. A user who may not list some kinds of
workload is told so once, and gets a page that lacks them: the permission may come later.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parser import Parser, add_output, whole
from kohort.cli.processes.signals import catch_signals
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import add_place

if TYPE_CHECKING:
    from kohort.cluster.errors import Forbidden
    from kohort.cluster.http import HttpCluster
    from kohort.cluster.objects import Kind
    from kohort.cluster.port import Cluster
    from kohort.dashboard.server import DashboardOptions

_EXAMPLES = ("", "--context prod -n chat", "--port 8080 --prefix /kohort", "--allow-writes")


def _make_parser(prog: str) -> Parser:
    summary = (
        "serve a page with all workloads, nodes and rollouts of a cluster, on this machine only; "
        "it changes nothing unless it may"
    )
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add("--address", default="127.0.0.1", metavar="IP", help="to listen on (default: loopback)")
    add("--port", type=whole(0, 65_535), metavar="PORT", help="(default: 7070, or a free one)")
    add(
        "--prefix",
        default="",
        metavar="PATH",
        help="a path that a proxy leaves before the paths of the page, such as /kohort",
    )
    add(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name of a proxy in front, may be repeated",
    )
    add("--allow-writes", action="store_true", help="offer to restart, pause, resume and undo")
    add(
        "--journal-address",
        default="",
        metavar="URL",
        help="where the operator serves its metrics and its journal; a cluster of 'kohort up' "
        "needs none",
    )
    add("--journal-token", default="", metavar="TOKEN", help="for that address")
    add_place(parser)
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from kohort.process.loop import run

    run(_serve(arguments, _read_options(arguments)))
    return Exit.DONE


def _read_options(arguments: argparse.Namespace) -> "DashboardOptions":
    from kohort.dashboard.server import PORT_DEFAULT, DashboardOptions

    prefix = arguments.prefix.rstrip("/")
    if prefix and (not prefix.startswith("/") or set("{}?#") & set(prefix)):
        raise UsageError(f"--prefix is a path such as /kohort, not {arguments.prefix!r}")
    return DashboardOptions(
        address=arguments.address,
        port=PORT_DEFAULT if arguments.port is None else arguments.port,
        prefix=prefix,
        allowed_hosts=tuple(arguments.allowed_host),
        namespace=arguments.namespace or "",
        allows_writes=arguments.allow_writes,
        journal_address=arguments.journal_address,
        journal_token=arguments.journal_token,
    )


async def _serve(arguments: argparse.Namespace, options: "DashboardOptions") -> None:
    from kohort.cli.workloads.arguments import read_wanted
    from kohort.cli.workloads.source import open_source
    from kohort.cluster.http import connect
    from kohort.dashboard.server import DashboardServer

    def reach() -> "HttpCluster":
        return connect(arguments.kubeconfig, arguments.context)

    stop = catch_signals()
    async with open_source(arguments, read_wanted([])) as source:
        await source.cluster.read_document("/version")
        kinds = [api.kind for api in source.wanted.apis]
        refusals = await _list_refusals(source.cluster, options.namespace, kinds)
    server = DashboardServer(reach, options)
    try:
        await server.start(may_move=arguments.port is None)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise Failure(f"cannot listen on {options.address}:{options.port}: {why}") from error
    try:
        if arguments.output == "json":
            print(json.dumps({"url": server.url, "port": server.port}), flush=True)
        else:
            show(f"dashboard ready at {server.url}", "  the token in it works once; stop: Ctrl-C")
        if refusals:
            show(f"warning: {_describe_refusals(refusals)}", file=sys.stderr)
        await stop.wait()
    finally:
        await server.stop()


async def _list_refusals(
    cluster: "Cluster", namespace: str, kinds: "Iterable[Kind]"
) -> "list[Forbidden]":
    """The API server's errors for the kinds of workload that the user may not list."""
    from kohort.cluster.errors import Forbidden, NotFound
    from kohort.cluster.port import Selection

    async def ask(kind: "Kind") -> Forbidden | None:
        place = namespace if kind.namespaced else ""
        try:
            await cluster.list(Selection(kind, place, fields="metadata.name=-"))
        except Forbidden as error:
            return error
        except NotFound:
            pass  # A kind that is not served has no workloads.
        return None

    found = await asyncio.gather(*(ask(kind) for kind in kinds))
    return [error for error in found if error is not None]


def _describe_refusals(refusals: "list[Forbidden]") -> str:
    """The first error in the API server's words, and how many kinds share it."""
    rest = len(refusals) - 1
    more = f", nor {rest} other kinds of workload" if rest else ""
    return (
        f"the page cannot show everything: {refusals[0]}{more}; 'kohort doctor' names each "
        "permission that is missing"
    )


DASHBOARD = Command(_make_parser, _run)
