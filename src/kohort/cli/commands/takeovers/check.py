"""
This is where ``kohort takeover check`` says what Kohort would change if it ran here.

It exits with 4 if something would change, so that a script can ask too.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from kohort.cli.commands.takeovers.arguments import add_operator, open_scope
from kohort.cli.exits import Exit
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import paint, show
from kohort.cli.workloads.arguments import add_form, add_place

if TYPE_CHECKING:
    from kohort.takeover.report import Report


def _make_parser(prog: str) -> Parser:
    summary = (
        "read live objects, plan them as our operator would, and list what would change; "
        "nothing is written"
    )
    examples = ("-A", "-n team-b", "-A --apis lws,ms,rbg,isvc", "-A -o json")
    parser = Parser(prog, summary, examples)
    add_place(parser, everywhere=True)
    add_operator(parser)
    add_form(parser, "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    return run_command(_check(arguments))


async def _check(arguments: argparse.Namespace) -> int:
    from kohort.controller.clock import LoopTime
    from kohort.takeover.check import check

    async with open_scope(arguments) as scope:
        report = await check(scope.cluster, scope.apis, scope.settings, LoopTime(), scope.namespace)
    print_report(report, arguments.output)
    return Exit.DONE if report.is_empty else Exit.BLOCKED


def print_report(report: "Report", form: str) -> None:
    """Print a report, for people or for programs."""
    from kohort.cli.render.takeovers import write_report
    from kohort.cli.render.values import write_value

    if form == "text":
        show(*write_report(report, lambda text, style: paint(text, style, sys.stdout)))
    else:
        print(write_value(report, form))


CHECK = Command(_make_parser, _run)
