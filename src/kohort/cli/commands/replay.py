"""
This is where ``kohort replay`` plans the entries of a journal again, without a cluster.

It exits with 4 if this version decides otherwise than the one that wrote the journal, so that a
recorded incident can stand in a script.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser, add_output
from kohort.cli.table import Command
from kohort.cli.terminal import show

if TYPE_CHECKING:
    from kohort.views.replays import ReplayStep, SeenGroups


def _make_parser(prog: str) -> Parser:
    summary = "show what the operator saw and decided, step by step, and plan each step again"
    parser = Parser(prog, summary, ("incident.jsonl", "incident.jsonl --step", "- -o json < x"))
    add = parser.add_argument
    add("file", metavar="FILE", help="written by 'kohort record'; - reads standard input")
    add("--step", action="store_true", help="wait for the enter key after each step; q ends it")
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    from kohort.journal.entries import UnreadableJournal, read_file
    from kohort.journal.replay import replay
    from kohort.views.replays import list_steps

    try:
        entries = read_file(_read(arguments.file))
    except UnreadableJournal as error:
        raise Failure(f"{arguments.file}: {error}") from error
    steps = list_steps(replay(entries))
    if arguments.output == "json":
        from kohort.cli.render.values import write_value

        print(write_value(steps, "json"))
    else:
        _print(steps, arguments.step and arguments.file != "-")
    differs = any(step.added or step.dropped for step in steps)
    return Exit.BLOCKED if differs else Exit.DONE


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise Failure(f"cannot read {name}: {error.strerror}") from error


def _print(steps: "list[ReplayStep]", is_stepwise: bool) -> None:
    for step in steps:
        show(*write_step(step))
        is_last = step.number == len(steps)
        if is_stepwise and not is_last and _wait_for_key() == "q":
            return
    changed = sum(bool(step.added or step.dropped) for step in steps)
    end = f"; this version decides otherwise in {changed}" if changed else ""
    show(f"{len(steps)} steps{end}", file=sys.stderr)


def _wait_for_key() -> str:
    print("enter: next step, q: end ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else "q"


def write_step(step: "ReplayStep") -> list[str]:
    """The lines of one step."""
    head = f"{step.number:>4}  {step.at}  {step.kind} {step.name}"
    lines = [f"{head}   {_write_counts(step)}"]
    lines += [f"        saw      {_write_seen(seen, step)}" for seen in step.seen]
    lines += [f"        decided  {text}" for text in step.decisions] or ["        decided  nothing"]
    lines += [f"        did      {text}" for text in step.actions]
    lines += [f"      + now      {text}" for text in step.added]
    lines += [f"      - not now  {text}" for text in step.dropped]
    return lines


def _write_counts(step: "ReplayStep") -> str:
    if step.is_one_group:
        return f"{'' if step.ready else 'not '}ready, {'' if step.updated else 'not '}updated"
    return f"groups {step.ready}/{step.wanted} ready, {step.updated} updated, {step.groups} exist"


def _write_seen(seen: "SeenGroups", step: "ReplayStep") -> str:
    is_one = seen.first == seen.last
    which = f"group {seen.first} " if is_one else f"groups {seen.first}-{seen.last} "
    which = "" if step.is_one_group else which
    revision = f"revision {seen.revision}" if seen.revision else "several revisions"
    is_old = " (old)" if seen.revision and not seen.is_target else ""
    each = "" if is_one else " each"
    members = f"{seen.members_ready}/{seen.members} members{each} ready"
    roles = "".join(f", {r.role} {r.ready}/{r.wanted} ready" for r in seen.roles)
    return f"{which}{seen.phase.value}, {revision}{is_old}, {members}{roles}"


REPLAY = Command(_make_parser, _run)
