"""This is where ``kohort version`` prints the versions of Kohort, Kubernetes and Python."""

import argparse
import json
import platform

from kohort import __version__
from kohort.cli.exits import Exit
from kohort.cli.parser import Parser, add_output
from kohort.cli.table import Command

KUBERNETES = "1.36"


def _make_parser(prog: str) -> Parser:
    summary = "print the version, and the Kubernetes version that the cluster speaks"
    parser = Parser(prog, summary, ("", "-o json"))
    add_output(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    facts = {"kohort": __version__, "kubernetes": KUBERNETES, "python": platform.python_version()}
    if arguments.output == "json":
        print(json.dumps(facts))
    else:
        print(f"kohort {__version__}   Kubernetes API {KUBERNETES}   Python {facts['python']}")
    return Exit.DONE


VERSION = Command(_make_parser, _run)
