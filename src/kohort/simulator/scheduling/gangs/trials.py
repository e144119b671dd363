"""
Trial placements in the ledger, for members with inter-pod terms.

Affinity, anti-affinity, spreading and ports are counted while members are seated, so
each sees those before it. Members that want to stand together and have no neighbour yet
(the first of an exclusive group) are tried in one area of their topology after the
other, the tightest first: the first of them must not choose for all by itself.
"""

from collections.abc import Hashable, Iterable

from kohort.placement.layout import Layout
from kohort.placement.nodes import bits_of
from kohort.placement.search import TRIED_MAX
from kohort.placement.units import Assignment, Batch
from kohort.simulator.scheduling.constraints import find_constraints
from kohort.simulator.scheduling.counts.terms import Terms
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.ledger import Ledger


class LedgerTrial:
    """A trial whose placements are real in the ledger, until undone."""

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self.layout = layout
        self.ledger = ledger
        self.assignments: list[Assignment] = []

    def fill(self, domain: int, batches: tuple[Batch, ...], needed: int) -> None:
        """Place as many members as fit into a domain."""
        mask = self.layout.masks[domain]
        for company in _gather(batches):
            self._fill_company(mask, company)

    def undo(self, count: int) -> None:
        """Undo placements until only so many are left."""
        while len(self.assignments) > count:
            self.ledger.remove(_pod_of(self.assignments.pop().member))

    def _fill_company(self, mask: int, company: list[Batch]) -> None:
        start, size = len(self.assignments), sum(len(batch.members) for batch in company)
        most, best = 0, 0
        for area in self._find_areas(mask, company):
            self._fill_area(area, company)
            assigned = len(self.assignments) - start
            if assigned == size:
                return
            if assigned > most:
                most, best = assigned, area
            self.undo(start)
        if most:
            self._fill_area(best, company)

    def _fill_area(self, area: int, company: list[Batch]) -> None:
        index = self.layout.index
        for batch in company:
            for member in batch.members:
                pod = _pod_of(member)
                slot = self._choose(pod, batch, area)
                if slot is not None:
                    self.ledger.place(pod, index.name(slot))
                    self.assignments.append(Assignment(batch, member, slot))

    def _choose(self, pod: Demand, batch: Batch, area: int) -> int | None:
        """The fullest node that fits; of equal ones the first by name."""
        ledger, index = self.ledger, self.layout.index
        mask = area & batch.mask & pod.shape.refresh(index)
        if pod.ports:
            mask &= ~ledger.port_conflicts(pod)
        if mask and not pod.terms.is_empty:
            mask &= find_constraints(pod, ledger).allowed
        elif mask:
            mask &= ~ledger.holders.forbidden(pod)
        if not mask:
            return None
        on_node = self.layout.count(batch.ask).on_node
        return min(bits_of(mask), key=lambda slot: (on_node[slot], index.name(slot)))

    def _find_areas(self, mask: int, company: list[Batch]) -> list[int]:
        """The areas for members with affinity to each other: all nodes, or one domain at a time."""
        terms: Terms | None = company[0].terms
        if terms is None or not terms.affinity:
            return [mask]
        book = self.ledger.book
        first = _pod_of(company[0].members[0])
        assert terms.together is not None
        is_first = not any(book.fresh(tally).total for tally in terms.affinity)
        if not is_first or not book.means(terms.together, first):
            return [mask]
        areas = [mask]
        for tally in terms.affinity:
            values = self.layout.index.with_value.get(tally.key, {})
            areas = [area & nodes for area in areas for nodes in values.values() if area & nodes]
        return self._rank(areas, company)

    def _rank(self, areas: Iterable[int], company: list[Batch]) -> list[int]:
        """The areas that may hold all members, tightest first; then the others, roomiest first."""
        size = sum(len(batch.members) for batch in company)
        ranked = []
        for area in areas:
            fits = room = 0
            for batch in company:
                on_node = self.layout.count(batch.ask).on_node
                there = sum(on_node[slot] for slot in bits_of(area & batch.mask))
                fits += min(there, len(batch.members))
                room += there
            name = min(self.layout.index.name(slot) for slot in bits_of(area))
            ranked.append((fits < size, -fits, room, name, area))
        return [area for *_, area in sorted(ranked)[:TRIED_MAX]]


def _gather(batches: Iterable[Batch]) -> list[list[Batch]]:
    """Group the batches that have affinity to each other."""
    companies: dict[Hashable, list[Batch]] = {}
    for at, batch in enumerate(batches):
        terms: Terms | None = batch.terms
        key: Hashable = at
        if terms is not None and terms.affinity:
            key = (terms.together, tuple(tally.key for tally in terms.affinity))
        companies.setdefault(key, []).append(batch)
    return list(companies.values())


def _pod_of(member: Hashable) -> Demand:
    assert isinstance(member, Demand)
    return member
