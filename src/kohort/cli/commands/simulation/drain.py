"""
This is where a simulated node is emptied, without breaking a disruption budget.

Pods are evicted, not deleted: an eviction that a budget forbids is tried again
until it is allowed or the time is over.
"""

import argparse
import time
from typing import Any

from kohort.apiserver.host.client import Client, Refusal
from kohort.cli.connection import add_cluster, connect
from kohort.cli.exits import Exit, TimedOut
from kohort.cli.parser import Parser, some_time
from kohort.cli.table import Command
from kohort.cli.terminal import show
from kohort.simulator.node_requests import NODES

_PAUSE_SECONDS = 0.2
_NOT_FOUND, _CONFLICT, _TOO_MANY = 404, 409, 429


def _make_parser(prog: str) -> Parser:
    summary = "take no more pods on a node, evict those it has, and wait until they are gone"
    parser = Parser(prog, summary, ("gpu-03", "gpu-03 --timeout 10m"))
    parser.add_argument("node", help="its name")
    parser.add_argument(
        "--timeout", type=some_time, default=120.0, metavar="TIME", help="(default: 2m)"
    )
    add_cluster(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
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


DRAIN = Command(_make_parser, _run)
