"""
Packs members into a domain by free room: greedily first, exactly where that is cheap.

A batch goes down into the tightest inner domain that takes all of it; where none does,
the roomiest inner domains come first, so that few are used, and in each the fullest
nodes. That misses some mixtures of shapes that would fit; a small domain is then
searched through, within a number of steps.
"""

from collections.abc import Hashable

from kohort.placement.amounts import Amounts
from kohort.placement.layout import Layout
from kohort.placement.search import count_room
from kohort.placement.units import Assignment, Batch

RESCUE_NODES_MAX = 24
RESCUE_SHAPES_MAX = 3
RESCUE_STEPS_MAX = 20_000


class RoomTrial:
    """A trial that takes room in the index itself, and gives it back."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.assignments: list[Assignment] = []

    def fill(self, domain: int, batches: tuple[Batch, ...], needed: int) -> None:
        """Place as many members as fit; mixed requests that must all fit are searched exactly."""
        start = len(self.assignments)
        total = sum(len(batch.members) for batch in batches)
        for batch in _by_size(batches) if needed == total else batches:
            self._fill_batch(domain, batch)
        if needed == total and len(self.assignments) - start < total:
            self._rescue(domain, batches, start)

    def undo(self, count: int) -> None:
        """Undo placements until only so many are left."""
        index = self.layout.index
        while len(self.assignments) > count:
            assignment = self.assignments.pop()
            index.take(assignment.slot, assignment.batch.ask.request, -1)

    def _fill_batch(self, domain: int, batch: Batch) -> None:
        members = list(reversed(batch.members))
        wanted = min(len(members), count_room(self.layout, batch.ask, domain, batch.mask))
        if not wanted:
            return
        inner = self._descend(domain, batch, wanted)
        for part in self._split(inner, batch):
            on_node = self.layout.count(batch.ask).on_node
            slots = [s for s in self.layout.slots[part] if on_node[s] and batch.mask >> s & 1]
            slots.sort(key=on_node.__getitem__)
            for slot, fits in [(slot, on_node[slot]) for slot in slots]:
                for _ in range(min(fits, len(members))):
                    self._assign(batch, members.pop(), slot)
                if not members:
                    return

    def _descend(self, domain: int, batch: Batch, wanted: int) -> int:
        """The tightest inner domain that holds all members."""
        while True:
            fitting = []
            for child in self.layout.forest.children[domain]:
                room = count_room(self.layout, batch.ask, child, batch.mask)
                if room >= wanted:
                    fitting.append((room, self.layout.forest.names[child], child))
            if not fitting:
                return domain
            domain = min(fitting)[2]

    def _split(self, domain: int, batch: Batch) -> list[int]:
        """The inner domains to fill in order; the last entry has the nodes outside of them."""
        children = self.layout.forest.children[domain]
        rooms = [count_room(self.layout, batch.ask, child, batch.mask) for child in children]
        ranked = sorted(zip(rooms, children, strict=True), key=lambda pair: -pair[0])
        return [*(child for room, child in ranked if room), domain]

    def _assign(self, batch: Batch, member: Hashable, slot: int) -> None:
        self.layout.index.take(slot, batch.ask.request)
        self.assignments.append(Assignment(batch, member, slot))

    def _rescue(self, domain: int, batches: tuple[Batch, ...], start: int) -> None:
        slots = self.layout.slots[domain]
        asks = {batch.ask for batch in batches}
        if len(slots) > RESCUE_NODES_MAX or not 1 < len(asks) <= RESCUE_SHAPES_MAX:
            return
        greedy = self.assignments[start:]
        self.undo(start)
        ordered = _by_size(batches)
        found = _Puzzle(self.layout, slots, ordered).solve()
        if found is None:
            for assignment in greedy:
                self._assign(assignment.batch, assignment.member, assignment.slot)
            return
        items = [(batch, member) for batch in ordered for member in batch.members]
        for (batch, member), slot in zip(items, found, strict=True):
            self._assign(batch, member, slot)


def _by_size(batches: tuple[Batch, ...]) -> list[Batch]:
    """The batches by size of their requests, relative to the largest, in descending order."""
    largest: Amounts = {}
    for batch in batches:
        for name, amount in batch.ask.request.items():
            largest[name] = max(largest.get(name, 0), amount)

    def weight(batch: Batch) -> int:
        request = batch.ask.request
        return sum(1000 * request.get(name, 0) // most for name, most in largest.items() if most)

    return sorted(batches, key=lambda batch: -weight(batch))


class _Puzzle:
    """An exact search for a placement of items on nodes that skips equivalent states."""

    def __init__(self, layout: Layout, slots: list[int], batches: list[Batch]) -> None:
        names = sorted({name for batch in batches for name in batch.ask.request})
        index = layout.index
        self._slots = slots
        self._items = [at for at, batch in enumerate(batches) for _ in batch.members]
        self._asks = [tuple(b.ask.request.get(name, 0) for name in names) for b in batches]
        masks = [b.ask.rule.allowed(index) & b.mask for b in batches]
        # Nodes that are alike are interchangeable: same room, and open to the same batches.
        self._kinds = [tuple(mask >> slot & 1 for mask in masks) for slot in slots]
        self._free = [tuple(index.free[slot].get(name, 0) for name in names) for slot in slots]
        self._seen: set[tuple[object, ...]] = set()
        self._steps = 0
        self._chosen: list[int] = []

    def solve(self) -> list[int] | None:
        """The slot of each item in order; None if not all fit."""
        return [self._slots[at] for at in self._chosen] if self._go(0) else None

    def _go(self, item: int) -> bool:
        if item == len(self._items):
            return True
        state = (item, *sorted(zip(self._free, self._kinds, strict=True)))
        self._steps += 1
        if state in self._seen or self._steps > RESCUE_STEPS_MAX:
            return False
        self._seen.add(state)
        batch = self._items[item]
        tried = set()
        for at, (free, kind) in enumerate(zip(self._free, self._kinds, strict=True)):
            ask = self._asks[batch]
            is_short = any(need > max(have, 0) for have, need in zip(free, ask, strict=True))
            if is_short or not kind[batch] or (free, kind) in tried:
                continue
            tried.add((free, kind))
            self._free[at] = tuple(have - need for have, need in zip(free, ask, strict=True))
            self._chosen.append(at)
            if self._go(item + 1):
                return True
            self._chosen.pop()
            self._free[at] = free
        return False
