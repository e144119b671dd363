"""This is where simulated nodes are added, lost and recovered."""

import argparse

from kohort.cli.connection import add_cluster, connect, connect_to, read_control
from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import Parser, whole
from kohort.cli.table import Command
from kohort.cli.terminal import show


def _make_add_parser(prog: str) -> Parser:
    parser = Parser(prog, "add nodes", ("", "gpu-90 gpu-91", "--count 4 --rack 1", "--gpus 4"))
    parser.add_argument("node", nargs="*", help="names (default: the next free one)")
    parser.add_argument("--count", type=whole(1, 10_000), metavar="N", help="how many, unnamed")
    parser.add_argument(
        "--rack", type=whole(0, 20_000), metavar="R", help="(default: the emptiest)"
    )
    parser.add_argument(
        "--gpus", type=whole(0, 1_000), metavar="G", help="(default: as the others)"
    )
    add_cluster(parser)
    return parser


def _add(arguments: argparse.Namespace) -> int:
    from kohort.simulator.node_requests import add_nodes

    if arguments.node and arguments.count:
        raise UsageError("give names or --count, not both")
    control = read_control(arguments.name)
    gpus: int = control["gpusPerNode"] if arguments.gpus is None else arguments.gpus
    names = arguments.node or arguments.count or 1
    for added in add_nodes(connect_to(control), names, gpus, arguments.rack):
        print(f"{added.name} added to rack-{added.rack} with {added.gpus} GPUs", flush=True)
    return Exit.DONE


def _make_fail_parser(prog: str) -> Parser:
    summary = (
        "let nodes fall silent, as if they had lost power: after 40 simulated seconds they are "
        "not ready, and pods that do not tolerate that are evicted later"
    )
    parser = Parser(prog, summary, ("gpu-03", "gpu-03 gpu-04"))
    parser.add_argument("node", nargs="+", help="names")
    add_cluster(parser)
    return parser


def _make_recover_parser(prog: str) -> Parser:
    parser = Parser(
        prog, "bring nodes back: they answer again, and take pods", ("gpu-03", "gpu-03 gpu-04")
    )
    parser.add_argument("node", nargs="+", help="names")
    add_cluster(parser)
    return parser


def _fail(arguments: argparse.Namespace) -> int:
    from kohort.simulator.node_requests import fail_nodes

    for node in fail_nodes(connect(arguments.name), arguments.node):
        show(f"{node.name} has failed" if node.is_changed else f"{node.name} had failed already")
    return Exit.DONE


def _recover(arguments: argparse.Namespace) -> int:
    from kohort.simulator.node_requests import recover_nodes

    for node in recover_nodes(connect(arguments.name), arguments.node):
        healthy = f"{node.name} was healthy; nothing was changed"
        show(f"{node.name} has recovered" if node.is_changed else healthy)
    return Exit.DONE


ADD = Command(_make_add_parser, _add)
FAIL = Command(_make_fail_parser, _fail)
RECOVER = Command(_make_recover_parser, _recover)
