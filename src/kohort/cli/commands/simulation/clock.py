"""This is where ``kohort sim clock`` shows, pauses, steps and speeds up simulated delays."""

import argparse
import json
from typing import Any

from kohort.cli.connection import add_cluster, connect
from kohort.cli.exits import Exit, UsageError
from kohort.cli.parser import Parser, add_output, pace, some_time
from kohort.cli.table import Command

PATH = "/kohort/clock"
_VERBS = ("show", "pause", "resume", "step", "speed")


def _make_parser(prog: str) -> Parser:
    summary = (
        "show, pause, resume, step or speed up the delays of a running cluster's simulated "
        "parts (timestamps stay wall time, unless the cluster was started with --clock)"
    )
    parser = Parser(prog, summary, ("", "pause", "step 5m", "resume", "speed 10"))
    parser.add_argument("verb", nargs="?", choices=_VERBS, default="show")
    parser.add_argument("value", nargs="?", help="for step: how far; for speed: how many times")
    add_cluster(parser)
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    change = _read_change(arguments.verb, arguments.value)
    client = connect(arguments.name)
    state = client.create(PATH, change) if change else client.read(PATH)
    print(json.dumps(state) if arguments.output == "json" else _describe(state))
    return Exit.DONE


def _read_change(verb: str, value: str | None) -> dict[str, Any]:
    """What is sent to the clock; nothing if it is only shown."""
    readers = {"step": ("seconds", some_time), "speed": ("speed", pace)}
    if (verb in readers) != (value is not None):
        raise UsageError(
            "step takes how far, as in 'step 5m', and speed how many times faster, as in "
            "'speed 10'; the others take nothing"
        )
    if value is None:
        return {} if verb == "show" else {"action": verb}
    key, read = readers[verb]
    try:
        return {"action": verb, key: read(value)}
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{verb} {error}") from error


def _describe(state: dict[str, Any]) -> str:
    pace = "paused" if state["isPaused"] else "running"
    start = f"{pace} at speed {state['speed']:g}   {state['elapsedSeconds']:.1f} s since the start"
    return f"{start}   {state['now']}" if state.get("isOwn") else start


CLOCK = Command(_make_parser, _run)
