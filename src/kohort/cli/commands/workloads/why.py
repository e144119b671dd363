"""
This is where ``kohort why`` answers what a workload waits for.

It exits with 4 if the workload needs help, so that a script can ask too.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit
from kohort.cli.parser import Parser
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import paint, show
from kohort.cli.workloads.arguments import (
    add_form,
    add_place,
    add_target,
    read_pod_name,
    read_target,
    read_wanted,
)

if TYPE_CHECKING:
    from kohort.cli.workloads.source import Source
    from kohort.cluster.objects import Object
    from kohort.views.picture import Picture


def _make_parser(prog: str) -> Parser:
    summary = "say what a workload or a pod waits for, on what, since when, and what you can do"
    examples = ("lws/llama", "lws llama -n prod", "lws/llama -o json", "pod/llama-0-1")
    parser = Parser(prog, summary, examples)
    add_target(parser)
    add_place(parser)
    add_form(parser, "json", "yaml")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    pod = read_pod_name(arguments.target)
    return run_command(_answer_pod(arguments, pod) if pod else _answer(arguments))


async def _answer_pod(arguments: argparse.Namespace, name: str) -> int:
    from kohort.cli.render.explanations import write_pod_explanation
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.views.members import explain_pod

    async with open_source(arguments, read_wanted([])) as source:
        pod, picture, place = await source.read_pod(name)
        events = await list_events(source, picture.namespace, [pod["metadata"]["uid"]])
        told = explain_pod(picture, pod, place, events)
    if arguments.output == "text":
        lines = write_pod_explanation(
            told, picture.now, lambda text, style: paint(text, style, sys.stdout)
        )
        show(*lines)
    else:
        print(write_value(told, arguments.output))
    return Exit.BLOCKED if told.needs_help else Exit.DONE


async def _answer(arguments: argparse.Namespace) -> int:
    from kohort.cli.render.explanations import write_explanation
    from kohort.cli.render.values import write_value
    from kohort.cli.workloads.source import open_source
    from kohort.surveys import gather_evidence
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
    from kohort.cluster.objects import uid_of
    from kohort.views.explain import find_culprits

    # By uid, not by name: an earlier object of that name has nothing to do with this one.
    about = [uid_of(picture.root), *(culprit.uid for culprit in find_culprits(picture))]
    return await list_events(source, picture.namespace, about)


async def list_events(source: "Source", namespace: str, uids: "list[str]") -> "list[Object]":
    """The events of objects."""
    import orjson

    from kohort.cluster.errors import ClusterError
    from kohort.cluster.kinds import EVENT
    from kohort.cluster.port import Selection

    found: list[Object] = []
    for uid in filter(None, dict.fromkeys(uids)):
        selection = Selection(EVENT, namespace, fields=f"involvedObject.uid={uid}")
        try:
            listing = await source.cluster.list(selection)
        except ClusterError:
            # Events are evidence, not the answer: a user who may not read them still gets one.
            return found
        found.extend(orjson.loads(raw) for raw in listing.items)
    return found


WHY = Command(_make_parser, _run)
