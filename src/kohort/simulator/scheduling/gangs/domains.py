"""
The topology domains of the cluster, from HyperNodes, Topologies or node labels.

HyperNodes serve Volcano; the others tell domains apart by node labels: one that the
gang names, those of a KAI Topology, or those of Koordinator's layers. A forest is made
when a gang first needs it, and again when nodes or declarations changed.
"""

from kohort.apis.gangs.dialects.koordinator import read_layers
from kohort.cluster.objects import Kind, Object, name_of
from kohort.placement.forest import Forest, build_forest, build_label_forest
from kohort.placement.hypernodes import HyperNode, read_hypernode
from kohort.placement.layout import Layout
from kohort.placement.nodes import NodeIndex
from kohort.simulator.scheduling.gangs.membership import KAI, KOORDINATOR
from kohort.simulator.scheduling.gangs.requests import HYPERNODES, DomainSource


class Domains:
    """The objects that declare domains, and the layouts made from them."""

    def __init__(self, index: NodeIndex) -> None:
        self._index = index
        self._hypernodes: dict[str, HyperNode] = {}
        self._levels: dict[str, list[str]] = {}
        self._layers: dict[str, Object] = {}
        self._layouts: dict[DomainSource, Layout] = {}

    def put(self, kind: Kind, obj: Object) -> None:
        """Add or replace an object that declares domains."""
        spec: Object = obj.get("spec") or {}
        if kind.name == "HyperNode":
            declared = read_hypernode(obj)
            if self._hypernodes.get(declared.name) == declared:
                return
            self._hypernodes[declared.name] = declared
        elif kind.name == "Topology":
            self._levels[name_of(obj)] = [
                level["nodeLabel"] for level in spec.get("levels") or () if level.get("nodeLabel")
            ]
        else:
            self._layers[name_of(obj)] = obj
        self._layouts.clear()

    def drop(self, kind: Kind, name: str) -> None:
        """Remove an object that declares domains."""
        if kind.name == "HyperNode":
            self._hypernodes.pop(name, None)
        elif kind.name == "Topology":
            self._levels.pop(name, None)
        else:
            self._layers.pop(name, None)
        self._layouts.clear()

    def layout(self, domains: DomainSource) -> Layout:
        """The layout of one source of domains over the current nodes."""
        known = self._layouts.get(domains)
        if known is None or known.version != self._index.version:
            known = self._layouts[domains] = Layout(self._build(domains), self._index)
        return known

    def _build(self, domains: DomainSource) -> Forest:
        labels = {name: self._index.labels(slot) for name, slot in self._index.slots.items()}
        if domains == HYPERNODES:
            return build_forest(self._hypernodes.values(), labels)
        if domains[0] == KAI:
            return build_label_forest(self._levels.get(domains[1], []), labels)
        if domains[0] == KOORDINATOR:
            layers = [tier for tier in read_layers(self._layers.values()).all if tier.label]
            titles = {tier.label: tier.name for tier in layers}
            return build_label_forest([tier.label for tier in reversed(layers)], labels, titles)
        return build_label_forest([key for key in domains[1:] if key], labels)
