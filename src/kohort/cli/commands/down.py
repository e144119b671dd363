"""This is where ``kohort down`` ends a cluster, and never anything else."""

import argparse
import os
import signal
from contextlib import suppress

from kohort.cli.exits import Exit, TimedOut
from kohort.cli.parsing import Parser
from kohort.cli.reaching import add_cluster
from kohort.cli.state import State, name_running
from kohort.cli.table import Command

_SECONDS_MAX = 15.0


def _make_parser(prog: str) -> Parser:
    parser = Parser(
        prog, "stop a cluster, and wait until it has ended", ("", "--name ci", "--name ci --kill")
    )
    add_cluster(parser)
    parser.add_argument(
        "--kill", action="store_true", help="end it by force if it does not end in time"
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    state = State(arguments.name)
    pid = state.find_pid()
    if pid is None:
        others = name_running()
        print(f"{state.name} is not running{others and f'; these are: {others}'}")
        return Exit.DONE
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not state.wait_for_end(_SECONDS_MAX):
        if not arguments.kill or state.find_pid() != pid:
            raise TimedOut(
                f"{state.name} (process {pid}) has not ended after {_SECONDS_MAX:.0f} seconds; "
                f"'kohort down{state.flag} --kill' ends it by force"
            )
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        state.wait_for_end(_SECONDS_MAX)
    print(f"{state.name} has ended")
    return Exit.DONE


DOWN = Command(_make_parser, _run)
