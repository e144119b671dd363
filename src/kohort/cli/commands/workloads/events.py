"""
This is where ``kohort events`` shows the events of a workload and of all its descendants.

With ``-w`` it stays, and lists descendants again when an event names an object that it does not
know: groups that are made anew have new pods. A watch that breaks is resumed; where the API server
no longer has the events in between, all are listed, and the new ones are shown.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, until_interrupted
from kohort.cli.parser import Parser, add_output
from kohort.cli.processes.signals import run_command
from kohort.cli.table import Command
from kohort.cli.terminal import YELLOW, paint, show
from kohort.cli.workloads.arguments import add_place, add_target, read_target
from kohort.cluster.objects import uid_of

if TYPE_CHECKING:
    from kohort.cli.workloads.source import Source
    from kohort.cluster.objects import Object
    from kohort.cluster.port import Selection
    from kohort.views.event_lines import ReportedEvent
    from kohort.views.picture import Picture

_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds between watches that bring nothing
_HEAD = ("AGE", "TYPE", "OBJECT", "REASON", "BY", "MESSAGE")


def _make_parser(prog: str) -> Parser:
    summary = "show the events of a workload and of all objects that it has, by time"
    examples = ("lws/llama", "lws/llama -w", "rbg/chat -n prod --warnings", "lws/llama -o json")
    parser = Parser(prog, summary, examples)
    add_target(parser)
    parser.add_argument("-w", "--watch", action="store_true", help="stay, and show what comes")
    parser.add_argument("--warnings", action="store_true", help="only events of type Warning")
    add_place(parser)
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    read_target(arguments.target)
    work = partial(run_command, _show(arguments))
    return until_interrupted(work) if arguments.watch else work()


async def _show(arguments: argparse.Namespace) -> int:
    from kohort.cli.workloads.source import open_source
    from kohort.views.event_lines import list_reported

    async with open_source(arguments, read_target(arguments.target)) as source:
        picture = await source.read_one()
        follower = _Follower(source, picture)
        await follower.refresh()
        told = list_reported(await follower.read_all(), follower.uids)
        wanted = [event for event in told if _is_wanted(arguments, event)]
        _print(arguments, wanted, source.now())
        if not arguments.watch:
            return Exit.DONE
        async with aclosing(follower.follow()) as news:
            async for event in news:
                if _is_wanted(arguments, event):
                    _print_one(arguments, event, source.now())
    return Exit.DONE


class _Follower:
    """The events of one workload, with the objects that are known to be its own."""

    def __init__(self, source: "Source", picture: "Picture") -> None:
        self._source = source
        self._picture = picture
        self.uids: frozenset[str] = frozenset()
        self._foreign: set[str] = set()
        self._version = ""  # from which a watch goes on
        self._held: dict[str, str] = {}  # the versions of all events that were seen, by uid

    async def refresh(self) -> None:
        """List the descendants of the workload again."""
        from kohort.cli.workloads.descendants import find_descendants

        self.uids |= await find_descendants(self._source.cluster, self._picture)

    async def read_all(self) -> "list[Object]":
        """All events of the namespace, the oldest first; a watch goes on from there."""
        events, self._version = await self._list_events()
        self._held = {uid_of(event): _find_version(event) for event in events}
        return events

    async def follow(self) -> "AsyncGenerator[ReportedEvent, None]":
        """Events of the workload that come after the list; a watch that ends is begun again."""
        from kohort.cluster.errors import ClusterError, Forbidden, NotFound, WatchExpired
        from kohort.views.event_lines import read_event

        attempts = 0  # since the last change
        while True:
            try:
                async with aclosing(self._watch()) as changes:
                    async for event in changes:
                        attempts = 0
                        if await self._is_own(event):
                            yield read_event(event)
            except WatchExpired:
                self._version = ""
            except (Forbidden, NotFound):
                raise
            except ClusterError as error:
                if not attempts:
                    show(f"note: the watch broke off ({error}); it is begun again", file=sys.stderr)
            await asyncio.sleep(_PAUSES[min(attempts, len(_PAUSES) - 1)])
            attempts += 1

    async def _watch(self) -> "AsyncGenerator[Object, None]":
        """Events that are new or changed, by one watch; one counts as seen when it was taken."""
        import orjson

        if not self._version:
            events, version = await self._list_events()
            for event in events:
                if self._held.get(uid_of(event)) != _find_version(event):
                    yield event
                    self._held[uid_of(event)] = _find_version(event)
            self._version = version
        async for change in self._source.cluster.watch(self._select(), self._version):
            event = orjson.loads(change.raw)
            if change.type in ("ADDED", "MODIFIED"):
                yield event
                self._held[uid_of(event)] = _find_version(event)
            elif change.type == "DELETED":
                self._held.pop(uid_of(event), None)
            self._version = _find_version(event) or self._version

    async def _list_events(self) -> "tuple[list[Object], str]":
        import orjson

        from kohort.views.event_lines import sort_by_time

        listing = await self._source.cluster.list(self._select())
        return sort_by_time(orjson.loads(raw) for raw in listing.items), listing.version

    async def _is_own(self, event: "Object") -> bool:
        from kohort.views.evidence.cluster import find_subject

        uid = find_subject(event).get("uid", "")
        if uid not in self.uids and uid not in self._foreign:
            self._picture = await self._source.read_one()
            await self.refresh()
            self._foreign |= {uid} - self.uids
        return uid in self.uids

    def _select(self) -> "Selection":
        from kohort.cluster.kinds import EVENT
        from kohort.cluster.port import Selection

        return Selection(EVENT, self._picture.namespace)


def _find_version(event: "Object") -> str:
    return str((event.get("metadata") or {}).get("resourceVersion", ""))


def _is_wanted(arguments: argparse.Namespace, event: "ReportedEvent") -> bool:
    return not arguments.warnings or event.type == "Warning"


def _print(arguments: argparse.Namespace, events: "list[ReportedEvent]", now: datetime) -> None:
    from kohort.cli.render.lines import align
    from kohort.cli.render.values import write_value

    if arguments.output == "json":
        if arguments.watch:
            for event in events:
                _print_one(arguments, event, now)
        else:
            print(write_value(events, "json"))
        return
    if not events:
        show("no events: they are kept for an hour", file=sys.stderr)
        return
    lines = align([_HEAD, *(_cells(event, now) for event in events)])
    show(lines[0], *(_paint(e, line) for e, line in zip(events, lines[1:], strict=True)))


def _print_one(arguments: argparse.Namespace, event: "ReportedEvent", now: datetime) -> None:
    if arguments.output == "json":
        from kohort.views.plain import to_plain

        print(json.dumps(to_plain(event)), flush=True)
        return
    show(_paint(event, "   ".join(_cells(event, now))))


def _cells(event: "ReportedEvent", now: datetime) -> tuple[str, ...]:
    from kohort.views.ages import write_age

    age = write_age(event.seen, now)
    if event.count > 1:
        age = f"{age} (x{event.count} over {write_age(event.since, now)})"
    return age, event.type, event.object, event.reason, event.actor or "-", event.message


def _paint(event: "ReportedEvent", line: str) -> str:
    return paint(line, YELLOW, sys.stdout) if event.type == "Warning" else line


EVENTS = Command(_make_parser, _run)
