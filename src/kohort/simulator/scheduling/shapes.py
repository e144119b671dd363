"""
Shapes: shared data of pods with equal requests and equal node rules.

A shape knows which nodes have room for one more (``open``) and keeps them in a
heap, the emptiest first and equal ones by name. It reads the log of the node
index to learn which few nodes changed since it was last asked, so placing a pod
costs the same on ten nodes and on ten thousand. A pod with preferences looks at
some of the nodes only; sets that are asked for again get a heap of their own.
"""

import heapq
from collections.abc import Iterable

from kohort.placement.amounts import Amounts
from kohort.placement.nodes import NodeIndex, bits_of
from kohort.placement.rules import NodeRule

# With fewer candidates, rating each is faster than a search of the heap.
FEW = 48
SIDE_HEAPS_MAX = 8


class _Ranking:
    """A heap of nodes in order of preference."""

    __slots__ = ("_at", "_heap", "_request")

    def __init__(self, slots: Iterable[int], request: Amounts, index: NodeIndex) -> None:
        self._request = request
        self._at = len(index.log)
        self._heap = [self._item(slot, index) for slot in slots]
        heapq.heapify(self._heap)

    def catch_up(self, within: int, index: NodeIndex) -> None:
        """Rank changed nodes again; nodes outside the set are left out."""
        changed = index.log[self._at :]
        self._at = len(index.log)
        for slot in changed if len(changed) < 3 else set(changed):
            if within >> slot & 1:
                heapq.heappush(self._heap, self._item(slot, index))

    def search(self, mask: int, within: int, index: NodeIndex) -> tuple[int, int]:
        """The first node of a mask, and how many others were before it."""
        heap = self._heap
        skipped: list[tuple[int, str, int, int]] = []
        while True:
            _, _, slot, change = heap[0]
            if change != index.changes[slot] or not within >> slot & 1:
                heapq.heappop(heap)
            elif mask >> slot & 1:
                break
            else:
                skipped.append(heapq.heappop(heap))
        for item in skipped:
            heapq.heappush(heap, item)
        return slot, len(skipped)

    def is_bloated(self, index: NodeIndex) -> bool:
        """Whether stale items make up most of the heap."""
        return len(self._heap) > 256 + 8 * len(index.states)

    def _item(self, slot: int, index: NodeIndex) -> tuple[int, str, int, int]:
        rating = index.rate(slot, self._request)
        return -rating, index.name(slot), slot, index.changes[slot]


class Shape:
    """One request with one node rule."""

    __slots__ = ("_at", "_epoch", "_ranking", "_side", "_version", "open", "request", "rule")

    def __init__(self, rule: NodeRule, request: Amounts) -> None:
        self.rule = rule
        self.request = request
        self.open = 0
        self._ranking: _Ranking | None = None
        self._side: dict[int, _Ranking] = {}
        self._version = -1
        self._epoch = -1
        self._at = 0

    def refresh(self, index: NodeIndex) -> int:
        """Update the shape; returns the set of nodes with room."""
        if self._version != index.version or self._epoch != index.epoch:
            self._version, self._epoch = index.version, index.epoch
            self._side.clear()
            self._ranking = None
            self.open = 0
            changed: Iterable[int] = bits_of(self.rule.allowed(index))
        elif self._at < len(index.log):
            changed = index.log[self._at :]
        else:
            return self.open
        self._at = len(index.log)
        self._note(changed, index)
        return self.open

    def find_best(self, mask: int, index: NodeIndex) -> int | None:
        """The emptiest node of a mask, first by name; call ``refresh`` before."""
        mask &= self.open
        if not mask:
            return None
        if mask.bit_count() <= FEW:
            return min(bits_of(mask), key=lambda i: (-index.rate(i, self.request), index.name(i)))
        side = self._side.get(mask)
        if side is not None and not side.is_bloated(index):
            side.catch_up(mask, index)
            return side.search(mask, mask, index)[0]
        if self._ranking is None or self._ranking.is_bloated(index):
            self._ranking = _Ranking(bits_of(self.open), self.request, index)
        self._ranking.catch_up(self.open, index)
        slot, skipped = self._ranking.search(mask, self.open, index)
        if skipped > FEW:
            self._remember(mask, index)
        return slot

    def _note(self, changed: Iterable[int], index: NodeIndex) -> None:
        allowed = self.rule.allowed(index)
        for slot in changed:
            bit = 1 << slot
            if allowed & bit:
                if index.fits(slot, self.request):
                    self.open |= bit
                else:
                    self.open &= ~bit

    def _remember(self, mask: int, index: NodeIndex) -> None:
        if len(self._side) >= SIDE_HEAPS_MAX:
            del self._side[next(iter(self._side))]
        self._side[mask] = _Ranking(bits_of(mask), self.request, index)
