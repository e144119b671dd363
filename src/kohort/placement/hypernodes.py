"""
HyperNodes: objects that declare the topology domains of a cluster.

Members are nodes or other HyperNodes. Nodes are named, matched by a pattern (found
anywhere in the name) or chosen by labels; HyperNodes can only be named. An empty
label selector selects no node, and a member that does not exist yet is no error.
A malformed object is no domain: its ``error`` says why, and the other objects count.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kohort.cluster.objects import Object, name_of
from kohort.cluster.patterns import BadPatternError, compile_pattern
from kohort.cluster.selectors import LabelSelector, read_label_selector

Labels = Mapping[str, Mapping[str, str]]  # the labels of each node, by its name


@dataclass(frozen=True, slots=True)
class NodesMember:
    """Nodes that belong to a HyperNode: one name, a pattern, or labels."""

    name: str = ""
    pattern: str = ""
    labels: LabelSelector | None = None


@dataclass(frozen=True, slots=True)
class HyperNode:
    """One declared domain."""

    name: str
    tier: int
    tier_name: str = ""
    inner: tuple[str, ...] = ()  # HyperNodes that belong to it
    nodes: tuple[NodesMember, ...] = ()
    error: str = ""  # why it cannot be read; empty if it can


def read_hypernode(obj: Object) -> HyperNode:
    """Read a HyperNode, even a malformed one."""
    try:
        return _read(obj)
    except (TypeError, ValueError, AttributeError, LookupError):
        name = name_of(obj)
        return HyperNode(name, 0, error=f"HyperNode {name} is malformed, and is left out")


def _read(obj: Object) -> HyperNode:
    spec: Object = obj.get("spec") or {}
    inner: list[str] = []
    nodes: list[NodesMember] = []
    for member in spec.get("members") or ():
        selector: Object = member.get("selector") or {}
        name = (selector.get("exactMatch") or {}).get("name", "")
        if member.get("type") == "HyperNode":
            inner.append(name)
        else:
            nodes.append(_read_member(name, selector))
    texts = [
        spec.get("tierName") or "",
        *inner,
        *(n.name for n in nodes),
        *(n.pattern for n in nodes),
    ]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a name is no text")
    return HyperNode(
        name_of(obj),
        int(spec.get("tier") or 0),
        spec.get("tierName") or "",
        tuple(name for name in inner if name),
        tuple(nodes),
    )


def _read_member(name: str, selector: Object) -> NodesMember:
    if name:
        return NodesMember(name)
    pattern = (selector.get("regexMatch") or {}).get("pattern", "")
    if pattern:
        return NodesMember(pattern=pattern)
    chosen = read_label_selector(selector.get("labelMatch") or {})
    return NodesMember(labels=chosen if chosen.requirements else None)


class NodeFinder:
    """Finds the nodes that members select, by indexes instead of a test of every node."""

    def __init__(self, nodes: Labels) -> None:
        self._nodes = nodes
        self._having: dict[tuple[str, str], list[str]] = {}
        self.errors: list[str] = []

    def find(self, hypernode: HyperNode) -> Iterator[str]:
        """The nodes that a HyperNode selects itself; a node may appear twice."""
        for member in hypernode.nodes:
            if member.name:
                yield from [member.name] if member.name in self._nodes else []
            elif member.pattern:
                yield from self._matching(hypernode.name, member.pattern)
            elif member.labels is not None:
                yield from self._labelled(member.labels)

    def _matching(self, owner: str, pattern: str) -> Iterable[str]:
        try:
            search = compile_pattern(pattern).search
        except BadPatternError as error:
            self.errors.append(f"HyperNode {owner}: the pattern {pattern!r} is wrong: {error}")
            return ()
        return [name for name in self._nodes if search(name)]

    def _labelled(self, selector: LabelSelector) -> Iterable[str]:
        exact = next((r for r in selector.requirements if r.operator == "In"), None)
        candidates: Iterable[str] = self._nodes
        if exact is not None:
            self._index(exact.key)
            candidates = [
                name for value in exact.values for name in self._having.get((exact.key, value), ())
            ]
        return [name for name in candidates if selector.matches(self._nodes[name])]

    def _index(self, key: str) -> None:
        if (key, "") in self._having:
            return
        self._having[(key, "")] = []
        for name, labels in self._nodes.items():
            if key in labels:
                self._having.setdefault((key, labels[key]), []).append(name)
