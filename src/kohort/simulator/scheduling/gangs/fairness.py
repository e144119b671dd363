"""
Fairness: nodes are kept for a large gang that younger gangs overtook too often.

A gang that waits at the head and sees younger ones of its queue go past more often than a
set number of times gets nodes kept for it: in the domain where it lacks least, as many
as could hold it if they were empty. Gangs behind it may not use these nodes until it has
been placed, nor may single pods of the same scheduler; gangs before it may. For a gang
that would not fit even then no nodes are kept.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kohort.placement.forest import ROOT
from kohort.placement.layout import Ask, Layout
from kohort.placement.search import count_room, list_tiers
from kohort.placement.units import Unit
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.gangs.requests import GangKey, speaks
from kohort.simulator.scheduling.gangs.roster import Gang, Order

# How often younger gangs of a queue may overtake a gang.
PASSED_MAX = 4


@dataclass(frozen=True, slots=True)
class Kept:
    """Nodes that are kept for a gang."""

    key: GangKey
    order: Order
    mask: int
    version: int  # of the nodes, when they were chosen

    def describe(self) -> str:
        """The message for gangs that may not use these nodes."""
        return f"nodes are kept for {self.key.name}, which was passed over too often"


class Fairness:
    """Counts of overtaken gangs, and the nodes kept for one gang of each queue."""

    def __init__(self) -> None:
        self._passed: Counter[GangKey] = Counter()
        self._kept: dict[str, Kept] = {}

    def note_commit(self, placed: Gang, waiting: Iterable[Gang]) -> list[Gang]:
        """Note a placed gang; returns the gangs before it that were overtaken too often."""
        order, queue = placed.order, _queue_of(placed)
        passed = [
            other
            for other in waiting
            if other is not placed and other.order < order and _queue_of(other) == queue
        ]
        for other in passed:
            self._passed[other.key] += 1
        return [other for other in passed if self._passed[other.key] > PASSED_MAX]

    def forget(self, key: GangKey) -> int:
        """Forget a gang that waits no longer; returns the nodes that were kept for it."""
        self._passed.pop(key, None)
        mask = 0
        for queue in [queue for queue, kept in self._kept.items() if kept.key == key]:
            mask |= self._kept.pop(queue).mask
        return mask

    def find_kept(self, gang: Gang) -> Kept | None:
        """The nodes that a gang may not use, since they are kept for an earlier one."""
        kept = self._kept.get(_queue_of(gang))
        if kept is None or kept.key == gang.key or gang.order < kept.order:
            return None
        return kept

    def list_kept_from(self, pod: Demand) -> list[Kept]:
        """The nodes that a single pod may not use, since they are kept for earlier gangs."""
        return [
            kept
            for kept in self._kept.values()
            if speaks(pod.profile, kept.key.dialect)
            and (-pod.priority, pod.created) > (kept.order[0], kept.order[2])
        ]

    def keep(self, gang: Gang, unit: Unit, layout: Layout) -> int:
        """Keep nodes for a gang that was overtaken too often; returns those no longer kept."""
        queue = _queue_of(gang)
        kept = self._kept.get(queue)
        if self._passed[gang.key] <= PASSED_MAX or (kept and kept.key != gang.key):
            return 0
        if kept is not None and kept.version == layout.version:
            return 0
        mask = _choose_nodes(unit, layout)
        if not mask:
            return 0
        self._kept[queue] = Kept(gang.key, gang.order, mask, layout.version)
        return kept.mask & ~mask if kept else 0


def _queue_of(gang: Gang) -> str:
    spec = gang.object
    return f"{gang.key.dialect}/{spec.queue if spec else ''}"


def _choose_nodes(unit: Unit, layout: Layout) -> int:
    asked: Counter[Ask] = Counter()
    for batch in unit.all_batches():
        asked[batch.ask] += len(batch.members)
    best: tuple[int, int, str] | None = None
    chosen = -1
    for domains in list_tiers(layout, unit.window, ROOT, unit.pinned):
        for domain in domains:
            if not _could_hold(asked, layout, domain):
                continue
            has = sum(min(count_room(layout, a, domain), n) for a, n in asked.items())
            rank = (-has, len(layout.slots[domain]), layout.forest.names[domain])
            if best is None or rank < best:
                best, chosen = rank, domain
    return _narrow(asked, layout, chosen) if best is not None else 0


def _could_hold(asked: Counter[Ask], layout: Layout, domain: int) -> bool:
    """Whether a domain would have room if it were empty."""
    return all(
        sum(_capacity(ask, layout, slot) for slot in layout.slots[domain]) >= count
        for ask, count in asked.items()
    )


def _capacity(ask: Ask, layout: Layout, slot: int) -> int:
    state = layout.index.states[slot]
    if state is None or not ask.rule.allowed(layout.index) >> slot & 1:
        return 0
    return min(state.allocatable.get(name, 0) // n for name, n in ask.request.items() if n)


def _narrow(asked: Counter[Ask], layout: Layout, domain: int) -> int:
    """As many nodes of a domain as the gang needs, those with most room first."""
    main = max(asked, key=lambda ask: asked[ask])
    on_node = layout.count(main).on_node
    mask, room, size = 0, 0, sum(asked.values())
    for slot in sorted(layout.slots[domain], key=lambda slot: -on_node[slot]):
        takes = [count for ask in asked if (count := _capacity(ask, layout, slot))]
        if takes and room < size:
            mask |= 1 << slot
            room += min(takes)
    return mask
