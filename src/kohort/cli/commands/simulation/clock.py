"""This is where ``kohort sim clock`` shows, pauses and steps simulated delays."""

import argparse
import json
from typing import Any

from kohort.cli.exits import Exit, UsageError
from kohort.cli.parsing import Parser, add_output, positive
from kohort.cli.reaching import add_cluster, connect
from kohort.cli.table import Command

PATH = "/kohort/clock"
_VERBS = ("show", "pause", "resume", "step")


def _make_parser(prog: str) -> Parser:
    summary = (
        "show, pause, resume or step the delays of a running cluster's simulated parts "
        "(timestamps stay wall time)"
    )
    parser = Parser(prog, summary, ("", "pause", "step 300", "resume"))
    parser.add_argument("verb", nargs="?", choices=_VERBS, default="show")
    parser.add_argument("seconds", nargs="?", type=positive, help="for step: how far")
    add_cluster(parser)
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    verb, seconds = arguments.verb, arguments.seconds
    if (verb == "step") != (seconds is not None):
        raise UsageError("step, and only step, takes a number of seconds, as in 'step 300'")
    client = connect(arguments.name)
    if verb == "show":
        state = client.read(PATH)
    else:
        state = client.create(PATH, {"action": verb, "seconds": seconds})
    print(json.dumps(state) if arguments.output == "json" else _describe(state))
    return Exit.DONE


def _describe(state: dict[str, Any]) -> str:
    pace = "paused" if state["isPaused"] else "running"
    return f"{pace} at speed {state['speed']:g}   {state['elapsedSeconds']:.1f} s since the start"


CLOCK = Command(_make_parser, _run)
