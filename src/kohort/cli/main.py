"""
This is where the command line begins.

It answers as ``kohort`` and as ``kubectl kohort``, and help texts show the form
that was called.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import PurePath

from kohort.cli.exits import end
from kohort.cli.processes.signals import heed_interrupts
from kohort.cli.table import CommandEntry, Group, dispatch
from kohort.cli.terminal import guarded_output

COMMANDS = Group(
    summary="a Kubernetes control plane in one process, with simulated GPU nodes",
    examples=("up", "up --nodes 32 --racks 4 --speed 10 --detach", "sim node fail gpu-03", "down"),
    entries={
        "up": CommandEntry("kohort.cli.commands.up", "UP", "start a cluster on this machine"),
        "down": CommandEntry("kohort.cli.commands.down", "DOWN", "stop a cluster"),
        "clusters": CommandEntry(
            "kohort.cli.commands.clusters", "CLUSTERS", "list the clusters that run here"
        ),
        "get": CommandEntry(
            "kohort.cli.commands.workloads.get",
            "GET",
            "show workloads: a table of all, a tree of one",
        ),
        "why": CommandEntry(
            "kohort.cli.commands.workloads.why",
            "WHY",
            "say what a workload waits for, and what to do",
        ),
        "rollout": CommandEntry(
            "kohort.cli.commands.workloads.rollout", "ROLLOUT", "follow and steer a rollout"
        ),
        "convert": CommandEntry(
            "kohort.cli.commands.convert",
            "CONVERT",
            "convert LeaderWorkerSets to ModelServings, or back",
        ),
        "crds": CommandEntry(
            "kohort.cli.commands.crds", "CRDS", "print the CustomResourceDefinitions"
        ),
        "manifests": CommandEntry(
            "kohort.cli.commands.manifests", "MANIFESTS", "print all that a cluster needs"
        ),
        "sim": CommandEntry(
            "kohort.cli.commands.sim",
            "SIM",
            "see and change the simulation: topology, nodes, clock",
        ),
        "controller": CommandEntry(
            "kohort.cli.commands.controller", "CONTROLLER", "run the operator against a cluster"
        ),
        "version": CommandEntry("kohort.cli.commands.version", "VERSION", "print the version"),
        "completion": CommandEntry(
            "kohort.cli.commands.completion", "COMPLETION", "print a script for your shell"
        ),
    },
    footer="""
flags for all commands:
  --no-color   no colour, as with the environment variable NO_COLOR
""",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, and return its exit code."""
    heed_interrupts()
    words = list(sys.argv[1:] if argv is None else argv)
    if "--no-color" in words:
        os.environ["NO_COLOR"] = "1"
        words = [word for word in words if word != "--no-color"]
    if words == ["--version"]:
        words = ["version"]
    with guarded_output():
        return end(lambda: dispatch(_called_as(), words, COMMANDS))


def _called_as() -> str:
    return "kubectl kohort" if PurePath(sys.argv[0]).name == "kubectl-kohort" else "kohort"
