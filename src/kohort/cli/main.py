"""
This is where the program begins: it finds the command by its words, and runs it.

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
    summary="an operator for groups of pods that serve models, and a control plane to try it on",
    examples=(
        "up",
        "new lws --example | kubectl apply -f -",
        "get lws/llama -w",
        "why lws/llama",
        "sim node fail gpu-03",
        "down",
    ),
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
        "plan": CommandEntry(
            "kohort.cli.commands.workloads.plan",
            "PLAN",
            "say what a change would do, step by step, without applying it",
        ),
        "rollout": CommandEntry(
            "kohort.cli.commands.workloads.rollout", "ROLLOUT", "follow and steer a rollout"
        ),
        "logs": CommandEntry(
            "kohort.cli.commands.workloads.logs", "LOGS", "show what all members wrote"
        ),
        "events": CommandEntry(
            "kohort.cli.commands.workloads.events",
            "EVENTS",
            "show what was reported about a workload and all that it has",
        ),
        "connect": CommandEntry(
            "kohort.cli.commands.workloads.connect",
            "CONNECT",
            "forward a local port to a ready leader",
        ),
        "takeover": CommandEntry(
            "kohort.cli.commands.takeover",
            "TAKEOVER",
            "move from another controller of an API to Kohort, and back",
        ),
        "record": CommandEntry(
            "kohort.cli.commands.workloads.record",
            "RECORD",
            "write what the operator saw and decided to a file",
        ),
        "replay": CommandEntry(
            "kohort.cli.commands.replay", "REPLAY", "plan a recorded file again, step by step"
        ),
        "dashboard": CommandEntry(
            "kohort.cli.commands.dashboard", "DASHBOARD", "serve a page of a cluster"
        ),
        "convert": CommandEntry(
            "kohort.cli.commands.convert",
            "CONVERT",
            "convert LeaderWorkerSets to ModelServings, or back",
        ),
        "new": CommandEntry("kohort.cli.commands.new", "NEW", "write a manifest with comments"),
        "lint": CommandEntry(
            "kohort.cli.commands.lint", "LINT", "check manifests without a cluster"
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
        "doctor": CommandEntry(
            "kohort.cli.commands.doctor", "DOCTOR", "check a cluster, each problem with a fix"
        ),
        "plugins": CommandEntry(
            "kohort.cli.commands.plugins", "PLUGINS", "list installed plugins, or begin a new one"
        ),
        "version": CommandEntry("kohort.cli.commands.version", "VERSION", "print the version"),
        "completion": CommandEntry(
            "kohort.cli.commands.completion", "COMPLETION", "print a script for your shell"
        ),
    },
    footer="""
flags for all commands:
  --no-color   no colour, as with the environment variable NO_COLOR

exit codes:
  0    done
  1    failed
  2    the command was not understood
  3    the time is over
  4    blocked, broken, stalled or paused: waiting will not help
  130  interrupted
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
