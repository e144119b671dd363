"""This is where a command finds the running cluster that it was told to act on."""

from typing import Any

from kohort.cli.parsing import Parser
from kohort.cli.state import NAME_DEFAULT, State
from kohort.simulator.hosting.client import Client


def add_cluster(parser: Parser) -> None:
    """Offer the choice of a cluster."""
    parser.add_argument("--name", default=NAME_DEFAULT, help="of the cluster (default: sim)")


def read_control(name: str) -> dict[str, Any]:
    """What a running cluster tells the commands about itself."""
    return State(name).expect_control()


def connect(name: str) -> Client:
    """A connection to a running cluster."""
    control = read_control(name)
    return Client(control["url"], control["token"], control["ca"])
