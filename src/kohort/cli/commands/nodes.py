"""
This is where simulated nodes are added, lost and recovered.

All of it goes through the Kubernetes API of the running cluster: a node is
added by creating it, and fails because an annotation says so.
"""

import argparse
from datetime import UTC, datetime
from typing import Any

from kohort.cli.client import Client
from kohort.cli.exits import Exit, UsageError
from kohort.cli.parsing import Parser, whole
from kohort.cli.state import NAME_DEFAULT
from kohort.cli.table import Command

NODES = "/api/v1/nodes"


def add_cluster(parser: Parser) -> None:
    """Offer the choice of a cluster."""
    parser.add_argument("--name", default=NAME_DEFAULT, help="of the cluster (default: sim)")


def _make_add_parser(prog: str) -> Parser:
    parser = Parser(prog, "add nodes", ("", "gpu-90 gpu-91", "--count 4 --rack 1", "--gpus 4"))
    parser.add_argument("node", nargs="*", help="names (default: the next free one)")
    parser.add_argument("--count", type=whole(1, 10_000), metavar="N", help="how many, unnamed")
    parser.add_argument(
        "--rack", type=whole(0, 20_000), metavar="R", help="(default: the emptiest)"
    )
    parser.add_argument(
        "--gpus", type=whole(0, 1_000), metavar="G", help="(default: as the others)"
    )
    add_cluster(parser)
    return parser


def _add(arguments: argparse.Namespace) -> int:
    from kohort.simulator.nodes import NodeMake, make_node

    if arguments.node and arguments.count:
        raise UsageError("give names or --count, not both")
    client = Client(arguments.name)
    known = client.read(NODES)["items"]
    gpus = client.gpus_per_node if arguments.gpus is None else arguments.gpus
    racks = _count_racks(known)
    taken = {node["metadata"]["name"] for node in known}
    index = len(known)
    for name in arguments.node or [""] * (arguments.count or 1):
        rack = min(racks, key=racks.__getitem__) if arguments.rack is None else arguments.rack
        make = NodeMake(nodes=max(100, len(known)), gpus=gpus)
        while not name and make_node(index, make, "", rack)["metadata"]["name"] in taken:
            index += 1
        body = make_node(index, make, _stamp(), rack)
        node = client.create(NODES, _rename(body, name) if name else body)["metadata"]["name"]
        taken.add(node)
        racks[rack] = racks.get(rack, 0) + 1
        index += 1
        print(f"{node} added to rack-{rack} with {gpus} GPUs", flush=True)
    return Exit.DONE


def _count_racks(nodes: list[dict[str, Any]]) -> dict[int, int]:
    """How many nodes each rack has, by its number."""
    from kohort.simulator.nodes import RACK

    counts: dict[int, int] = {}
    for node in nodes:
        label = node["metadata"].get("labels", {}).get(RACK, "")
        number = label.removeprefix("rack-")
        if number.isdecimal():
            counts[int(number)] = counts.get(int(number), 0) + 1
    return counts or {0: 0}


def _rename(node: dict[str, Any], name: str) -> dict[str, Any]:
    old = node["metadata"]["name"]
    node["metadata"]["name"] = name
    node["metadata"]["labels"]["kubernetes.io/hostname"] = name
    node["spec"]["providerID"] = node["spec"]["providerID"].replace(old, name)
    for address in node["status"]["addresses"]:
        address["address"] = address["address"].replace(old, name)
    return node


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _make_fail_parser(prog: str) -> Parser:
    summary = (
        "let nodes fall silent, as if they had lost power: after 40 simulated seconds they are "
        "not ready, and pods that do not tolerate that are evicted later"
    )
    parser = Parser(prog, summary, ("gpu-03", "gpu-03 gpu-04"))
    parser.add_argument("node", nargs="+", help="names")
    add_cluster(parser)
    return parser


def _make_recover_parser(prog: str) -> Parser:
    parser = Parser(prog, "bring nodes back: they answer again, and take pods", ("gpu-03",))
    parser.add_argument("node", nargs="+", help="names")
    add_cluster(parser)
    return parser


def _fail(arguments: argparse.Namespace) -> int:
    return _mark(arguments, "true", "has failed", {})


def _recover(arguments: argparse.Namespace) -> int:
    return _mark(arguments, None, "has recovered", {"unschedulable": None})


def _mark(arguments: argparse.Namespace, value: str | None, news: str, spec: dict[str, Any]) -> int:
    from kohort.simulator.nodes import FAILED

    client = Client(arguments.name)
    for node in arguments.node:
        patch = {"metadata": {"annotations": {FAILED: value}}, "spec": spec}
        client.patch(f"{NODES}/{node}", patch)
        print(f"{node} {news}", flush=True)
    return Exit.DONE


ADD = Command(_make_add_parser, _add)
FAIL = Command(_make_fail_parser, _fail)
RECOVER = Command(_make_recover_parser, _recover)
