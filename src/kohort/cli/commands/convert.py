"""
This is where ``kohort convert`` turns LeaderWorkerSets into ModelServings, and back.

Objects go to stdout and the report to stderr, so that a pipe gets objects alone. If something
is lost that matters, no object is printed before the user says that it may be. An input is a file,
or a workload of a cluster as other commands name it; a file of that name goes first.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kohort.apis.bridges.conversion_report import ReportLine
from kohort.apis.bridges.conversions import TARGETS, Conversion, convert_documents
from kohort.cli.documents import add_form, write_documents
from kohort.cli.exits import Exit, UsageError
from kohort.cli.input_files import STDIN, read_objects
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import RED, YELLOW, paint, show
from kohort.cli.workloads.arguments import add_place, is_live, read_target
from kohort.cli.workloads.source import open_source
from kohort.cluster.names import check_dns_1035
from kohort.cluster.objects import Object

ROLE_NAME_MAX = 12
_EXAMPLES = (
    "lws.yaml > ms.yaml",
    "lws.yaml --rewrite-selectors | kubectl apply -f -",
    "--allow-lossy -o json - < lws.yaml",
    "--to lws --role decode ms.yaml",
    "-n ml lws/llama > ms.yaml",
)


def _make_parser(prog: str) -> Parser:
    summary = (
        "convert LeaderWorkerSets to ModelServings, or back, and say of each field what became "
        "of it; other objects pass unchanged"
    )
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add(
        "files",
        nargs="+",
        metavar="FILE|KIND/NAME",
        help="YAML or JSON; - reads standard input; a workload of the cluster, such as lws/llama",
    )
    add("--to", choices=TARGETS, default=TARGETS[0], help="the kind to convert to (default: ms)")
    add(
        "--role",
        default="default",
        metavar="NAME",
        help="the role that a group becomes, or with --to lws the one that becomes a group "
        "(default: default)",
    )
    add("--allow-lossy", action="store_true", help="print objects even if something is lost")
    add(
        "--rewrite-selectors",
        action="store_true",
        help="let Services, PodDisruptionBudgets and autoscalers in the input point to the new "
        "objects",
    )
    add_form(parser)
    add_place(parser)
    return parser


def _read_inputs(arguments: argparse.Namespace) -> Iterator[Object]:
    for name in arguments.files:
        if name != STDIN and not Path(name).exists() and _names_workload(name):
            yield run_command(_read_live(arguments, name))
        else:
            yield from read_objects(name)


def _names_workload(name: str) -> bool:
    """Whether an argument is KIND/NAME and not a file; an error then speaks of the kind."""
    kind, slash, rest = name.partition("/")
    looks_like = kind.isalnum() and rest and not {"/", "."} & {*rest} and not Path(kind).exists()
    return is_live(name) or bool(slash and looks_like)


async def _read_live(arguments: argparse.Namespace, name: str) -> Object:
    """A workload of the cluster that the command line names."""
    async with open_source(arguments, read_target([name])) as source:
        return await source.read_root()


def _run(arguments: argparse.Namespace) -> int:
    role = _read_role(arguments.role)
    documents = list(_read_inputs(arguments))
    done = convert_documents(
        documents, arguments.to, role, rewrites_selectors=arguments.rewrite_selectors
    )
    is_refused = any(line.matters for line in done.lines) and not arguments.allow_lossy
    _print_outcome(done, arguments.output, is_refused)
    if not done.count:
        show(f"note: there is nothing to convert to {arguments.to} in the input", file=sys.stderr)
    if not is_refused:
        return Exit.DONE
    sentence = "something that matters is lost, so nothing is printed; --allow-lossy prints it"
    show(f"{paint('error:', RED, sys.stderr)} {sentence}", file=sys.stderr)
    return Exit.BLOCKED


def _print_outcome(done: Conversion, form: str, is_refused: bool) -> None:
    objects: Sequence[Object] = () if is_refused else done.objects
    if form == "json":
        report = [_describe(line) for line in done.lines]
        print(json.dumps({"report": report, "objects": list(objects)}, indent=2))
        return
    if objects:
        print(write_documents(objects, form))
    if done.lines:
        show(*(_paint(line) for line in done.lines), file=sys.stderr)


def _describe(line: ReportLine) -> dict[str, Any]:
    words = asdict(line)
    return {"object": words.pop("subject"), **words}


def _paint(line: ReportLine) -> str:
    text = str(line)
    if line.level == "exact":
        return text
    return paint(text, RED if line.matters else YELLOW, sys.stderr)


def _read_role(name: str) -> str:
    faults = check_dns_1035(name)
    if faults or len(name) > ROLE_NAME_MAX:
        why = faults[0] if faults else f"it has more than {ROLE_NAME_MAX} characters"
        raise UsageError(f"{name!r} cannot be the name of a role: {why}")
    return name


CONVERT = Command(_make_parser, _run)
