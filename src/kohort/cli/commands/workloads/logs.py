"""
This is where ``kohort logs`` shows the logs of all members of a workload, the leader first.

Each line begins with its member. Lines go to stdout, logs that cannot be read to stderr. With
``-f`` it stays while groups are made anew, and takes up their new pods. A group that was
restarted has new pods: the logs of the former ones are gone with them, and that is said. A log
that cannot be followed ends the command with the reason; one that breaks off is resumed.
"""

import argparse
import asyncio
import sys
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure, until_interrupted
from kohort.cli.parser import Parser, whole
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import paint, show
from kohort.cli.workloads.arguments import add_place, add_target, read_target

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from kohort.cli.workloads.source import Source
    from kohort.cluster.http import HttpCluster
    from kohort.cluster.objects import Object
    from kohort.cluster.port import Address
    from kohort.model import observed
    from kohort.views.lineage import MemberPlace
    from kohort.views.picture import Picture

_STYLES = ("36", "35", "34", "32", "33", "96", "95", "94")
_LINES_MAX = 2**31 - 1
_SIMULATED = "note: the pods of this cluster are simulated, and so is what they wrote"


def _make_parser(prog: str) -> Parser:
    summary = "show what all members of a workload wrote, the leader of each group first"
    examples = (
        "lws/llama",
        "lws/llama --group 3 -f",
        "rbg/chat --role decode --tail 20",
        "lws/llama --group 5 --previous",
    )
    from kohort.cli.workloads.arguments import add_members

    parser = Parser(prog, summary, examples)
    add_target(parser)
    add_members(parser)
    add = parser.add_argument
    add("-c", "--container", default="", metavar="NAME", help="(default: the first of each pod)")
    add("-f", "--follow", action="store_true", help="stay, and show what is written")
    add("-p", "--previous", action="store_true", help="of containers before their last restart")
    add("--tail", type=whole(0, _LINES_MAX), metavar="N", help="only the last lines of each")
    add("--timestamps", action="store_true", help="with the moment of each line")
    add_place(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    read_target(arguments.target)
    if arguments.follow and arguments.previous:
        from kohort.cli.exits import UsageError

        raise UsageError("a former container writes no more: leave -f or --previous out")
    work = partial(run_command, _show(arguments))
    return until_interrupted(work) if arguments.follow else work()


async def _show(arguments: argparse.Namespace) -> int:
    from kohort.cli.workloads.arguments import choose_places
    from kohort.cli.workloads.descendants import is_simulated
    from kohort.cli.workloads.source import open_source

    async with open_source(arguments, read_target(arguments.target)) as source:
        picture = await source.read_one()
        places = choose_places(picture, arguments)
        if await is_simulated(source.cluster):
            show(_SIMULATED, file=sys.stderr)
        printer = _Printer(source.cluster, arguments)
        if arguments.follow:
            await _follow(source, arguments, printer)
            return Exit.DONE
        shown = [await printer.print(place) for place in places]
        if arguments.previous:
            _describe_gone(picture, places)
            if not any(shown):
                raise Failure(f"no container of {picture.reference} has run before")
    return Exit.DONE


def _describe_gone(picture: "Picture", places: "tuple[MemberPlace, ...]") -> None:
    """Say which pods that failed are gone: their group was made anew since."""
    observed = picture.reading.observed if picture.reading else None
    held = {place.name: place.uid for place in places}
    for failure in (*observed.failures, *_list_role_failures(picture)) if observed else ():
        name = failure.crash.member
        if name in held:
            show(
                f"note: {failure.crash}; that pod is gone with its group, and its logs with it: "
                "the one of that name is its successor",
                file=sys.stderr,
            )


def _list_role_failures(picture: "Picture") -> "Iterator[observed.Failure]":
    assert picture.reading is not None
    for failures in picture.reading.observed.role_failures.values():
        yield from failures


async def _follow(source: "Source", arguments: argparse.Namespace, printer: "_Printer") -> None:
    """Follow every member, those too that come later, until the user interrupts."""
    from kohort.cli.workloads.arguments import choose_places

    followed: dict[str, asyncio.Task[None]] = {}
    try:
        async with aclosing(source.follow()) as looks:
            async for pictures in looks:
                for task in followed.values():
                    if task.done():
                        task.result()
                if not pictures:
                    await source.read_one()
                    continue  # The pod was made anew meanwhile; the next listing has it.
                try:
                    places = choose_places(pictures[0], arguments)
                except Failure:
                    continue  # Its pods are being made anew.
                for place in places:
                    run = f"{place.uid}/{_count_runs(place, arguments.container)}"
                    if run not in followed and _has_run(place, arguments.container):
                        followed[run] = asyncio.create_task(printer.follow(place))
    finally:
        for task in followed.values():
            task.cancel()
        await asyncio.gather(*followed.values(), return_exceptions=True)


def _find_status(place: "MemberPlace", wanted: str) -> "Object":
    from kohort.cli.workloads.arguments import choose_container
    from kohort.cli.workloads.log_streams import find_container_status

    return find_container_status(place.pod, choose_container(place.pod, wanted))


def _count_runs(place: "MemberPlace", wanted: str) -> int:
    return int(_find_status(place, wanted).get("restartCount") or 0)


def _has_run(place: "MemberPlace", wanted: str) -> bool:
    state = _find_status(place, wanted).get("state")
    return isinstance(state, dict) and ("running" in state or "terminated" in state)


class _Printer:
    """Prints logs of members, each in a colour of its own."""

    def __init__(self, cluster: "HttpCluster", arguments: argparse.Namespace) -> None:
        self._cluster = cluster
        self._arguments = arguments
        self._styles: dict[str, str] = {}

    async def print(self, place: "MemberPlace") -> bool:
        """Print what one member wrote; false if there is nothing to show."""
        from kohort.cli.workloads.log_streams import read_lines
        from kohort.cluster.errors import BadRequest, NotFound

        lines = read_lines(self._cluster, _find_address(place), self._ask(place))
        try:
            await self._print(place, lines)
        except NotFound:
            show(f"note: {place.name} is gone, and its logs with it", file=sys.stderr)
            return False
        except BadRequest as error:
            show(f"note: {place.name}: {error}", file=sys.stderr)
            return False
        return True

    async def follow(self, place: "MemberPlace") -> None:
        """Print what one member writes, to the end of its container."""
        from kohort.cli.workloads.log_streams import Container, FollowedLog

        query = self._ask(place)
        restarts = _count_runs(place, self._arguments.container)
        container = Container(_find_address(place), place.uid, query["container"], restarts)
        log = FollowedLog(self._cluster, container, query, lambda text: show(text, file=sys.stderr))
        await self._print(place, log.read())

    async def _print(self, place: "MemberPlace", lines: "AsyncGenerator[str, None]") -> None:
        style = self._styles.setdefault(place.name, _STYLES[len(self._styles) % len(_STYLES)])
        head = paint(f"[{place.name}]", style, sys.stdout)
        async with aclosing(lines):
            async for line in lines:
                # Engines write tables: a tab stays, unlike other control characters.
                print(f"{head} {line}", flush=True)

    def _ask(self, place: "MemberPlace") -> dict[str, str]:
        from kohort.cli.workloads.arguments import choose_container

        wanted = self._arguments
        query = {"container": choose_container(place.pod, wanted.container)}
        query |= {flag: "true" for flag in ("previous", "timestamps") if getattr(wanted, flag)}
        if wanted.tail is not None:
            query["tailLines"] = str(wanted.tail)
        return query


def _find_address(place: "MemberPlace") -> "Address":
    from kohort.cluster.kinds import POD
    from kohort.cluster.objects import namespace_of
    from kohort.cluster.port import Address

    return Address(POD, namespace_of(place.pod), place.name)


LOGS = Command(_make_parser, _run)
