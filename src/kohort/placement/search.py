"""
The search for a domain: tier by tier, tightest domain first, with exact undo.

A gang goes to the lowest tier of its window that has a domain for it; the search does
not try wider tiers then. Inside a domain it places each subgroup in the same way, the
largest first, and if that fails in the order in which they were declared. Domains that
hold all members come before those that hold only the required number; equal domains come
by name. The search never goes back to try another domain for a subgroup that is placed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from kohort.placement.forest import ROOT
from kohort.placement.layout import Ask, Layout
from kohort.placement.units import EVERYWHERE, Assignment, Batch, Unit, Window, is_met

# The most domains of one tier that are tried; sums rule out most others.
TRIED_MAX = 32


class Trial(Protocol):
    """The interface for trial placements, which can be undone."""

    layout: Layout
    assignments: list[Assignment]  # taken so far, in order

    def fill(self, domain: int, batches: tuple[Batch, ...], needed: int) -> None:
        """Place as many members as fit into a domain, in the order of batches."""

    def undo(self, count: int) -> None:
        """Undo placements until only so many are left."""


def find_assignments(trial: Trial, unit: Unit, within: int = ROOT) -> int | None:
    """Place a unit in the best domain that fits; if none does, no member is placed."""
    start = len(trial.assignments)
    for domains in list_tiers(trial.layout, unit.window, within, unit.pinned):
        for domain in _rank(trial.layout, domains, unit):
            if _settle(trial, domain, unit):
                return domain
            trial.undo(start)
    return None


def list_tiers(
    layout: Layout, window: Window | None, within: int, pinned: int | None
) -> Iterator[list[int]]:
    """The candidate domains, tier by tier from near to far."""
    forest = layout.forest
    if window is None:
        yield [within]
        return
    if pinned is not None:
        for domain in forest.chain_of(pinned):
            if forest.tiers[domain] <= window.highest and forest.is_within(domain, within):
                yield [domain]
        return
    for tier, domains in forest.at_tier.items():
        if window.lowest <= tier <= window.highest:
            inside = domains
            if within != ROOT:
                inside = tuple(d for d in domains if forest.is_within(d, within))
            found = [d for d in inside if layout.slots[d]]
            if found:
                yield found


def _rank(layout: Layout, domains: list[int], unit: Unit) -> list[int]:
    """The domains that may have room, the tightest first."""
    batches = unit.all_batches()
    asked = _sum_asks(batches)
    size, needed = unit.size, unit.needed
    ranked = []
    for domain in domains:
        assignments = room = 0
        for (ask, mask), count in asked.items():
            fits = count_room(layout, ask, domain, mask)
            assignments += min(fits, count)
            room += fits
        if assignments >= needed:
            ranked.append((assignments < size, room, layout.forest.names[domain], domain))
    ranked.sort()
    return [domain for *_, domain in ranked[:TRIED_MAX]]


def _sum_asks(batches: Iterable[Batch]) -> dict[tuple[Ask, int], int]:
    asked: dict[tuple[Ask, int], int] = {}
    for batch in batches:
        key = (batch.ask, batch.mask)
        asked[key] = asked.get(key, 0) + len(batch.members)
    return asked


def count_room(layout: Layout, ask: Ask, domain: int, mask: int = EVERYWHERE) -> int:
    """How many members of one shape a domain takes, on the nodes of a mask."""
    counts = layout.count(ask)
    if mask == EVERYWHERE:
        return counts.in_domain[domain]
    return sum(counts.on_node[slot] for slot in layout.slots[domain] if mask >> slot & 1)


def _settle(trial: Trial, domain: int, unit: Unit) -> bool:
    """Place a unit in a domain; if that fails, the caller undoes the placements."""
    start = len(trial.assignments)
    if not unit.parts:
        trial.fill(domain, unit.batches, unit.needed)
        return is_met(unit, trial.assignments[start:], Counter())
    largest_first = sorted(unit.parts, key=lambda part: -part.size)
    orders = [largest_first]
    if largest_first != list(unit.parts):
        orders.append(list(unit.parts))
    for parts in orders:
        placed = _run_components(trial, domain, parts)
        left = unit.needed - (len(trial.assignments) - start)
        trial.fill(domain, unit.batches, max(0, left))
        if is_met(unit, trial.assignments[start:], placed):
            return True
        trial.undo(start)
    return False


def _run_components(trial: Trial, domain: int, parts: Iterable[Unit]) -> Counter[str]:
    placed: Counter[str] = Counter()
    for part in parts:
        if find_assignments(trial, part, domain) is not None:
            placed[part.policy] += 1
    return placed
