"""
Members that have gone, by workload and by the incarnation that has lost them.

A loss counts as long as its incarnation exists, also while the workload does not: a user may
recreate a workload that was deleted with ``--cascade=orphan``. With the last incarnation of a
workload nothing of it is kept.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kohort.apis.losses import Loss
from kohort.apis.references import Key


class Losses:
    """The losses of all workloads of one API."""

    def __init__(self) -> None:
        self._lost: dict[Key, dict[str, tuple[str, ...]]] = {}
        self._passing: dict[Key, set[str]] = {}  # names of losses that only the next plan judges

    def note(self, loss: Loss, name: str) -> None:
        """Note that an incarnation has lost the member of this name."""
        lost = self._lost.setdefault(loss.workload, {})
        lost[loss.incarnation] = (*lost.get(loss.incarnation, ()), name)
        if loss.is_passing:
            self._passing.setdefault(loss.workload, set()).add(name)

    def end(self, key: Key, incarnation: str) -> None:
        """Drop what an incarnation had lost, since it has gone itself."""
        lost = self._lost.get(key)
        if lost is not None:
            lost.pop(incarnation, None)
            self._drop_empty(key)

    def list_of(self, key: Key, members: Iterable[Any]) -> Mapping[str, tuple[str, ...]]:
        """The lost members of incarnations that still exist; records of others are dropped."""
        lost = self._lost.get(key)
        if not lost:
            return {}
        alive = {member.metadata.uid for member in members}
        self._lost[key] = {uid: names for uid, names in lost.items() if uid in alive}
        return dict(self._lost[key])

    def forget_passing(self, key: Key, judged: Mapping[str, tuple[str, ...]]) -> None:
        """Drop passing losses that a plan has judged."""
        passing = self._passing.get(key, set()) & {n for names in judged.values() for n in names}
        if passing:
            self._passing[key] -= passing
            held = self._lost.get(key, {}).items()
            kept = {uid: tuple(n for n in names if n not in passing) for uid, names in held}
            self._lost[key] = {uid: names for uid, names in kept.items() if names}

    def forget(self, key: Key, members: Iterable[Any]) -> None:
        """Drop the records of a workload that has gone, but those of incarnations that exist."""
        self.list_of(key, members)
        self._drop_empty(key)

    def _drop_empty(self, key: Key) -> None:
        if not self._lost.get(key):
            self._lost.pop(key, None)
            self._passing.pop(key, None)

    def __len__(self) -> int:
        return len(self._lost.keys() | self._passing.keys())
