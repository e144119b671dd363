"""
The node index: capacity, free room, labels and taints of all nodes, with bitsets.

A set of nodes is one integer with a bit for each node's slot, so a question to
a thousand nodes is a few machine words. Two counters show callers what has changed:
``version`` rises when labels, taints or the set of nodes change (then masks are
computed again), and ``log`` names the slots whose free room changed (then only
those are looked at again).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kohort.placement.amounts import Amounts

_Key = TypeVar("_Key", str, "Taint")

PODS = "pods"
# The assumed use of a container without requests, for the comparison of nodes.
CPU_GUESSED, MEMORY_GUESSED = 100, 200 * 2**20


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class NodeState:
    """The fields of a node that placement needs."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    is_cordoned: bool
    allocatable: Amounts


class NodeIndex:
    """All nodes, by slot."""

    def __init__(self) -> None:
        self.version = 0
        self.epoch = 0
        self.log: list[int] = []
        self.slots: dict[str, int] = {}
        self.states: list[NodeState | None] = []
        self.free: list[Amounts] = []
        self.busy: list[list[int]] = []  # CPU and memory in use, guesses included
        self.changes: list[int] = []  # how often the free room of a slot changed
        self.everywhere = 0
        self.cordoned = 0
        self.with_key: dict[str, int] = {}
        self.with_value: dict[str, dict[str, int]] = {}
        self.with_taint: dict[Taint, int] = {}
        self._spare: list[int] = []

    def put(self, state: NodeState) -> int:
        """Add or update a node; returns its slot."""
        slot = self.slots.get(state.name)
        if slot is None:
            slot = self._claim_slot(state)
            self._index(slot, state)
            return slot
        old = self.states[slot]
        assert old is not None
        self.states[slot] = state
        if (old.labels, old.taints, old.is_cordoned) != (
            state.labels,
            state.taints,
            state.is_cordoned,
        ):
            self._unindex(slot, old)
            self._index(slot, state)
        if old.allocatable != state.allocatable:
            self._resize(slot, old.allocatable, state.allocatable)
        return slot

    def drop(self, name: str) -> int:
        """Remove a node; returns its former slot."""
        slot = self.slots.pop(name)
        state = self.states[slot]
        assert state is not None
        self._unindex(slot, state)
        self.states[slot] = None
        self._spare.append(slot)
        return slot

    def take(self, slot: int, request: Amounts, sign: int = 1) -> None:
        """Take room on a node, or give it back with a sign of -1."""
        free = self.free[slot]
        for name, amount in request.items():
            free[name] = free.get(name, 0) - sign * amount
        busy = self.busy[slot]
        busy[0] += sign * (request.get("cpu") or CPU_GUESSED)
        busy[1] += sign * (request.get("memory") or MEMORY_GUESSED)
        self._note(slot)

    def fits(self, slot: int, request: Amounts) -> bool:
        """Whether a node has room for a request."""
        free = self.free[slot]
        return all(free.get(name, 0) >= amount for name, amount in request.items() if amount)

    def rate(self, slot: int, request: Amounts) -> int:
        """How empty a node would be with the request on it, from 0 to 20,000."""
        state = self.states[slot]
        assert state is not None
        total = 0
        for place, (name, guess) in enumerate((("cpu", CPU_GUESSED), ("memory", MEMORY_GUESSED))):
            limit = state.allocatable.get(name, 0)
            used = self.busy[slot][place] + (request.get(name) or guess)
            if limit > used:
                total += (limit - used) * 10000 // limit
        return total

    def name(self, slot: int) -> str:
        """The name of the node in a slot."""
        state = self.states[slot]
        assert state is not None
        return state.name

    def labels(self, slot: int) -> Mapping[str, str]:
        """The labels of the node in a slot."""
        state = self.states[slot]
        assert state is not None
        return state.labels

    def _claim_slot(self, state: NodeState) -> int:
        if self._spare:
            slot = self._spare.pop()
            self.states[slot] = state
        else:
            slot = len(self.states)
            self.states.append(state)
            self.free.append({})
            self.busy.append([0, 0])
            self.changes.append(0)
        self.slots[state.name] = slot
        self.free[slot] = dict(state.allocatable)
        self.busy[slot] = [0, 0]
        return slot

    def _resize(self, slot: int, old: Amounts, new: Amounts) -> None:
        free = self.free[slot]
        for name in {*old, *new}:
            free[name] = free.get(name, 0) + new.get(name, 0) - old.get(name, 0)
        self._note(slot)

    def _note(self, slot: int) -> None:
        self.changes[slot] += 1
        self.log.append(slot)
        if len(self.log) > 4096 + 4 * len(self.states):
            self.log.clear()
            self.epoch += 1

    def _index(self, slot: int, state: NodeState) -> None:
        bit = 1 << slot
        self.everywhere |= bit
        if state.is_cordoned:
            self.cordoned |= bit
        for key, value in state.labels.items():
            self.with_key[key] = self.with_key.get(key, 0) | bit
            values = self.with_value.setdefault(key, {})
            values[value] = values.get(value, 0) | bit
        for taint in state.taints:
            self.with_taint[taint] = self.with_taint.get(taint, 0) | bit
        self.version += 1

    def _unindex(self, slot: int, state: NodeState) -> None:
        keep = ~(1 << slot)
        self.everywhere &= keep
        self.cordoned &= keep
        for key, value in state.labels.items():
            _take_out(self.with_key, key, keep)
            values = self.with_value[key]
            _take_out(values, value, keep)
            if not values:
                del self.with_value[key]
        for taint in state.taints:
            _take_out(self.with_taint, taint, keep)
        self.version += 1


def _take_out(sets: dict[_Key, int], key: _Key, keep: int) -> None:
    """Remove a node from a set, and the set if it becomes empty."""
    sets[key] &= keep
    if not sets[key]:
        del sets[key]


def bits_of(mask: int) -> Iterator[int]:
    """The slots in a set of nodes, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
