"""This is where ``kohort down`` ends clusters, and never anything else."""

import argparse
import os
import signal
from contextlib import suppress

from kohort.cli.connection import add_cluster, choose_cluster, find_by_context
from kohort.cli.exits import Exit, TimedOut, UsageError
from kohort.cli.parser import Parser
from kohort.cli.state import State, list_running, list_states, name_running
from kohort.cli.table import Command

_SECONDS_MAX = 15.0
_KILLED_SECONDS_MAX = 15.0  # a killed process ends as soon as the kernel comes to it


def _make_parser(prog: str) -> Parser:
    parser = Parser(
        prog,
        "stop a cluster, and wait until it has ended",
        ("", "ci", "ci demo", "--all", "--name ci --kill"),
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="of clusters (default: that of the kubeconfig's context, or the only one that runs)",
    )
    add_cluster(parser)
    parser.add_argument("--all", action="store_true", help="all clusters that run")
    parser.add_argument(
        "--kill", action="store_true", help="end it by force if it does not end in time"
    )
    return parser


def _run(arguments: argparse.Namespace) -> int:
    states = _choose(arguments)
    running = [(state, pid) for state in states if (pid := _signal(state)) is not None]
    late = [told for state, pid in running if (told := _end(state, pid, arguments.kill))]
    if late:
        raise TimedOut("; ".join(late))
    return Exit.DONE


def _choose(arguments: argparse.Namespace) -> list[State]:
    names = [*arguments.names, *([arguments.name] if arguments.name is not None else [])]
    if arguments.all:
        if names:
            raise UsageError("give names or --all, not both")
        left = [state.name for state in list_states() if state.clear_stale()]
        if left:
            print(f"removed the stale files of {', '.join(left)}: killed earlier")
        running = list_running()
        if not running:
            print("no cluster is running")
        return running
    if names:
        return [State(name) for name in dict.fromkeys(names)]
    running = list_running()
    if not running and find_by_context(running) is None:
        stale = [state for state in list_states() if state.pid_file.exists()]
        if not stale:
            print("no cluster is running")
        return stale
    return [choose_cluster(None)]


def _signal(state: State) -> int | None:
    """Ask a cluster to end; the answer is its process, if there is one."""
    pid = state.find_pid()
    if pid is None:
        absence, others = state.describe_absence(), name_running()
        print(f"{absence}{others and f'; these are: {others}'}")
        return None
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    return pid


def _end(state: State, pid: int, kill: bool) -> str:
    """Wait for a cluster to end, with ``--kill`` by force; returns the error, if it did not end."""
    late = f"{state.name} (process {pid}) has not ended after {_SECONDS_MAX:.0f} seconds"
    if not state.wait_for_end(pid, _SECONDS_MAX):
        if not kill:
            return f"{late}; 'kohort down{state.flag} --kill' ends it by force"
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        if not state.wait_for_end(pid, _KILLED_SECONDS_MAX):
            return (
                f"{late}, nor {_KILLED_SECONDS_MAX:.0f} seconds after it was killed; "
                f"see what holds it with 'ps -o pid,stat,wchan,cmd -p {pid}'"
            )
        state.clear_stale()
    after = state.find_pid()
    news = "" if after is None else f"; another one was started in the meantime (process {after})"
    print(f"{state.name} has ended{news}", flush=True)
    return ""


DOWN = Command(_make_parser, _run)
