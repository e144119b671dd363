"""
How long the starts of pods took, phase by phase, as the time line of the dashboard shows it.

A pod is measured once, when it is first seen ready. Pods that were ready when this process first
saw their workload are not measured, since another process may have done so. A pod of which a
container was restarted is not measured either: it became ready later for another reason.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kohort.apis.facts import PodFacts
from kohort.cluster.objects import Object
from kohort.model.observed import Group, Observed
from kohort.views.timeline import LOADING, PULLING, READY, WAITING, find_spans

_LABELS = {WAITING: "schedule", PULLING: "pull", LOADING: "load"}
_WHOLE = "ready"


class PodStarts:
    """The pods of one workload whose starts are known."""

    def __init__(self) -> None:
        self._groups: dict[int, Group] = {}  # as last seen: an unchanged group is not read again
        self._known: dict[int, frozenset[str]] = {}  # uids of pods that were ready, by group
        self._is_first = True

    def note(self, observed: Observed, pods: Sequence[PodFacts]) -> list[dict[str, float]]:
        """The seconds of each phase, for each pod that has become ready since the last call."""
        fresh = [name for group in observed.groups for name in self._take(group)]
        self._groups = {group.ordinal: group for group in observed.groups}
        self._known = {ordinal: self._known[ordinal] for ordinal in self._groups}
        is_first, self._is_first = self._is_first, False
        if is_first or not fresh:
            return []
        by_name = {pod.metadata.name: pod for pod in pods}
        found = (measure_start(by_name[name]) for name in fresh if name in by_name)
        return [phases for phases in found if phases is not None]

    def _take(self, group: Group) -> Iterator[str]:
        """The names of members that have become ready, and were not restarted before."""
        if self._groups.get(group.ordinal) is group:
            return
        known = self._known.get(group.ordinal, frozenset())
        ready = [member for member in group.members if member.ready_since is not None]
        there = {member.uid for member in group.members}
        self._known[group.ordinal] = (known & there) | {member.uid for member in ready}
        for member in ready:
            if member.uid not in known and not member.has_restarted:
                yield member.name


def measure_start(pod: PodFacts) -> dict[str, float] | None:
    """The seconds of each phase of a start, and of all together; None if the status lacks them."""
    spans = find_spans([_write_object(pod)], "", is_ready=True)
    if not spans or spans[-1].phase != READY:
        return None
    seconds = dict.fromkeys(_LABELS.values(), 0.0)
    for span in spans[:-1]:
        assert span.end is not None
        seconds[_LABELS[span.phase]] = (span.end - span.start).total_seconds()
    return {**seconds, _WHOLE: (spans[-1].start - spans[0].start).total_seconds()}


def _write_object(pod: PodFacts) -> Object:
    metadata = {
        "creationTimestamp": pod.metadata.creation_timestamp,
        "deletionTimestamp": pod.metadata.deletion_timestamp,
    }
    return {"metadata": metadata, "status": msgspec.to_builtins(pod.status)}
