"""
Replay of a journal: this version's planner on the recorded inputs, without a cluster.

The planner is a pure function of an entry, so the version of Kohort that wrote the entry decides
the same again. Where another version decides otherwise, the replay says so: that is how an
incident becomes a test.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kohort.journal.entries import Decision, Entry, list_decisions
from kohort.model.plans import Plan
from kohort.planning.plan import plan


@dataclass(frozen=True, slots=True)
class Replayed:
    """An entry, this version's plan for its input, and the decisions that the entry lacks."""

    entry: Entry
    plan: Plan
    decisions: tuple[Decision, ...]
    added: tuple[Decision, ...] = ()
    dropped: tuple[Decision, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether this version's plan has the decisions of the entry."""
        return not self.added and not self.dropped


def replay(entries: Iterable[Entry]) -> Iterator[Replayed]:
    """Each entry with this version's plan for its input."""
    for entry in entries:
        decided = plan(entry.workload, entry.observed, entry.at)
        decisions = list_decisions(decided)
        before = {decision.identity for decision in entry.decisions}
        now = {decision.identity for decision in decisions}
        yield Replayed(
            entry,
            decided,
            decisions,
            tuple(d for d in decisions if d.identity not in before),
            tuple(d for d in entry.decisions if d.identity not in now),
        )
