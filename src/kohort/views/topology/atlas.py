"""
An atlas: the nodes of a cluster, the domains that they stand in, and the pods on them.

Domains are what HyperNodes declare. A cluster without them is shown by the labels of
its nodes: hosts as tier 0, and above them racks and spines, or zones and regions.
Everything is read from raw objects, so any cluster can be looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kohort.cluster.node_labels import HOST, RACK, REGION, SPINE, ZONE
from kohort.cluster.objects import Object, is_true, labels_of, name_of, namespace_of
from kohort.placement.amounts import read_amount
from kohort.placement.fits import read_domains
from kohort.placement.forest import ROOT, Forest
from kohort.placement.hypernodes import HyperNode
from kohort.placement.raw_objects import find_node, read_request

GPUS = "nvidia.com/gpu"
_LEVELS = {HOST: "host", RACK: "rack", SPINE: "spine", ZONE: "zone", REGION: "region"}


@dataclass(frozen=True, slots=True)
class Sitter:
    """A pod on a node."""

    namespace: str
    name: str
    node: str  # empty: it takes room on none
    gpus: int


@dataclass(frozen=True)
class Atlas:
    """The domains, nodes and pods of a cluster."""

    forest: Forest
    nodes: Mapping[str, Object]
    sitters: Mapping[str, tuple[Sitter, ...]]  # by node

    @cached_property
    def hosts(self) -> Mapping[int, tuple[str, ...]]:
        """The nodes that hang on each domain itself, not on one inside it."""
        found: dict[int, list[str]] = {}
        for name in sorted(self.nodes):
            found.setdefault(self.forest.chain(name)[0], []).append(name)
        return {domain: tuple(names) for domain, names in found.items()}

    def is_host(self, domain: int) -> bool:
        """Whether a domain is one node and nothing else."""
        forest = self.forest
        is_nearest = forest.tiers[domain] == 0 and domain != ROOT and not forest.children[domain]
        return is_nearest and len(self.hosts.get(domain, ())) == 1

    def count_room(self, node: str) -> tuple[int, int]:
        """How many GPUs are free on a node, and how many there are."""
        status: Object = self.nodes[node].get("status") or {}
        room = read_amount(
            GPUS, (status.get("allocatable") or status.get("capacity") or {}).get(GPUS, 0)
        )
        return room - sum(sitter.gpus for sitter in self.sitters.get(node, ())), room


def draw_atlas(
    nodes: Iterable[Object], pods: Iterable[Object], hypernodes: Sequence[Object] = ()
) -> Atlas:
    """The atlas of a cluster, from its objects."""
    return assemble_atlas(nodes, map(read_sitter, pods), hypernodes)


def read_sitter(pod: Object) -> Sitter:
    """A pod as one that may sit on a node."""
    gpus = read_request(pod).get(GPUS, 0)
    return Sitter(namespace_of(pod), name_of(pod), find_node(pod), gpus)


def assemble_atlas(
    nodes: Iterable[Object], sitters: Iterable[Sitter], hypernodes: Sequence[Object] = ()
) -> Atlas:
    """The same, of pods that have been read."""
    known = {name_of(node): node for node in nodes}
    if hypernodes:
        forest = read_domains(known.values(), hypernodes)
    else:
        forest = _grow_forest({name: labels_of(node) for name, node in known.items()})
    found_on: dict[str, list[Sitter]] = {}
    for sitter in sitters:
        if sitter.node in known:
            found_on.setdefault(sitter.node, []).append(sitter)
    assigned = {
        node: tuple(sorted(found, key=lambda s: (s.namespace, s.name)))
        for node, found in found_on.items()
    }
    return Atlas(forest, known, assigned)


def _grow_forest(labels: Mapping[str, Mapping[str, str]]) -> Forest:
    """Domains by labels: those that simulated nodes carry, or the usual ones."""
    ours = any(RACK in found or SPINE in found for found in labels.values())
    keys = [HOST, RACK, SPINE] if ours else [HOST, ZONE, REGION]
    keys = [k for k in keys if k == HOST or any(k in found for found in labels.values())]
    domains: dict[str, HyperNode] = {}
    parents: dict[str, str] = {}
    homes: dict[str, str] = {}
    for node in sorted(labels):
        inner = homes[node] = f"{_LEVELS[HOST]}/{node}"
        domains[inner] = HyperNode(inner, 0, _LEVELS[HOST])
        for tier, key in enumerate(keys[1:], 1):
            value = labels[node].get(key)
            if not value:
                continue
            outer = f"{_LEVELS[key]}/{value}"
            domains.setdefault(outer, HyperNode(outer, tier, _LEVELS[key]))
            # A rack of which two nodes name two spines stands under the first.
            parents.setdefault(inner, outer)
            inner = outer
    return Forest(domains.values(), parents, homes)


def name_domain(forest: Forest, domain: int) -> str:
    """A domain as people read it."""
    return "cluster" if domain == ROOT else forest.names[domain].split("/", 1)[-1]


def describe_node(node: Object) -> str:
    """What is the matter with a node; nothing if it takes pods."""
    words = [] if is_true(node, "Ready") else ["not ready"]
    if (node.get("spec") or {}).get("unschedulable"):
        words.append("cordoned")
    return ", ".join(words)
