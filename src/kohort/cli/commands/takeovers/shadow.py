"""
This is where ``kohort takeover shadow`` runs our controller beside another one.

It writes nothing and takes no lease. It exits with 4 if differences stayed.
"""

import argparse
import asyncio
import sys

from kohort.cli.commands.takeovers.arguments import add_operator, open_scope
from kohort.cli.exits import Exit
from kohort.cli.parser import Parser, some_time
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import paint, show
from kohort.cli.workloads.arguments import add_form, add_place


def _make_parser(prog: str) -> Parser:
    summary = (
        "run our controller beside the other one, write nothing, and report each difference as it "
        "appears and as it goes; Ctrl-C ends it"
    )
    parser = Parser(prog, summary, ("-A", "-A --for 1h", "-n team-b --apis rbg -o json"))
    add_place(parser, everywhere=True)
    add_operator(parser)
    parser.add_argument(
        "--for",
        dest="seconds",
        type=some_time,
        default=600.0,
        metavar="TIME",
        help="(default: 10m)",
    )
    add_form(parser, "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    return run_command(_shadow(arguments))


async def _shadow(arguments: argparse.Namespace) -> int:
    from kohort.cli.processes.signals import catch_signals
    from kohort.cli.render.takeovers import write_planned, write_shadow
    from kohort.cli.render.values import write_value
    from kohort.controller.clock import LoopTime
    from kohort.takeover.observer import Observer
    from kohort.takeover.shadow import Shadow, ShadowListener

    def print_line(*lines: str) -> None:
        show(*lines, file=sys.stderr)

    def begin() -> asyncio.Event:
        stop = catch_signals()
        print_line("the shadow runs: Ctrl-C ends it with a summary")
        return stop

    time = LoopTime()
    listener = ShadowListener(
        lambda write: print_line(*write_planned(write)),
        lambda write, who: print_line(f"✓ {write.workload}   {write.object}: as we want it; {who}"),
    )
    async with open_scope(arguments) as scope:
        observer = Observer(scope.cluster, scope.apis, scope.settings, time, scope.namespace)
        report = await Shadow(observer, time, listener).run(arguments.seconds, begin)
    if arguments.output == "text":
        show(*write_shadow(report, lambda text, style: paint(text, style, sys.stdout)))
    else:
        print(write_value(report, arguments.output))
    return Exit.BLOCKED if report.stayed or report.faults else Exit.DONE


SHADOW = Command(_make_parser, _run)
