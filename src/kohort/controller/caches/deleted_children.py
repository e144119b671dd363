"""
The children of each workload that were deleted of late, of kinds that an API asks to remember.

Other children are made from the spec, so the operator can make them again at any time. Where an
object holds what nothing else tells, as a stored revision does, the cache's last copy of it is all
that is left. A few are kept for each workload, for as long as the workload and the process last.
"""

from typing import Any

from kohort.apis.api import Key
from kohort.cluster.objects import Kind
from kohort.controller.caches.cache import Difference

KEPT_MAX = 10


class DeletedChildren:
    """The last copies of deleted children, by workload, kind and name; the latest come last."""

    def __init__(self) -> None:
        self._held: dict[Key, dict[tuple[Kind, str], Any]] = {}

    def note(self, kind: Kind, workload: Key, difference: Difference[Any]) -> None:
        """Keep the copy of a child that has gone; forget that of one that is there again."""
        held, name = self._held.get(workload, {}), difference.key[1]
        held.pop((kind, name), None)
        if difference.old is not None and difference.new is None:
            held[kind, name] = difference.old.value
            self._held[workload] = held
        while len(held) > KEPT_MAX:
            del held[next(iter(held))]

    def list_of(self, workload: Key) -> dict[Kind, tuple[Any, ...]]:
        """The deleted children of a workload by kind."""
        found: dict[Kind, tuple[Any, ...]] = {}
        for (kind, _), child in self._held.get(workload, {}).items():
            found[kind] = (*found.get(kind, ()), child)
        return found

    def forget(self, workload: Key) -> None:
        """Drop what was kept for a workload that has gone."""
        self._held.pop(workload, None)
