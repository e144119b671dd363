"""
Nodes of a running cluster: added, lost and recovered through its Kubernetes API.

A node is added by creating it, and fails because an annotation says so.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from kohort.apiserver.host.client import Client
from kohort.cluster.errors import KohortError
from kohort.cluster.node_labels import RACK, SPINE
from kohort.cluster.timestamps import write_time
from kohort.simulator.nodes import NodeMake, make_node, name_node
from kohort.simulator.stages import FAILED

NODES = "/api/v1/nodes"


class UnknownNode(KohortError):
    """No node has this name; nothing was changed."""

    def __init__(self, names: Sequence[str], known: Sequence[str]) -> None:
        near = get_close_matches(names[0], known, n=1, cutoff=0.5)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        there = "there is no node" if len(names) == 1 else "there are no nodes"
        super().__init__(f"{there} {', '.join(map(repr, names))}{hint}; nothing was changed")


@dataclass(frozen=True, slots=True)
class AddedNode:
    """A node that was just created."""

    name: str
    rack: int
    gpus: int


@dataclass(frozen=True, slots=True)
class MarkedNode:
    """A node that was made to fail or to recover."""

    name: str
    is_changed: bool  # false: it was in this state already


def list_nodes(client: Client) -> list[str]:
    """The names of all nodes."""
    return [node["metadata"]["name"] for node in client.read(NODES)["items"]]


def add_nodes(
    client: Client, names: Sequence[str] | int, gpus: int, rack: int | None = None
) -> Iterator[AddedNode]:
    """Add nodes with these names, or so many with generated ones; by default in emptier racks."""
    known = client.read(NODES)["items"]
    racks = _count_nodes(known, RACK) or {0: 0}
    spines = _Spines(known)
    chosen = _free_names(known, names) if isinstance(names, int) else names
    for index, name in enumerate(chosen, len(known)):
        place = min(racks, key=racks.__getitem__) if rack is None else rack
        racks[place] = racks.get(place, 0) + 1
        stamp = write_time(datetime.now(UTC))
        node = make_node(index, NodeMake(gpus=gpus), stamp, place, spines.choose(place))
        client.create(NODES, _rename(node, name))
        yield AddedNode(name, place, gpus)


def fail_nodes(client: Client, names: Sequence[str]) -> Iterator[MarkedNode]:
    """Make nodes fail, as if they had lost power."""
    yield from _mark(client, names, make_failure())


def recover_nodes(client: Client, names: Sequence[str]) -> Iterator[MarkedNode]:
    """Make failed nodes recover, so that they run pods again."""
    yield from _mark(client, names, make_recovery())


def make_failure() -> dict[str, Any]:
    """The merge patch that makes a node fail."""
    return {"metadata": {"annotations": {FAILED: "true"}}, "spec": {}}


def make_recovery() -> dict[str, Any]:
    """The merge patch that makes a node recover."""
    return {"metadata": {"annotations": {FAILED: None}}, "spec": {"unschedulable": None}}


def _mark(client: Client, names: Sequence[str], patch: dict[str, Any]) -> Iterator[MarkedNode]:
    """Patch nodes; all names are checked first, so that a wrong name changes nothing."""
    known = {node["metadata"]["name"]: node for node in client.read(NODES)["items"]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownNode(unknown, list(known))
    for name in names:
        node = known[name]
        said = (node["metadata"].get("annotations") or {}).get(FAILED)
        is_marked = said == patch["metadata"]["annotations"][FAILED]
        is_changed = not is_marked or any(node["spec"].get(field) for field in patch["spec"])
        client.patch(f"{NODES}/{name}", patch)
        yield MarkedNode(name, is_changed)


class _Spines:
    """Chooses the spine of a rack: its own, or for a new rack the one with the fewest nodes."""

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
