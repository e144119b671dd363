"""
This is where ``kohort sim topology`` shows racks, nodes and the pods on them.

It reads the running embedded cluster, or with a kubeconfig any cluster.
"""

import argparse
from pathlib import Path

from kohort.cli.connection import add_cluster, read_control
from kohort.cli.exits import Exit
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import add_form


def _make_parser(prog: str) -> Parser:
    summary = "show the domains of the network as a tree: free GPUs, nodes, and who sits where"
    parser = Parser(prog, summary, ("", "-o wide", "--kubeconfig ~/.kube/config -o json"))
    add_cluster(parser)
    add = parser.add_argument
    add(
        "--kubeconfig",
        type=Path,
        metavar="FILE",
        help="of a cluster that 'kohort up' did not start",
    )
    add("--context", metavar="NAME", help="of the kubeconfig")
    add_form(parser, "wide", "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    path: Path | None = arguments.kubeconfig
    if path is None and arguments.context is None:
        path = Path(read_control(arguments.name)["kubeconfig"])
    return run_command(_show(arguments, path))


async def _show(arguments: argparse.Namespace, kubeconfig: Path | None) -> int:
    from kohort.cli.render.topologies import write_map
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.arguments import read_wanted
    from kohort.cli.workloads.source import open_source
    from kohort.surveys import survey
    from kohort.views.topology.map import draw_map

    place = argparse.Namespace(kubeconfig=kubeconfig, context=arguments.context, namespace="")
    async with open_source(place, read_wanted([])) as source:
        drawn = draw_map((await survey(source.cluster)).draw())
    if arguments.output in ("json", "yaml"):
        print(write_value(drawn, arguments.output))
    else:
        show(*write_map(drawn, wide=arguments.output == "wide"))
    return Exit.DONE


TOPOLOGY = Command(_make_parser, _run)
