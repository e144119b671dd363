"""
This is where ``kohort rollout status`` waits for the end of a rollout.

It prints one line for each change. It ends with 0 when every group is ready on the revision that
was asked for, with 3 when the time is over, and with 4 as soon as the rollout is blocked: there is
no point in waiting for what will not come.

Right after a user has mended the cause, the verdict is still that of the last try. Where the
cluster tries again by itself, the command waits for that, but not for long.
"""

import argparse
import asyncio
import json
import sys
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from kohort.cli.exits import Exit, Failure, TimedOut, until_interrupted
from kohort.cli.parser import Parser, duration
from kohort.cli.processes.signals import run_command
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

if TYPE_CHECKING:
    from kohort.cli.workloads.source import Source
    from kohort.views.health import Health
    from kohort.views.picture import Picture

# Each kind is listed by itself, so one reading may mix older and newer objects.
_LOOKS_UNTIL_SURE = 2
# The operator tries every half a minute whether a name has become free.
_RETRY_PATIENCE = timedelta(seconds=35)


class _Blocked(Failure):
    code = Exit.BLOCKED


def _make_parser(prog: str) -> Parser:
    summary = (
        "wait until all groups are ready on the revision that was asked for; exits with 0 when "
        "they are, 3 when the time is over, 4 as soon as the rollout is blocked"
    )
    examples = ("lws/llama", "lws/llama --timeout 30m", "ms/llama --role decode --timeout 0")
    parser = Parser(prog, summary, examples)
    add_target(parser)
    add_role(parser, "speak of this role only, and wait for no other")
    parser.add_argument(
        "--timeout",
        type=duration,
        metavar="TIME",
        help="how long to wait, such as 90s or 5m; 0: do not wait (default: for ever)",
    )
    add_place(parser)
    add_form(parser, "json")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    return until_interrupted(lambda: run_command(_wait(arguments)))


async def _wait(arguments: argparse.Namespace) -> int:
    from kohort.cli.workloads.source import open_source

    is_patient = arguments.timeout != 0
    is_json = arguments.output == "json"
    watcher = _Watcher(is_json, role=arguments.role, is_patient=is_patient)
    async with open_source(arguments, read_target(arguments.target)) as source:
        try:
            async with asyncio.timeout(arguments.timeout or None):
                return await watcher.run(source)
        except TimeoutError:
            raise TimedOut(
                f"{watcher.name} is not ready after {arguments.timeout:g} s: {watcher.last}"
            ) from None


class _Watcher:
    """Reads one workload again and again, until it is done, blocked or gone."""

    def __init__(self, is_json: bool, *, role: str = "", is_patient: bool = True) -> None:
        self.name = ""
        self._role = role
        self.last = ""
        self._is_json = is_json
        self._is_patient = is_patient
        self._begun: datetime | None = None  # when it was read first
        self._helpless = 0  # readings in a row in which it needs help

    async def run(self, source: "Source") -> int:
        """The exit code, once it is known."""
        async with aclosing(source.follow()) as looks:
            async for pictures in looks:
                picture = pictures[0] if pictures else await source.read_one()
                ended = self._judge(self._limit(picture))
                if ended is not None:
                    return ended
                if not self._is_patient and self._helpless == 0:
                    raise TimedOut(f"{self.name} is not ready: {self.last}")
        return Exit.FAILED

    def _limit(self, picture: "Picture") -> "Picture":
        from kohort.views.roles import choose_role

        if not self._role:
            return picture
        expect_role(picture, self._role)
        return choose_role(picture, self._role)

    def _judge(self, picture: "Picture") -> int | None:
        from kohort.views.health import Word, judge

        self.name = picture.reference + (f" --role {self._role}" if self._role else "")
        self._print(picture)
        health = judge(picture)
        if health.word is Word.READY and not picture.is_moving:
            return Exit.DONE
        if health.word is Word.PAUSED:
            raise _Blocked(f"{self.name} is paused; go on with 'kohort rollout resume {self.name}'")
        if health.word is Word.LEAVING:
            raise Failure(f"{self.name} is being deleted")
        is_helpless = health.word.needs_help and not self._is_outdated(picture, health)
        self._helpless = self._helpless + 1 if is_helpless else 0
        if self._helpless >= _LOOKS_UNTIL_SURE:
            self._give_up(picture, f"{health.word}: {health.reason}: {health.message}")
        return None

    def _is_outdated(self, picture: "Picture", health: "Health") -> bool:
        """Whether a verdict may be over as soon as the cluster tries again."""
        from kohort.views.explain import is_tried_again

        self._begun = self._begun or picture.now
        is_early = picture.now - self._begun < _RETRY_PATIENCE
        return self._is_patient and is_early and is_tried_again(picture, health, self._begun)

    def _print(self, picture: "Picture") -> None:
        from kohort.cli.render.tables import write_change
        from kohort.views.plain import to_plain
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
