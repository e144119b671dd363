"""This is where ``kohort rollout history`` lists revisions and tells what changed between them."""

import argparse
import asyncio

from kohort.cli.exits import Exit, Failure
from kohort.cli.parser import Parser, whole
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.arguments import (
    add_form,
    add_place,
    add_role,
    add_target,
    expect_role,
    read_target,
)


def _make_parser(prog: str) -> Parser:
    summary = "list the revisions of a workload, and what changed from one to the next"
    examples = ("lws/llama", "lws/llama --revision 3", "ms/llama --role decode -o json")
    parser = Parser(prog, summary, examples)
    add_target(parser)
    add_role(parser, "tell what changed in this role only")
    parser.add_argument(
        "--revision",
        type=whole(1, 2**31),
        metavar="N",
        help="all that changed with this one, and its template",
    )
    add_place(parser)
    add_form(parser, "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    return asyncio.run(_list(arguments))


async def _list(arguments: argparse.Namespace) -> int:
    from kohort.cli.render.explanations import write_history
    from kohort.cli.render.values import to_plain, write_value
    from kohort.cli.workloads.source import open_source
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
        # One revision is shown whole, as the list of one that it is.
        shown = [{**to_plain(history[0]), "template": content}] if revision else history
        print(write_value(shown, arguments.output))
        return Exit.DONE
    show(*write_history(history, picture.now))
    if revision is not None:
        show(*(f"  {change}" for change in history[0].changes))
        print(f"\n{write_value(content, 'yaml')}")
    return Exit.DONE


HISTORY = Command(_make_parser, _run)
