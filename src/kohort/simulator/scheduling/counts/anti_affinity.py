"""
Holders: placed pods whose anti-affinity keeps other pods away, counted by domain.

Holders are counted by family (same selector apart from one exclusion, same
topology key). A family keeps one count of all holders and one for each excluded
value, so that a pod of group A asks "holders here, less those that exclude A"
instead of walking the terms of every group.
"""

from kohort.simulator.scheduling.counts.tallies import (
    Counted,
    Tally,
    TallyBook,
    drop_empty,
    find_hook,
    list_keys,
)
from kohort.simulator.scheduling.counts.terms import HeldTerm, TermKey


class _TermHolders:
    """The holders of one family of anti-affinity terms."""

    __slots__ = ("everyone", "excluding", "holders", "key")

    def __init__(self, key: TermKey) -> None:
        self.key = key
        self.everyone = Tally(key.topology_key)
        self.excluding: dict[str, Tally] = {}
        self.holders: dict[tuple[str, HeldTerm], Counted] = {}


class Holders:
    """All families of terms, looked up by the labels of a new pod."""

    def __init__(self, book: TallyBook) -> None:
        self._book = book
        self._families: dict[TermKey, _TermHolders] = {}
        self._by_pair: dict[tuple[str, str], dict[TermKey, _TermHolders]] = {}
        self._by_label: dict[str, dict[TermKey, _TermHolders]] = {}
        self._unhooked: dict[TermKey, _TermHolders] = {}

    def add(self, pod: Counted, terms: tuple[HeldTerm, ...]) -> None:
        """Count a pod that was placed."""
        for term in terms:
            family = self._families.get(term.family) or self._open(term.family)
            family.holders[(pod.uid, term)] = pod
            self._count(family, pod, term, 1)

    def remove(self, pod: Counted, terms: tuple[HeldTerm, ...]) -> None:
        """Take a pod out again."""
        for term in terms:
            family = self._families[term.family]
            if family.holders.pop((pod.uid, term), None) is not None:
                self._count(family, pod, term, -1)
            if not family.holders:
                self._close(family)

    def forbidden(self, pod: Counted) -> int:
        """The nodes in whose domain a holder's anti-affinity selects this pod."""
        mask = 0
        found = list(self._unhooked.values())
        if self._by_label or self._by_pair:
            for pair in pod.labels.items():
                found += self._by_pair.get(pair, {}).values()
                found += self._by_label.get(pair[0], {}).values()
        for family in found:
            if self._book.means(family.key.matcher, pod):
                mask |= self._where(family, pod)
        return mask

    def all(self) -> dict[TermKey, tuple[Tally, dict[str, Tally]]]:
        """The counts of every family, for checking."""
        for family in self._families.values():
            self._refresh(family)
        return {key: (f.everyone, f.excluding) for key, f in self._families.items()}

    def _where(self, family: _TermHolders, pod: Counted) -> int:
        self._refresh(family)
        value = pod.labels.get(family.key.excluded_key) if family.key.excluded_key else None
        less = family.excluding.get(value) if value is not None else None
        return family.everyone.where_more_than(less, self._book.index)

    def _count(self, family: _TermHolders, pod: Counted, term: HeldTerm, change: int) -> None:
        index = self._book.index
        if family.everyone.version != index.version:
            return
        family.everyone.add(pod.slot, change, index)
        for value in term.excluded_values:
            tally = family.excluding.get(value)
            if tally is None:
                tally = family.excluding[value] = Tally(family.key.topology_key)
                tally.reset(index.version, index.everywhere)
            tally.add(pod.slot, change, index)
            if not tally.counts:
                del family.excluding[value]

    def _refresh(self, family: _TermHolders) -> None:
        index = self._book.index
        if family.everyone.version == index.version:
            return
        family.everyone.reset(index.version, index.everywhere)
        family.excluding.clear()
        for (_, term), pod in family.holders.items():
            self._count(family, pod, term, 1)

    def _open(self, key: TermKey) -> _TermHolders:
        family = self._families[key] = _TermHolders(key)
        self._book.name_keys(_label_keys(key))
        for shelf in self._shelves(key):
            shelf[key] = family
        return family

    def _close(self, family: _TermHolders) -> None:
        del self._families[family.key]
        for shelf in self._shelves(family.key):
            del shelf[family.key]
        self._book.unname_keys(_label_keys(family.key))
        hook = find_hook(family.key.matcher)
        if hook is not None:
            drop_empty(self._by_label, [hook.key])
            drop_empty(self._by_pair, [(hook.key, value) for value in hook.values])

    def _shelves(self, key: TermKey) -> list[dict[TermKey, _TermHolders]]:
        hook = find_hook(key.matcher)
        if hook is None:
            return [self._unhooked]
        if hook.operator == "Exists":
            return [self._by_label.setdefault(hook.key, {})]
        return [self._by_pair.setdefault((hook.key, value), {}) for value in hook.values]


def _label_keys(key: TermKey) -> list[str]:
    """The label keys that a family's selector reads."""
    return [*list_keys(key.matcher), *filter(None, [key.excluded_key])]
