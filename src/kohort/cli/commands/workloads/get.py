"""
This is where ``kohort get`` shows workloads: a table of all, a tree of one.

With ``-w`` a terminal is drawn anew, without a flicker; anything else gets one
line for each change.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, UsageError, until_interrupted
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import control, join_lines, paint, show
from kohort.cli.workloads.arguments import add_form, add_place, read_pod_name, read_wanted

if TYPE_CHECKING:
    from kohort.cli.workloads.arguments import Wanted
    from kohort.views.picture import Picture

_EXAMPLES = (
    "",
    "lws/llama",
    "lws/llama -w",
    "lws/llama --topology",
    "-A --blocked",
    "lws -l team=chat -o wide",
    "pod/llama-0-1 --up",
)
_REDRAW = control("\x1b[H\x1b[J")


def _make_parser(prog: str) -> Parser:
    summary = "show workloads of all kinds in one table, or one of them as a tree"
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add("target", nargs="*", metavar="KIND[/NAME]", help="(default: all kinds)")
    add("-w", "--watch", action="store_true", help="stay, and show what changes")
    add("-l", "--selector", default="", metavar="LABELS", help="only those with these labels")
    add(
        "--topology",
        action="store_true",
        help="of one workload: the domain of each pod, and how far apart pods are",
    )
    add("--up", action="store_true", help="of pod/NAME: to which group and workload it belongs")
    add("--blocked", action="store_true", help="only those that need help, longest first")
    add_place(parser, everywhere=True)
    add_form(parser, "wide", "json", "yaml", "name")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    pod = read_pod_name(arguments.target) if arguments.target else ""
    if arguments.up != bool(pod):
        raise UsageError("--up is about one pod: kohort get pod/NAME --up")
    if arguments.up:
        return run_command(_show_lineage(arguments, pod))
    wanted = read_wanted(arguments.target, arguments.selector)
    if wanted.name and arguments.all_namespaces:
        raise UsageError("a name needs one namespace: leave -A out")
    if arguments.topology:
        return run_command(_show_topology(arguments, _check_topology(arguments, wanted)))
    if arguments.watch and arguments.output in ("json", "yaml", "name"):
        raise UsageError(f"-w shows text: leave '-o {arguments.output}' out")
    if not arguments.watch:
        return run_command(_show(arguments, wanted))
    return until_interrupted(lambda: run_command(_follow(arguments, wanted)))


def _check_topology(arguments: argparse.Namespace, wanted: "Wanted") -> "Wanted":
    if not wanted.name:
        raise UsageError("--topology is about one workload: name it as KIND/NAME")
    if arguments.watch or arguments.blocked or arguments.output in ("name", "wide"):
        raise UsageError("--topology goes with -o json or -o yaml alone")
    return wanted


async def _show_topology(arguments: argparse.Namespace, wanted: "Wanted") -> int:
    from kohort.cli.render.topologies import write_spread
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.surveys import survey
    from kohort.views.topology.spread import make_spread

    async with open_source(arguments, wanted) as source:
        picture = await source.read_one()
        spread = make_spread(picture, (await survey(source.cluster)).draw())
    if arguments.output == "text":
        lines = write_spread(
            spread, picture.now, lambda text, style: paint(text, style, sys.stdout)
        )
        show(*lines)
    else:
        print(write_value(spread, arguments.output))
    return Exit.DONE


async def _show_lineage(arguments: argparse.Namespace, name: str) -> int:
    from kohort.cli.render.trees import write_lineage
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source

    if arguments.watch or arguments.blocked or arguments.output in ("name", "wide"):
        raise UsageError("--up goes with -o json or -o yaml alone")
    async with open_source(arguments, read_wanted([])) as source:
        lineage = await source.read_lineage(name)
    if arguments.output == "text":
        show(*write_lineage(lineage, lambda text, style: paint(text, style, sys.stdout)))
    else:
        print(write_value(lineage, arguments.output))
    return Exit.DONE


async def _show(arguments: argparse.Namespace, wanted: "Wanted") -> int:
    from kohort.cli.workloads.source import open_source

    async with open_source(arguments, wanted) as source:
        pictures = [await source.read_one()] if wanted.name else await source.read()
        where = f"in namespace {source.namespace}" if source.namespace else "in any namespace"
    empty = _describe_empty(arguments, wanted, pictures, where)
    if empty and arguments.output in ("text", "wide", "name"):
        print(empty, file=sys.stderr)
        return Exit.DONE
    print(_write(arguments, wanted, pictures))
    return Exit.DONE


def _describe_empty(
    arguments: argparse.Namespace, wanted: "Wanted", pictures: "Sequence[Picture]", where: str
) -> str:
    """Why there is nothing to show; nothing if there is something."""
    from kohort.views.table import make_table, select_blocked

    if not pictures:
        return f"no workloads found {where}"
    if wanted.name or not arguments.blocked or select_blocked(make_table(pictures)):
        return ""
    return f"nothing is blocked {where}"


async def _follow(arguments: argparse.Namespace, wanted: "Wanted") -> int:
    from kohort.cli.workloads.source import open_source

    is_screen = sys.stdout.isatty()
    printer = _LinePrinter(arguments)
    async with open_source(arguments, wanted) as source, aclosing(source.follow()) as looks:
        async for pictures in looks:
            if wanted.name and not pictures:
                await source.read_one()
            if is_screen:
                print(f"{_REDRAW}{_write(arguments, wanted, pictures)}", flush=True)
            else:
                printer.print(pictures)
    return Exit.DONE


class _LinePrinter:
    """Prints the rows that changed, one line each."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._namespaces = bool(arguments.all_namespaces)
        self._blocked = bool(arguments.blocked)
        self._told: dict[tuple[str, str, str], str] = {}

    def print(self, pictures: "Sequence[Picture]") -> None:
        """Print the rows that differ from those printed last."""
        from kohort.cli.render.tables import write_change
        from kohort.views.table import make_table, select_blocked

        rows = make_table(pictures)
        lines = {
            (row.kind, row.namespace, row.name): write_change(row, namespaces=self._namespaces)
            for row in rows
        }
        shown = select_blocked(rows) if self._blocked else rows
        seen = [(row.kind, row.namespace, row.name) for row in shown]
        for key in seen:
            if self._told.get(key) != lines[key]:
                self._told[key] = lines[key]
                show(lines[key])
        for key in sorted(self._told.keys() - set(seen)):
            del self._told[key]
            # A workload that needs no more help is printed once more, as it is now.
            show(lines.get(key) or self._write_end(*key))

    def _write_end(self, kind: str, namespace: str, name: str) -> str:
        return f"{kind}/{namespace}/{name}   gone" if self._namespaces else f"{kind}/{name}   gone"


def _write(arguments: argparse.Namespace, wanted: "Wanted", pictures: "Sequence[Picture]") -> str:
    from kohort.cli.render.tables import write_table
    from kohort.cli.render.values import write_value
    from kohort.views.table import make_table, select_blocked

    form = arguments.output
    rows = make_table(pictures)
    rows = select_blocked(rows) if arguments.blocked else rows
    if form == "name":
        return join_lines(f"{row.resource}/{row.name}" for row in rows)
    if wanted.name:
        return _write_tree(pictures[0], form)
    if form in ("json", "yaml"):
        return write_value(rows, form)
    from datetime import UTC, datetime

    now = pictures[0].now if pictures else datetime.now(UTC)
    lines = write_table(rows, now, namespaces=arguments.all_namespaces, wide=form == "wide")
    return join_lines(lines)


def _write_tree(picture: "Picture", form: str) -> str:
    from kohort.cli.render.trees import write_tree
    from kohort.cli.render.values import write_value
    from kohort.views.explain import suggest_commands
    from kohort.views.health import judge
    from kohort.views.tree import make_tree

    commands = suggest_commands(picture, judge(picture))
    tree = make_tree(picture, commands, unfold=form != "text")
    if form in ("json", "yaml"):
        return write_value(tree, form)
    lines = write_tree(tree, picture.now, lambda text, style: paint(text, style, sys.stdout))
    return join_lines(lines)


GET = Command(_make_parser, _run)
