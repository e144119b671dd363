"""
This is where ``kohort sim node`` adds, loses, recovers and drains simulated nodes.

A drain breaks no disruption budget. Pods are evicted, not deleted: an eviction that a budget
forbids is tried again until it is allowed or the time is over.
"""

import argparse
import time
from typing import Any

from kohort.apiserver.host.client import Client, Refusal
from kohort.cli.connection import add_cluster, connect, connect_to, read_control
from kohort.cli.exits import Exit, TimedOut, UsageError
from kohort.cli.parser import Parser, some_time, whole
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.simulator.node_requests import NODES


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
    from kohort.simulator.node_requests import add_nodes

    if arguments.node and arguments.count:
        raise UsageError("give names or --count, not both")
    control = read_control(arguments.name)
    gpus: int = control["gpusPerNode"] if arguments.gpus is None else arguments.gpus
    names = arguments.node or arguments.count or 1
    for added in add_nodes(connect_to(control), names, gpus, arguments.rack):
        print(f"{added.name} added to rack-{added.rack} with {added.gpus} GPUs", flush=True)
    return Exit.DONE


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
    parser = Parser(
        prog, "bring nodes back: they answer again, and take pods", ("gpu-03", "gpu-03 gpu-04")
    )
    parser.add_argument("node", nargs="+", help="names")
    add_cluster(parser)
    return parser


def _fail(arguments: argparse.Namespace) -> int:
    from kohort.simulator.node_requests import fail_nodes

    for node in fail_nodes(connect(arguments.name), arguments.node):
        show(f"{node.name} has failed" if node.is_changed else f"{node.name} had failed already")
    return Exit.DONE


def _recover(arguments: argparse.Namespace) -> int:
    from kohort.simulator.node_requests import recover_nodes

    for node in recover_nodes(connect(arguments.name), arguments.node):
        healthy = f"{node.name} was healthy; nothing was changed"
        show(f"{node.name} has recovered" if node.is_changed else healthy)
    return Exit.DONE


ADD = Command(_make_add_parser, _add)
FAIL = Command(_make_fail_parser, _fail)
RECOVER = Command(_make_recover_parser, _recover)


_PAUSE_SECONDS = 0.2
_NOT_FOUND, _CONFLICT, _TOO_MANY = 404, 409, 429


def _make_drain_parser(prog: str) -> Parser:
    summary = "take no more pods on a node, evict those it has, and wait until they are gone"
    parser = Parser(prog, summary, ("gpu-03", "gpu-03 --timeout 10m"))
    parser.add_argument("node", help="its name")
    parser.add_argument(
        "--timeout", type=some_time, default=120.0, metavar="TIME", help="(default: 2m)"
    )
    add_cluster(parser)
    return parser


def _drain(arguments: argparse.Namespace) -> int:
    client = connect(arguments.name)
    node = arguments.node
    client.patch(f"{NODES}/{node}", {"spec": {"unschedulable": True}})
    print(f"{node} takes no more pods", flush=True)
    drain = Drain(client, node)
    end = time.monotonic() + arguments.timeout
    while drain.go_on():
        if time.monotonic() > end:
            raise TimedOut(f"{node} still has pods after {arguments.timeout:g} s: {drain.why()}")
        time.sleep(_PAUSE_SECONDS)
    print(f"{node} is empty")
    return Exit.DONE


class Drain:
    """Evicts the pods of one node, and remembers why evictions were refused."""

    def __init__(self, client: Client, node: str) -> None:
        self._client = client
        self._path = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}"
        self._evicted: set[str] = set()
        self._refusals: dict[str, str] = {}

    def go_on(self) -> bool:
        """Evict what may be evicted now; returns whether pods are left."""
        pods = [pod for pod in self._client.read(self._path)["items"] if _is_running(pod)]
        for pod in pods:
            if pod["metadata"]["uid"] not in self._evicted:
                self._evict(pod)
        return bool(pods)

    def why(self) -> str:
        """Why pods are left: the refusal of a disruption budget, or that evicted pods still end."""
        return next(iter(self._refusals.values()), "they have been evicted and are ending")

    def _evict(self, pod: dict[str, Any]) -> None:
        meta = pod["metadata"]
        label = f"{meta['namespace']}/{meta['name']}"
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
        names = {"name": meta["name"], "namespace": meta["namespace"]}
        # Another pod may take the name meanwhile, on another node.
        options = {"preconditions": {"uid": meta["uid"]}}
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": names,
            "deleteOptions": options,
        }
        try:
            self._client.create(path, body)
        except Refusal as refusal:
            if refusal.status not in (_NOT_FOUND, _CONFLICT, _TOO_MANY):
                raise
            if refusal.status == _TOO_MANY:
                self._note(label, str(refusal))
            return
        self._evicted.add(meta["uid"])
        self._refusals.pop(label, None)
        show(f"evicted {label}")

    def _note(self, label: str, reason: str) -> None:
        if label not in self._refusals:
            show(f"waiting for {label}: {reason}")
        self._refusals[label] = f"{label}: {reason}"


def _is_running(pod: dict[str, Any]) -> bool:
    return pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


DRAIN = Command(_make_drain_parser, _drain)
