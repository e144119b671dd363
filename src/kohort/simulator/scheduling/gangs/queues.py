"""
Queues of Volcano: which gangs are admitted, before the scheduler searches for room.

A Volcano group waits until its queue is open and has room under its capability, and until
all admitted groups together request at most 1.2 times the cluster. The request of a group
is its minResources; a group without them is admitted at once.
"""

from dataclasses import dataclass

from kohort.cluster.objects import Object, name_of
from kohort.placement.amounts import Amounts, read_amounts
from kohort.placement.nodes import NodeIndex
from kohort.simulator.scheduling.gangs.requests import VOLCANO, GangKey, GangSpec
from kohort.simulator.scheduling.gangs.roster import Gang

OVERUSED = "resource in cluster is overused"
OVER_QUOTA = "queue resource quota insufficient"
# Volcano's default overcommit factor: the share of the cluster that it promises to groups.
_PROMISED, _OF = 12, 10


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue."""

    name: str
    is_open: bool = True
    capability: Amounts | None = None
    is_fifo: bool = False


def read_queue(obj: Object) -> Queue:
    """A Queue of scheduling.volcano.sh."""
    spec: Object = obj.get("spec") or {}
    state = (obj.get("status") or {}).get("state") or "Open"
    cap = spec.get("capability")
    return Queue(
        name_of(obj),
        state == "Open",
        None if cap is None else read_amounts(cap),
        spec.get("dequeueStrategy") == "fifo",
    )


class Queues:
    """All queues, and the admission of gangs."""

    def __init__(self, index: NodeIndex) -> None:
        self.known: dict[str, Queue] = {}
        self.is_served = False  # whether the cluster serves queues
        self._index = index
        self._at: tuple[int, int, int] = (-1, -1, -1)
        self._left: Amounts = {}
        self._shares: dict[GangKey, _Share] = {}
        self._promised: Amounts = {}  # requests of all admitted gangs that wait
        self._taken: dict[str, Amounts] = {}  # by queue: what its gangs use or were promised
        self._used: dict[str, Amounts] = {}  # by queue: what its gangs use

    def update(self, gang: Gang) -> None:
        """Update the counts of a queue after a change of a gang."""
        self.drop(gang.key)
        spec = gang.object
        if spec is None or spec.key.dialect != VOLCANO:
            return
        share = _Share(spec.queue, _sum_requests(gang), _find_promise(gang, spec))
        self._shares[gang.key] = share
        self._count(share, 1)

    def drop(self, key: GangKey) -> None:
        """Remove a gang from the counts of its queue."""
        share = self._shares.pop(key, None)
        if share is not None:
            self._count(share, -1)

    def _count(self, share: "_Share", sign: int) -> None:
        used = self._used.setdefault(share.queue, {})
        taken = self._taken.setdefault(share.queue, {})
        for total, amounts in (
            (used, share.used),
            (taken, share.used),
            (taken, share.promised),
            (self._promised, share.promised),
        ):
            for name, amount in amounts.items():
                total[name] = total.get(name, 0) + sign * amount

    def is_fifo(self, spec: GangSpec) -> bool:
        """Whether the first gang of the queue blocks the others."""
        queue = self.known.get(spec.queue)
        return spec.key.dialect == VOLCANO and queue is not None and queue.is_fifo

    def find_objection(self, gang: Gang, spec: GangSpec) -> str:
        """Why a gang is not admitted; empty if it is."""
        if spec.key.dialect != VOLCANO or gang.admitted:
            return ""
        queue = self.known.get(spec.queue, Queue(spec.queue))
        if self.is_served and spec.queue not in self.known:
            return f"queue {spec.queue} is not found"
        if not queue.is_open:
            return f"queue {spec.queue} is not open"
        if spec.resources is None:
            return ""
        if queue.capability is not None:
            taken = self._taken.get(spec.queue, {})
            if not _fits(spec.resources, _subtract(queue.capability, taken)):
                return OVER_QUOTA
        left = _subtract(self._count_left(), self._promised)
        # Resources that no node has count as zero; other names are ignored.
        absent = {name: 0 for name in spec.resources if "/" in name and name not in left}
        return "" if _fits(spec.resources, {**left, **absent}) else OVERUSED

    def exceeds(self, spec: GangSpec, more: Amounts) -> bool:
        """Whether a queue would exceed its capability with so much more."""
        queue = self.known.get(spec.queue)
        if spec.key.dialect != VOLCANO or queue is None or queue.capability is None:
            return False
        return not _fits(more, _subtract(queue.capability, self._used.get(queue.name, {})))

    def _count_left(self) -> Amounts:
        """The resources that may still be promised: 1.2 times the cluster, minus what is used."""
        index = self._index
        at = (index.version, index.epoch, len(index.log))
        if at != self._at:
            total: Amounts = {}
            used: Amounts = {}
            for slot in index.slots.values():
                state = index.states[slot]
                assert state is not None
                for name, amount in state.allocatable.items():
                    total[name] = total.get(name, 0) + amount
                    free = index.free[slot].get(name, 0)
                    used[name] = used.get(name, 0) + amount - free
            self._left = {n: a * _PROMISED // _OF - used[n] for n, a in total.items()}
            self._at = at
        return self._left


@dataclass(frozen=True, slots=True)
class _Share:
    """What one gang uses of its queue, and what it was promised and waits for."""

    queue: str
    used: Amounts
    promised: Amounts


def _find_promise(gang: Gang, spec: GangSpec) -> Amounts:
    is_waiting = gang.admitted and gang.count() < spec.minimum
    return (spec.resources or {}) if is_waiting else {}


def _sum_requests(gang: Gang) -> Amounts:
    total: Amounts = {}
    for pod in gang.placed.values():
        for name, amount in pod.shape.request.items():
            total[name] = total.get(name, 0) + amount
    return total


def _subtract(amounts: Amounts, less: Amounts) -> Amounts:
    return {name: amount - less.get(name, 0) for name, amount in amounts.items()}


def _fits(asked: Amounts, left: Amounts) -> bool:
    """Whether enough is left of each requested resource that has a limit."""
    return all(left[name] >= amount for name, amount in asked.items() if amount and name in left)
