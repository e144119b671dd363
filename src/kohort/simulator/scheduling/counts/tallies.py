"""
Tallies: counts of matching placed pods in each domain of a topology key.

Affinity, anti-affinity and spreading all ask that question. A tally keeps the
nodes grouped by their domain's count, as bitsets, so the answer to "where is
at least one" or "where are at most two" is a few integer operations. The book
finds the tallies that a pod belongs to by its labels and never walks them all.
Changed nodes make a tally stale; it is counted again when next used.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from kohort.cluster.selectors import Requirement
from kohort.placement.nodes import NodeIndex
from kohort.simulator.scheduling.counts.selectors import Matcher

_Key = TypeVar("_Key")


class Counted(Protocol):
    """The fields of a placed pod that tallies need."""

    uid: str
    namespace: str
    labels: dict[str, str]
    slot: int
    is_leaving: bool


class Eligibility(Protocol):
    """Which nodes take part in a count."""

    def mask(self, index: NodeIndex) -> int:
        """The nodes whose pods and domains count."""


class Tally:
    """Counts by domain of one topology key."""

    __slots__ = (
        "at_level",
        "counts",
        "eligible",
        "key",
        "listeners",
        "present",
        "total",
        "users",
        "version",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.version = -1
        self.eligible = -1
        self.users = 0
        self.listeners: set[object] = set()
        self.reset(-1, -1)

    def reset(self, version: int, eligible: int) -> None:
        """Set all counts to zero."""
        self.version, self.eligible = version, eligible
        self.counts: dict[str, int] = {}
        self.at_level: dict[int, int] = {}
        self.present = 0
        self.total = 0

    def add(self, slot: int, change: int, index: NodeIndex) -> None:
        """Count a pod on a node, or take it back with a change of -1."""
        if not self.eligible >> slot & 1:
            return
        value = index.labels(slot).get(self.key)
        if value is None:
            return
        domain = index.with_value[self.key][value] & self.eligible
        before = self.counts.get(value, 0)
        after = before + change
        self.total += change
        if before:
            self.at_level[before] &= ~domain
            if not self.at_level[before]:
                del self.at_level[before]
        if after:
            self.counts[value] = after
            self.at_level[after] = self.at_level.get(after, 0) | domain
            self.present |= domain
        else:
            del self.counts[value]
            self.present &= ~domain

    def absent(self, index: NodeIndex) -> int:
        """The nodes that have the topology key, in domains without such a pod."""
        return index.with_key.get(self.key, 0) & self.eligible & ~self.present

    def where_more_than(self, other: "Tally | None", index: NodeIndex) -> int:
        """The nodes in whose domain this count is higher than that of a subset."""
        mask = self.present
        for value, count in other.counts.items() if other else ():
            if self.counts.get(value, 0) <= count:
                mask &= ~index.with_value.get(self.key, {}).get(value, 0)
        return mask


class PodTally(Tally):
    """Counts the pods that a matcher selects."""

    __slots__ = ("counts_leaving", "eligibility", "matcher")

    def __init__(
        self,
        matcher: Matcher,
        key: str,
        eligibility: Eligibility | None = None,
        *,
        counts_leaving: bool = True,
    ) -> None:
        super().__init__(key)
        self.matcher = matcher
        self.eligibility = eligibility
        self.counts_leaving = counts_leaving


class TallyBook:
    """All tallies, and the placed pods by the labels that tallies read."""

    def __init__(self, index: NodeIndex) -> None:
        self.index = index
        self.namespaces: dict[str, dict[str, str]] = {}
        self.woken: set[object] = set()
        self.label_keys: Counter[str] = Counter()  # how many selectors read a label
        self._pods: dict[str, Counted] = {}
        self._tallies: dict[object, PodTally] = {}
        self._by_pair: dict[tuple[str, str], list[PodTally]] = {}
        self._by_key: dict[str, list[PodTally]] = {}
        self._unhooked: list[PodTally] = []
        self._pods_with: dict[str, dict[str, dict[str, Counted]]] = {}

    def open(self, tally: PodTally) -> PodTally:
        """An equal tally that exists, or this one; counts one more user of it."""
        key = (tally.matcher, tally.key, tally.eligibility, tally.counts_leaving)
        known = self._tallies.get(key)
        if known is None:
            known = self._tallies[key] = tally
            self.name_keys(list_keys(tally.matcher))
            for group in self._groups(tally):
                group.append(tally)
        known.users += 1
        return known

    def close(self, tally: PodTally) -> None:
        """Count one user less; a tally without users is removed."""
        tally.users -= 1
        if tally.users:
            return
        del self._tallies[(tally.matcher, tally.key, tally.eligibility, tally.counts_leaving)]
        for group in self._groups(tally):
            group.remove(tally)
        self.unname_keys(list_keys(tally.matcher))
        hook = find_hook(tally.matcher)
        if hook is not None:
            drop_empty(self._by_key, [hook.key])
            drop_empty(self._by_pair, [(hook.key, value) for value in hook.values])

    def name_keys(self, keys: Iterable[str]) -> None:
        """Note that one more selector reads these labels."""
        for key in keys:
            self.label_keys[key] += 1
            if key not in self._pods_with:
                groups: dict[str, dict[str, Counted]] = {}
                self._pods_with[key] = groups
                for pod in self._pods.values():
                    if key in pod.labels:
                        groups.setdefault(pod.labels[key], {})[pod.uid] = pod

    def unname_keys(self, keys: Iterable[str]) -> None:
        """Note that one selector less reads these labels; unread labels are dropped."""
        for key in keys:
            self.label_keys[key] -= 1
            if not self.label_keys[key]:
                del self.label_keys[key], self._pods_with[key]

    def add(self, pod: Counted) -> None:
        """Count a pod that was placed on a node."""
        self._pods[pod.uid] = pod
        for key, value in pod.labels.items():
            if key in self.label_keys:
                self._pods_with[key].setdefault(value, {})[pod.uid] = pod
        self._count(pod, 1)

    def remove(self, pod: Counted) -> None:
        """Take a pod out again; its labels and slot must be those it was added with."""
        del self._pods[pod.uid]
        for key, value in pod.labels.items():
            if key in self.label_keys:
                group = self._pods_with[key][value]
                del group[pod.uid]
                if not group:
                    del self._pods_with[key][value]
        self._count(pod, -1)

    def fresh(self, tally: PodTally) -> PodTally:
        """The tally, counted again if nodes changed since."""
        if tally.version != self.index.version:
            self._recount(tally)
        return tally

    def recount_all(self) -> None:
        """Make every tally stale, because the labels of a namespace changed."""
        for tally in self._tallies.values():
            tally.version = -1

    def all(self) -> Iterable[PodTally]:
        """Every tally in use."""
        return self._tallies.values()

    def means(self, matcher: Matcher, pod: Counted) -> bool:
        """Whether a matcher selects a pod."""
        return matcher.matches(pod.namespace, pod.labels, self.namespaces)

    def _count(self, pod: Counted, change: int) -> None:
        for tally in self._touched(pod.labels):
            if tally.version != self.index.version:
                self.woken |= tally.listeners
                continue
            if pod.is_leaving and not tally.counts_leaving:
                continue
            if tally.matcher.matches(pod.namespace, pod.labels, self.namespaces):
                tally.add(pod.slot, change, self.index)
                if tally.listeners:
                    self.woken |= tally.listeners

    def _touched(self, labels: dict[str, str]) -> list[PodTally]:
        found = list(self._unhooked)
        if self._by_pair or self._by_key:
            for pair in labels.items():
                found += self._by_pair.get(pair, ())
                found += self._by_key.get(pair[0], ())
        return found

    def _recount(self, tally: PodTally) -> None:
        index = self.index
        eligible = tally.eligibility.mask(index) if tally.eligibility else index.everywhere
        tally.reset(index.version, eligible)
        for pod in self._candidates(tally):
            if pod.is_leaving and not tally.counts_leaving:
                continue
            if tally.matcher.matches(pod.namespace, pod.labels, self.namespaces):
                tally.add(pod.slot, 1, index)

    def _candidates(self, tally: PodTally) -> Iterable[Counted]:
        hook = find_hook(tally.matcher)
        groups = self._pods_with.get(hook.key) if hook else None
        if hook is None or groups is None:
            return self._pods.values()
        values = hook.values if hook.operator == "In" else groups
        return [pod for value in values for pod in groups.get(value, {}).values()]

    def _groups(self, tally: PodTally) -> list[list[PodTally]]:
        """The lists in which a tally stands, so that the pods it may mean find it."""
        hook = find_hook(tally.matcher)
        if hook is None:
            return [self._unhooked]
        if hook.operator == "Exists":
            return [self._by_key.setdefault(hook.key, [])]
        return [self._by_pair.setdefault((hook.key, value), []) for value in hook.values]


def drop_empty(shelves: dict[_Key, Any], keys: Iterable[_Key]) -> None:
    """Remove empty groups, since the next tally may have another key."""
    for key in keys:
        if key in shelves and not shelves[key]:
            del shelves[key]


def list_keys(matcher: Matcher) -> list[str]:
    """The label keys that a matcher reads, once for each requirement."""
    return [r.key for _, selector in matcher.pairs for r in selector.requirements]


def find_hook(matcher: Matcher) -> Requirement | None:
    """The requirement by which matching pods are found fastest."""
    wanted = [r for _, selector in matcher.pairs for r in selector.requirements]
    exact = [r for r in wanted if r.operator == "In"]
    if exact:
        return min(exact, key=lambda r: len(r.values))
    return next((r for r in wanted if r.operator == "Exists"), None)
