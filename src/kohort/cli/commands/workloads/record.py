"""
This is where ``kohort record`` fetches the journal of a running operator and writes it to a file.

The operator is asked through the API server of an embedded cluster, or at its own address.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser, suggest
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import Wanted, add_place, read_wanted

if TYPE_CHECKING:
    from kohort.cluster.objects import Object

_EXAMPLES = (
    "lws/llama -o incident.jsonl",
    "-A -o all.jsonl",
    "lws/llama -o incident.jsonl --address http://127.0.0.1:8080",
)


def _make_parser(prog: str) -> Parser:
    summary = (
        "write to a file what the operator saw and decided of late; 'kohort replay' plans it again "
        "on any machine"
    )
    parser = Parser(prog, summary, _EXAMPLES)
    add = parser.add_argument
    add("target", nargs="*", metavar="KIND/NAME", help="one workload (default: all)")
    add("-o", "--output", metavar="FILE", default="-", help="where to (default: -, the terminal)")
    add(
        "--address",
        metavar="URL",
        help="where the operator serves its metrics; a cluster of 'kohort up' needs none",
    )
    add("--token", metavar="TOKEN", default="", help="for that address")
    add_place(parser, everywhere=True)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    wanted = read_wanted(arguments.target)
    page = run_command(_fetch(arguments))
    entries = [entry for entry in page["entries"] if _is_wanted(entry, wanted, arguments)]
    if not entries:
        what = "/".join(arguments.target) or "any workload"
        known = [e["workload"]["name"] for e in page["entries"] if _is_near(e, wanted, arguments)]
        raise Failure(
            f"the operator's journal has nothing about {what}{suggest(wanted.name, known)}: it "
            "keeps the last changes since the operator was started; name another workload or "
            "namespace, or use -A"
        )
    from kohort.journal.entries import write_file

    raw = write_file(entries, str(page.get("version", "")))
    if arguments.output == "-":
        sys.stdout.buffer.write(raw)
        return Exit.DONE
    try:
        Path(arguments.output).write_bytes(raw)
    except OSError as error:
        raise Failure(f"cannot write {arguments.output}: {error.strerror}") from error
    show(
        f"{len(entries)} entries in {arguments.output}; see them with "
        f"'kohort replay {arguments.output}'",
        file=sys.stderr,
    )
    return Exit.DONE


async def _fetch(arguments: argparse.Namespace) -> "Object":
    from kohort.cli.workloads.source import open_source
    from kohort.operator_journal import (
        FORWARD,
        FORWARDED,
        PAGE,
        JournalElsewhere,
        OperatorAddress,
        ask_operator,
        fetch_journal,
    )

    if arguments.address:
        return await ask_operator(OperatorAddress(arguments.address, arguments.token))
    async with open_source(arguments, read_wanted([])) as source:
        if not arguments.namespace:
            arguments.namespace = source.namespace
        try:
            return await fetch_journal(source.cluster)
        except JournalElsewhere as error:
            raise Failure(
                f"{error}: run '{FORWARD}' and add --address {FORWARDED} and --token with the "
                f"token of an account that may get the non-resource URL {PAGE}"
            ) from None


def _is_wanted(entry: "Object", wanted: Wanted, arguments: argparse.Namespace) -> bool:
    is_named = wanted.name in ("", entry["workload"]["name"])
    return is_named and _is_near(entry, wanted, arguments)


def _is_near(entry: "Object", wanted: Wanted, arguments: argparse.Namespace) -> bool:
    """Whether an entry is of the kind and the namespace that are wanted."""
    is_here = arguments.all_namespaces or not arguments.namespace
    return (is_here or entry["workload"]["namespace"] == arguments.namespace) and (
        entry["kind"] in {api.kind.name for api in wanted.apis}
    )


RECORD = Command(_make_parser, _run)
