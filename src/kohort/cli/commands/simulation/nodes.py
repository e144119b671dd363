"""
This is where simulated nodes are added, lost and recovered.

All of it goes through the Kubernetes API of the running cluster: a node is
added by creating it, and fails because an annotation says so.
"""

import argparse
import itertools
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parsing import Parser, suggest, whole
from kohort.cli.reaching import add_cluster, connect, read_control
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.cluster.objects import write_time
from kohort.cluster.places import RACK, SPINE
from kohort.simulator.hosting.client import Client

NODES = "/api/v1/nodes"


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
    client = connect(arguments.name)
    known = client.read(NODES)["items"]
    gpus: int = arguments.gpus
    if gpus is None:
        gpus = read_control(arguments.name)["gpusPerNode"]
    racks = _count_nodes(known, RACK) or {0: 0}
    spines = _Spines(known)
    names = arguments.node or _free_names(known, arguments.count or 1)
    for index, name in enumerate(names, len(known)):
        rack = min(racks, key=racks.__getitem__) if arguments.rack is None else arguments.rack
        racks[rack] = racks.get(rack, 0) + 1
        spine = spines.choose(rack)
        node = make_node(index, NodeMake(gpus=gpus), write_time(datetime.now(UTC)), rack, spine)
        client.create(NODES, _rename(node, name))
        print(f"{name} added to rack-{rack} with {gpus} GPUs", flush=True)
    return Exit.DONE


class _Spines:
    """Under which spine a rack stands: its own, or for a new rack that with the fewest nodes."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        self._nodes = _count_nodes(nodes, SPINE)
        places = [(_read_number(node, RACK), _read_number(node, SPINE)) for node in nodes]
        self._of_racks = {r: s for r, s in places if r is not None and s is not None}

    def choose(self, rack: int) -> int | None:
        """The spine of a rack; None where there are none."""
        if not self._nodes:
            return None
        emptiest = min(self._nodes, key=self._nodes.__getitem__)
        spine = self._of_racks.setdefault(rack, emptiest)
        self._nodes[spine] += 1
        return spine


def _free_names(nodes: list[dict[str, Any]], count: int) -> list[str]:
    from kohort.simulator.nodes import name_node

    taken = {node["metadata"]["name"] for node in nodes}
    names = (name_node(index, len(nodes)) for index in itertools.count(len(nodes)))
    return list(itertools.islice((name for name in names if name not in taken), count))


def _count_nodes(nodes: list[dict[str, Any]], label: str) -> dict[int, int]:
    """How many nodes each rack or spine has, by its number."""
    numbers = (_read_number(node, label) for node in nodes)
    return dict(Counter(number for number in numbers if number is not None))


def _read_number(node: dict[str, Any], label: str) -> int | None:
    number = node["metadata"].get("labels", {}).get(label, "").rpartition("-")[2]
    return int(number) if number.isdecimal() else None


def _rename(node: dict[str, Any], name: str) -> dict[str, Any]:
    old = node["metadata"]["name"]
    node["metadata"]["name"] = name
    node["metadata"]["labels"]["kubernetes.io/hostname"] = name
    node["spec"]["providerID"] = node["spec"]["providerID"].replace(old, name)
    for address in node["status"]["addresses"]:
        address["address"] = address["address"].replace(old, name)
    return node


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
    from kohort.simulator.stages import FAILED

    client = connect(arguments.name)
    _expect_nodes(client, arguments.node)
    for node in arguments.node:
        patch = {"metadata": {"annotations": {FAILED: value}}, "spec": spec}
        client.patch(f"{NODES}/{node}", patch)
        show(f"{node} {news}")
    return Exit.DONE


def _expect_nodes(client: Client, names: list[str]) -> None:
    """All names are checked before the first node is changed: a mistake changes nothing."""
    known = {node["metadata"]["name"] for node in client.read(NODES)["items"]}
    unknown = [name for name in names if name not in known]
    if unknown:
        near = suggest(unknown[0], known)
        there = "there is no node" if len(unknown) == 1 else "there are no nodes"
        raise Failure(f"{there} {', '.join(map(repr, unknown))}{near}; nothing was changed")


ADD = Command(_make_add_parser, _add)
FAIL = Command(_make_fail_parser, _fail)
RECOVER = Command(_make_recover_parser, _recover)
