"""
The template of the leader set, when it is not what we wrote for its revision.

What another client changed is put back, and what it added is taken away; while its
template stands, the partition shelters all groups, and a group that was made from
it is of no revision of ours. A restart (``kubectl rollout restart``) is meant: it
stays, and rolls.

For some seconds after the template was put back everything stays as it is, and longer
each time: a client that insists meets a raised partition, so it costs no group.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kohort.apis.api import PutBacks, Snapshot
from kohort.apis.drift.pods import describe_pods
from kohort.apis.drift.told import list_recent
from kohort.apis.edits import Edit, Path, locate
from kohort.apis.facts import SetFacts, Whole
from kohort.apis.leaderworkerset import labels, spec
from kohort.cluster.objects import Object, name_of
from kohort.model.observed import Group

TEMPLATE = ("f:spec", "f:template")
_RESTARTED = "f:kubectl.kubernetes.io/restartedAt"
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class Drift:
    """What another client did to the template of the leader set."""

    edits: tuple[Edit, ...] = ()  # but restarts
    restart: Edit | None = None
    puts: PutBacks = field(default_factory=PutBacks)

    def describe(self, name: str) -> str:
        """What another client did, in a sentence."""
        if not self.edits:
            return f"StatefulSet {name}: another client changed spec.template; it is put back"
        named = ", ".join(str(edit) for edit in self.edits[:_NAMED_MAX])
        more = f" and {len(self.edits) - _NAMED_MAX} more" * (len(self.edits) > _NAMED_MAX)
        who = ", ".join(sorted({edit.manager for edit in self.edits}))
        return f"StatefulSet {name}: {who} set {named}{more}; it is put back"


def describe_drift(snapshot: Snapshot, drift: Drift, groups: tuple[Group, ...]) -> Iterator[str]:
    """What other clients edited of a workload, and what of that is not mended yet."""
    name = name_of(snapshot.root)
    # What the user's partition holds back is no drift: a restart, or an annotation of the user's
    # that went into the template.
    lowest = spec.partition_of(snapshot.root)
    ordinals = (group.ordinal for group in groups if group.is_edited)
    edited = ", ".join(str(ordinal) for ordinal in ordinals if ordinal >= lowest)
    pods = tuple(describe_pods(groups, snapshot.all(labels.POD)))
    yield from pods
    if drift.edits:
        yield drift.describe(name)
    recent = list_recent(snapshot)
    yield from (why for why in recent if not drift.edits or why.startswith("Service"))
    if edited and drift.restart:
        who = drift.restart.manager
        yield f"StatefulSet {name}: {who} asked for a restart; groups {edited} are to come"
    elif edited and not drift.edits and not pods:
        yield f"groups {edited} are not as their revision says; they are made anew"


def find_drift(leader_set: SetFacts | None, render: Callable[[], Object], puts: PutBacks) -> Drift:
    """What can be seen of edits of the leader set; ``render`` gives the template that we want."""
    if leader_set is None or not leader_set.edits:
        return Drift(puts=puts)
    found = Whole(leader_set.raw).decode()
    wanted = {"spec": {"template": render()}}
    edits = tuple(e for e in leader_set.edits if not _is_same(e.path, wanted, found))
    restart = next((edit for edit in edits if edit.path[-1] == _RESTARTED), None)
    return Drift(tuple(e for e in edits if e.path[-1] != _RESTARTED), restart, puts)


def find_drifted(worker_set: SetFacts) -> tuple[Edit, ...]:
    """What another client did to the template of a worker set; a restart is meant."""
    return tuple(edit for edit in worker_set.edits if edit.path[-1] != _RESTARTED)


def _is_same(path: Path, wanted: Object, found: Object) -> bool:
    """Whether another client has set what we want there, too."""
    ours, theirs = locate(wanted, path), locate(found, path)
    if ours is None or theirs is None:
        return ours is theirs
    # Of an item of a list, the fields are looked at one by one.
    return not path[-1].startswith("f:") or _read(wanted, ours) == _read(found, theirs)


def _read(obj: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        obj = obj[step]
    return obj


def judge_revision(label: str, made_from: str, leader_set: SetFacts, drift: Drift) -> str:
    """The revision of a leader with that label, made from that template; nothing: none of ours."""
    status = leader_set.status
    is_seen = status.observed_generation >= leader_set.metadata.generation
    if not is_seen:
        # Which leaders are old is known when the set has seen its template.
        known = (status.current_revision, status.update_revision)
        is_unknown = drift.puts.is_recent or (drift.edits and made_from not in known)
        return "" if is_unknown else label
    if drift.edits:
        return "" if made_from == status.update_revision else label
    if made_from != status.update_revision:
        return ""
    # It was made from the present template, whatever its label says now.
    return leader_set.metadata.labels.get(labels.REVISION, label)


def find_additions(edits: tuple[Edit, ...], wanted: Object, found: Object) -> list[Object]:
    """A JSON patch that takes away what was added to the set and is no part of what we want."""
    places = {place for edit in edits for place in _find_added(edit.path, wanted, found)}
    outer = [p for p in places if not any(p[:n] in places for n in range(1, len(p)))]
    # From the end of each list to its start, so that indexes stay true.
    ordered = sorted(outer, key=lambda place: [(isinstance(s, int), s) for s in place])
    return [{"op": "remove", "path": _write_pointer(place)} for place in reversed(ordered)]


def _find_added(path: Path, wanted: Object, found: Object) -> Iterator[tuple[str | int, ...]]:
    if locate(wanted, path) is not None:
        return
    for length in range(1, len(path) + 1):
        # A whole item of a list, if that is new; else the field alone.
        is_item = not path[length - 1].startswith("f:")
        if length == len(path) or (is_item and locate(wanted, path[:length]) is None):
            place = locate(found, path[:length])
            if place is not None:
                yield place
            return


def _write_pointer(place: tuple[str | int, ...]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in place)
    return "".join(f"/{step}" for step in steps)
