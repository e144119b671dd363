"""
The planned writes of a shadow over time: new ones, lasting ones, and those no longer planned.

A status is planned at most once a second, so that one is missing from a plan soon after it was
seen says nothing yet. Pure: the time is given.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kohort.takeover.report import PlannedWrite

SOON_SECONDS = 1.0


@dataclass(slots=True)
class Sightings:
    """All planned writes so far, by identity."""

    opened: dict[tuple[str, ...], PlannedWrite] = field(default_factory=dict)
    total: int = 0
    _seen: dict[tuple[str, ...], float] = field(default_factory=dict)

    def note(
        self, workload: str, writes: Iterable[PlannedWrite], now: float
    ) -> tuple[list[PlannedWrite], list[PlannedWrite]]:
        """Note a workload's latest plan; returns the new writes, and those no longer planned."""
        planned = {write.identity: write for write in writes}
        new = [write for key, write in planned.items() if key not in self.opened]
        self._seen.update(dict.fromkeys(planned, now))
        held = {key: write for key, write in self.opened.items() if write.workload == workload}
        gone = [
            write
            for key, write in held.items()
            if key not in planned and now - self._seen[key] > SOON_SECONDS
        ]
        for write in gone:
            del self.opened[write.identity], self._seen[write.identity]
        self.opened.update({write.identity: write for write in new})
        self.total += len(new)
        return new, gone

    def drop(self, workload: str) -> list[PlannedWrite]:
        """Forget a deleted workload; returns its writes."""
        gone = [write for write in self.opened.values() if write.workload == workload]
        for write in gone:
            del self.opened[write.identity], self._seen[write.identity]
        return gone
