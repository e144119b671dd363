"""
The ring buffer in the operator: the last reconciles that decided or did something new.

A reconcile that decides, does and counts what the one before did leaves no entry, so a workload
at rest costs nothing. Entries refer to the values that the planner was given, which do not change
and share what did not change between two reconciles; they are written as JSON only when they are
read. The oldest entries go first when there are too many of one workload, of all, or of members
in them.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from kohort.cluster.actions import Action, address_of, verb_of
from kohort.cluster.objects import Object
from kohort.journal.entries import Decision, Entry, list_decisions, write_entry
from kohort.model.observed import Observed
from kohort.model.plans import Plan
from kohort.model.workload import Workload

WORKLOAD_MAX = 200  # entries of one workload
ENTRIES_MAX = 2_000
MEMBERS_MAX = 50_000  # members in all entries together; each takes a few hundred bytes at most

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Last:
    decisions: tuple[Decision, ...]
    counts: tuple[int, ...]


class Journal:
    """The last entries of all workloads of one process, oldest first."""

    def __init__(
        self,
        entries_max: int = ENTRIES_MAX,
        workload_max: int = WORKLOAD_MAX,
        members_max: int = MEMBERS_MAX,
    ) -> None:
        self._entries: deque[Entry] = deque()
        self._last: dict[_Key, _Last] = {}
        self._counts: Counter[_Key] = Counter()
        self._members = 0
        self._limits = (entries_max, workload_max, members_max)

    def note(
        self,
        kind: str,
        workload: Workload,
        observed: Observed,
        plan: Plan,
        done: Iterable[Action] = (),
    ) -> None:
        """Note a reconcile, if it decided, did or counted anything new."""
        key = (kind, workload.namespace, workload.name)
        actions = tuple(_describe(action) for action in done)
        report = plan.report
        counts = (workload.generation, report.groups, report.groups_ready, report.groups_updated)
        last = _Last(list_decisions(plan), counts)
        if not actions and self._last.get(key) == last:
            return
        self._last[key] = last
        failures = tuple(observed.role_failures.items())
        self._push(
            key, Entry(kind, plan.now, workload, observed, failures, last.decisions, actions)
        )

    def list_entries(self) -> list[Object]:
        """All entries as JSON objects, oldest first."""
        return [write_entry(entry) for entry in self._entries]

    def _push(self, key: _Key, entry: Entry) -> None:
        entries_max, workload_max, members_max = self._limits
        self._entries.append(entry)
        self._counts[key] += 1
        self._members += _count_members(entry)
        if self._counts[key] > workload_max:
            self._drop(next(e for e in self._entries if _key_of(e) == key))
        while len(self._entries) > 1 and (
            len(self._entries) > entries_max or self._members > members_max
        ):
            self._drop(self._entries[0])

    def _drop(self, entry: Entry) -> None:
        if entry is self._entries[0]:
            self._entries.popleft()
        else:
            place = next(i for i, held in enumerate(self._entries) if held is entry)
            del self._entries[place]
        key = _key_of(entry)
        self._members -= _count_members(entry)
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key], self._last[key]


def _describe(action: Action) -> str:
    address = address_of(action)
    why = f": {action.why}" if action.why else ""
    return f"{verb_of(action)} {address.kind.name} {address.name}{why}"


def _key_of(entry: Entry) -> _Key:
    return (entry.kind, entry.workload.namespace, entry.workload.name)


def _count_members(entry: Entry) -> int:
    return sum(len(group.members) for group in entry.observed.groups)
