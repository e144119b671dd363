"""
The layout: a forest over the nodes of an index, and how many pods still fit into each domain.

For each shape (a request, and a rule which nodes will do) it counts how many more
pods each node takes, and each domain in sum. Only nodes whose room changed are
counted again, so asking is cheap after each pod that is placed. A sum is a promise
for pods of one shape alone: pods of several shapes compete.
"""

from collections.abc import Iterable
from typing import Protocol

from kohort.placement.amounts import Amounts
from kohort.placement.forest import Forest
from kohort.placement.nodes import NodeIndex, bits_of
from kohort.placement.rules import NodeRule

# Counts of more shapes than this are forgotten, the oldest first.
COUNTS_MAX = 128


class Ask(Protocol):
    """The requests and node rule that pods of one shape share."""

    @property
    def request(self) -> Amounts:
        """The requests of one pod."""

    @property
    def rule(self) -> NodeRule:
        """The nodes that the pods accept."""


class Counts:
    """How many more pods of one shape fit, on each node and in each domain."""

    def __init__(self, ask: Ask, layout: "Layout") -> None:
        self.ask = ask
        self._layout = layout
        self._needs = [(name, amount) for name, amount in ask.request.items() if amount]
        self.on_node: list[int] = []
        self.in_domain: list[int] = []
        self._epoch = -1
        self._at = 0

    def refresh(self) -> "Counts":
        """Bring them up to date."""
        index = self._layout.index
        if self._epoch != index.epoch or len(self.on_node) != len(index.states):
            self._epoch = index.epoch
            self.on_node = [0] * len(index.states)
            self.in_domain = [0] * len(self._layout.forest.names)
            changed: Iterable[int] = bits_of(self.ask.rule.allowed(index))
        elif self._at < len(index.log):
            allowed = self.ask.rule.allowed(index)
            changed = [slot for slot in set(index.log[self._at :]) if allowed >> slot & 1]
        else:
            return self
        self._at = len(index.log)
        for slot in changed:
            self._recount(slot)
        return self

    def _recount(self, slot: int) -> None:
        free = self._layout.index.free[slot]
        count = min([free.get(name, 0) // amount for name, amount in self._needs])
        delta = max(count, 0) - self.on_node[slot]
        if delta:
            self.on_node[slot] += delta
            for domain in self._layout.chains[slot]:
                self.in_domain[domain] += delta


class Layout:
    """A forest over nodes; made again when nodes or domains change."""

    def __init__(self, forest: Forest, index: NodeIndex) -> None:
        self.forest = forest
        self.index = index
        self.version = index.version
        self.chains: list[tuple[int, ...]] = [()] * len(index.states)
        self.slots: list[list[int]] = [[] for _ in forest.names]  # of each domain, by name
        self.masks: list[int] = [0] * len(forest.names)
        self._counts: dict[Ask, Counts] = {}
        for name in sorted(index.slots):
            slot = index.slots[name]
            self.chains[slot] = forest.chain(name)
            for domain in self.chains[slot]:
                self.slots[domain].append(slot)
                self.masks[domain] |= 1 << slot

    def count(self, ask: Ask) -> Counts:
        """The counts of a shape, up to date."""
        known = self._counts.get(ask)
        if known is None:
            if len(self._counts) >= COUNTS_MAX:
                del self._counts[next(iter(self._counts))]
            known = self._counts[ask] = Counts(ask, self)
        return known.refresh()
