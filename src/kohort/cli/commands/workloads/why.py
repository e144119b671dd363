"""
This is where ``kohort why`` answers what a workload waits for.

It exits with 4 if the workload needs help, so that a script can ask too.
"""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit
from kohort.cli.parsing import Parser
from kohort.cli.styles import paint
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.asking import add_form, add_place, add_target, read_target

if TYPE_CHECKING:
    from kohort.cli.workloads.source import Source
    from kohort.cluster.objects import Object
    from kohort.views.picture import Picture


def _make_parser(prog: str) -> Parser:
    summary = "say what a workload waits for, on what, since when, and what you can do"
    parser = Parser(prog, summary, ("lws/llama", "lws llama -n prod", "lws/llama -o json"))
    add_target(parser)
    add_place(parser)
    add_form(parser, "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    return asyncio.run(_answer(arguments))


async def _answer(arguments: argparse.Namespace) -> int:
    from kohort.cli.render.explanations import write_explanation
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.cli.workloads.surveying import gather_evidence
    from kohort.views.explain import explain
    from kohort.views.topology.gangs import explain_gangs

    async with open_source(arguments, read_target(arguments.target)) as source:
        picture = await source.read_one()
        gangs = explain_gangs(picture, await gather_evidence(source.cluster, picture))
        told = explain(picture, await read_events(source, picture), gangs)
    if arguments.output == "text":
        lines = write_explanation(
            told, picture.now, lambda text, style: paint(text, style, sys.stdout)
        )
        show(*lines)
    else:
        print(write_value(told, arguments.output))
    return Exit.BLOCKED if told.row.health.word.needs_help else Exit.DONE


async def read_events(source: "Source", picture: "Picture") -> "list[Object]":
    """The events of a workload and of the members that hold it up."""
    import orjson

    from kohort.cli.workloads.facts import EVENT
    from kohort.cluster.errors import ClusterError
    from kohort.cluster.objects import uid_of
    from kohort.cluster.port import Selection
    from kohort.views.explain import find_culprits

    # By uid, not by name: an earlier object of that name has nothing to do with this one.
    about = [uid_of(picture.root), *(culprit.uid for culprit in find_culprits(picture))]
    found: list[Object] = []
    for uid in filter(None, dict.fromkeys(about)):
        selection = Selection(EVENT, picture.namespace, fields=f"involvedObject.uid={uid}")
        try:
            listing = await source.cluster.list(selection)
        except ClusterError:
            # Events are evidence, not the answer: who may not read them still gets one.
            return found
        found.extend(orjson.loads(raw) for raw in listing.items)
    return found


WHY = Command(_make_parser, _run)
