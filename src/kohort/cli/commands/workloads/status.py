"""
This is where ``kohort rollout status`` waits for the end of a rollout.

One line for each change. It ends with 0 when every group is ready on the revision
that was asked for, with 3 when the time is over, and with 4 as soon as the
rollout is blocked: there is no point in waiting for what will not come.
"""

import argparse
import asyncio
import json
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure, TimedOut
from kohort.cli.parsing import Parser, duration
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cli.workloads.asking import (
    add_form,
    add_place,
    add_target,
    read_target,
)

if TYPE_CHECKING:
    from kohort.cli.workloads.source import Source
    from kohort.views.picture import Picture

# The kinds are watched apart from each other, so one look may be half old.
_LOOKS_UNTIL_SURE = 2


class _Blocked(Failure):
    code = Exit.BLOCKED


def _make_parser(prog: str) -> Parser:
    summary = (
        "wait until all groups are ready on the revision that was asked for; exits with 0 when "
        "they are, 3 when the time is over, 4 as soon as the rollout is blocked"
    )
    examples = ("lws/llama", "lws/llama --timeout 30m", "lws/llama --timeout 0")
    parser = Parser(prog, summary, examples)
    add_target(parser)
    parser.add_argument(
        "--timeout",
        type=duration,
        metavar="TIME",
        help="how long to wait, such as 90s or 5m; 0 only looks (default: for ever)",
    )
    add_place(parser)
    add_form(parser, "json")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    try:
        return asyncio.run(_wait(arguments))
    except KeyboardInterrupt:
        # A user who has seen enough: what was told stands, and it is no error.
        return Exit.INTERRUPTED


async def _wait(arguments: argparse.Namespace) -> int:
    from kohort.cli.workloads.source import open_source

    watcher = _Watcher(arguments.output == "json")
    async with open_source(arguments, read_target(arguments.target)) as source:
        try:
            async with asyncio.timeout(arguments.timeout or None):
                return await watcher.run(source, is_patient=arguments.timeout != 0)
        except TimeoutError:
            raise TimedOut(
                f"{watcher.name} is not ready after {arguments.timeout:g} s: {watcher.last}"
            ) from None


class _Watcher:
    """Looks at one workload until it is done, blocked or gone."""

    def __init__(self, is_json: bool) -> None:
        self.name = ""
        self.last = ""
        self._is_json = is_json
        self._helpless = 0  # looks in a row that saw it need help

    async def run(self, source: "Source", *, is_patient: bool) -> int:
        """The exit code, once it is known."""
        async with aclosing(source.follow()) as looks:
            async for pictures in looks:
                ended = self._look(pictures[0] if pictures else await source.read_one())
                if ended is not None:
                    return ended
                if not is_patient and self._helpless == 0:
                    raise TimedOut(f"{self.name} is not ready: {self.last}")
        return Exit.FAILED

    def _look(self, picture: "Picture") -> int | None:
        from kohort.views.health import Word, judge

        self.name = picture.reference
        self._tell(picture)
        health = judge(picture)
        if health.word is Word.READY and not picture.is_moving:
            return Exit.DONE
        if health.word is Word.PAUSED:
            raise _Blocked(f"{self.name} is paused; go on with 'kohort rollout resume {self.name}'")
        if health.word is Word.LEAVING:
            raise Failure(f"{self.name} is being deleted")
        self._helpless = self._helpless + 1 if health.word.needs_help else 0
        if self._helpless >= _LOOKS_UNTIL_SURE:
            self._give_up(picture, f"{health.word}: {health.reason}: {health.message}")
        return None

    def _tell(self, picture: "Picture") -> None:
        from kohort.cli.render.tables import write_change
        from kohort.cli.render.values import to_plain
        from kohort.views.table import make_row

        row = make_row(picture)
        line = write_change(row)
        if line != self.last:
            self.last = line
            show(json.dumps(to_plain(row)) if self._is_json else line)

    def _give_up(self, picture: "Picture", why: str) -> None:
        from kohort.cli.render.explanations import write_explanation
        from kohort.views.explain import explain

        lines = write_explanation(explain(picture), picture.now)
        show(*lines, file=sys.stderr)
        raise _Blocked(f"{self.name} is {why}")


STATUS = Command(_make_parser, _run)
