"""
This is where command lines are read, in one manner for all commands.

Help shows examples before flags, because people copy before they read. Nothing
is abbreviated in silence, and what is misspelled is answered with the nearest
name that exists.
"""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from kohort.cli.exits import UsageError
from kohort.cluster.durations import read_seconds
from kohort.model.policies import list_strategies

_TARGETS = ("target", "words")  # arguments that name one workload, perhaps with more about it


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows one workload as one, although it may be named in two words (``lws llama``)."""

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        named = str(action.metavar)
        if action.dest not in _TARGETS:
            return super()._format_args(action, default_metavar)
        return named if action.nargs == "+" else f"[{named}]"


class Parser(argparse.ArgumentParser):
    """The parser of one command."""

    def __init__(self, prog: str, summary: str, examples: Sequence[str]) -> None:
        super().__init__(
            prog=prog,
            description=describe(prog, summary, examples),
            formatter_class=_Formatter,
            allow_abbrev=False,
            add_help=False,
        )
        self.add_argument("-h", "--help", action="help", help="show this help")

    def error(self, message: str) -> NoReturn:
        """Refuse a command line, with a sentence and the way to the help text."""
        raise UsageError(f"{message}; see '{self.prog} --help'")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of the choices, with the nearest of them."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        hint = suggest(str(value), known)
        raise argparse.ArgumentError(action, f"{value!r}{hint} is none of {', '.join(known)}")

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """Read a command line to its end."""
        arguments, unknown = self.parse_known_args(argv)
        if unknown:
            flag = unknown[0].partition("=")[0]
            what = "flag" if flag.startswith("-") else "argument"
            self.error(f"unknown {what} {unknown[0]!r}{suggest(flag, self.flags())}")
        return arguments

    def flags(self) -> list[str]:
        """All flags, for completion and suggestions."""
        shown = [action for action in self._actions if action.help != argparse.SUPPRESS]
        return [flag for action in shown for flag in action.option_strings]

    def words(self) -> list[str]:
        """The words that may stand without a flag, where they are known."""
        plain = [action for action in self._actions if not action.option_strings]
        return [str(word) for action in plain for word in action.choices or ()]

    def metavars(self) -> list[str]:
        """How help names the words that stand without a flag."""
        plain = [action for action in self._actions if not action.option_strings]
        return [str(action.metavar) for action in plain if action.metavar]


def describe(prog: str, summary: str, examples: Sequence[str]) -> str:
    """The part of a help text that comes before the flags."""
    lines = "\n".join(f"  {prog}{' ' if example else ''}{example}" for example in examples)
    return f"{summary[0].upper()}{summary[1:]}.\n\nexamples:\n{lines}"


def suggest(name: str, known: Iterable[str]) -> str:
    """Words that name the nearest thing that exists, or nothing."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def whole(low: int, high: int) -> Callable[[str], int]:
    """Reads whole numbers within limits."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {low} to {high}, not {text!r}"
            )
        return value

    return read


def positive(text: str) -> float:
    """Reads numbers above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")
    return value


def pace(text: str) -> float:
    """Reads how many times faster something goes; beyond the limit, adding up loses seconds."""
    from kohort.simulator.clock import SPEED_MAX

    value = positive(text)
    if value > SPEED_MAX:
        raise argparse.ArgumentTypeError(
            f"must be a number above 0 and up to {SPEED_MAX}, not {text!r}"
        )
    return value


def duration(text: str) -> float:
    """Reads durations such as ``90s`` or ``1h30m``; a plain number is seconds."""
    seconds: float = typed(read_seconds)(text)
    return seconds


def moment(text: str) -> datetime:
    """A point in time with its zone, in whole seconds."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise argparse.ArgumentTypeError(
            f"must be a time with its zone, such as 2026-01-01T09:00:00Z, not {text!r}"
        )
    return found.astimezone(UTC).replace(microsecond=0)


def some_time(text: str) -> float:
    """Reads durations above 0."""
    seconds = duration(text)
    if not seconds:
        raise argparse.ArgumentTypeError(f"must be a duration above 0, not {text!r}")
    return seconds


def place(text: str) -> Path:
    """Reads paths; an empty one comes from a variable that is not set, and means no place."""
    if not text:
        raise argparse.ArgumentTypeError("must name a place, and is empty")
    return Path(text)


def add_output(parser: Parser) -> None:
    """Offer ``-o json``, as every view does."""
    options: dict[str, Any] = {"choices": ["text", "json"], "default": "text"}
    parser.add_argument("-o", "--output", **options, help="text (the default) or json")


def add_settings(parser: Parser) -> None:
    """Add the flags with the operator's defaults for workloads that do not set a field."""
    add = parser.add_argument
    carriers = ("statefulsets", "pods")
    add(
        "--rollout-strategy",
        choices=list_strategies(),
        default=list_strategies()[0],
        help="of rollouts (default: budgeted)",
    )
    add(
        "--carrier",
        choices=carriers,
        default=carriers[0],
        help="of new workloads (default: statefulsets)",
    )


def add_apis(parser: Parser, usual: str = "lws") -> None:
    """Offer which APIs are served."""
    parser.add_argument(
        "--apis",
        type=typed(_read_apis),
        metavar="NAME[,NAME]",
        help=f"serve these APIs, of lws, ms, rbg and isvc (default: {usual})",
    )


def _read_apis(text: str) -> tuple[str, ...]:
    from kohort.apis.served import read_apis

    return read_apis(text)


def add_gangs(parser: Parser) -> None:
    """Offer whose gangs the operator makes, and what tiers the cluster has."""
    from kohort.controller.process.gangs import find_known, read_gangs, read_tier

    known = find_known()
    parser.add_argument(
        "--gang",
        type=typed(lambda text: read_gangs(text, known)),
        metavar="NAME[,NAME]|auto",
        help=f"make gangs for these schedulers, the usual one first: {', '.join(known)}; "
        "auto: all that the cluster serves (default: none)",
    )
    parser.add_argument(
        "--tier",
        type=typed(read_tier),
        action="append",
        default=[],
        metavar="N=NAME=LABEL",
        help="a tier of the cluster, for schedulers that know them by labels of nodes, such as "
        "1=rack=topology.kubernetes.io/rack; may be repeated",
    )


def typed(read: Callable[[Any], Any]) -> Callable[[str], Any]:
    """A type for argparse: reads a value, and shows the ValueError of ``read`` to the user."""

    def convert(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert
