"""This is where ``kohort rollout history`` lists revisions, and the fields that changed in each."""

import argparse

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import add_revision_flags, expect_role, read_target


def _make_parser(prog: str) -> Parser:
    summary = "list the revisions of a workload, and what changed from one to the next"
    examples = ("lws/llama", "lws/llama --revision 3", "ms/llama --role decode -o json")
    parser = Parser(prog, summary, examples)
    add_revision_flags(
        parser,
        role="tell what changed in this role only",
        revision="all that changed with this one, and its template",
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    return run_command(_list(arguments))


async def _list(arguments: argparse.Namespace) -> int:
    from kohort.cli.render.explanations import write_history
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.views.plain import to_plain
    from kohort.views.rollouts import choose_content, find_former, make_history

    async with open_source(arguments, read_target(arguments.target)) as source:
        picture = await source.read_one()
    if arguments.role:
        expect_role(picture, arguments.role)
    history = make_history(picture, arguments.role)
    if arguments.revision is not None:
        history = tuple(line for line in history if line.number == arguments.revision)
        if not history:
            raise Failure(f"{picture.reference} has no revision {arguments.revision}")
    revision = find_former(picture, arguments.revision) if arguments.revision is not None else None
    content = choose_content(revision.content, arguments.role) if revision else {}
    if arguments.output != "text":
        # One revision is printed with its template, in a list of one.
        shown = [{**to_plain(history[0]), "template": content}] if revision else history
        print(write_value(shown, arguments.output))
        return Exit.DONE
    show(*write_history(history, picture.now))
    if revision is not None:
        show(*(f"  {change}" for change in history[0].changes))
        print(f"\n{write_value(content, 'yaml')}")
    return Exit.DONE


HISTORY = Command(_make_parser, _run)
