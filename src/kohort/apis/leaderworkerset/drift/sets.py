"""
Leader and worker sets that another client edited: their replicas, and the leader set's template.

Every write of the leader set contains its planned replicas, so the operator restores them at once,
however often they change (``kubectl scale sts/NAME``). Templates stay the same: groups keep their
revision, and a rollout goes on. A worker set is written only for this: a surplus pod would stay for
ever, and a missing one would never come back.

Of the template, the operator restores what another client changed, and removes what it added. While
the edited template is in place, the partition protects all groups, and a group made from it has no
revision of ours. A restart (``kubectl rollout restart``) is intended: it stays, and rolls.

While a leader exists that was made from a newer template than the leader set shows, our view of
the set is old (the watches of pods and of sets are not in step): nothing is known to be edited.
The numbers of the stored revisions tell which template is newer. A template without a number is
either that of a deleted revision or so new that the watch of revisions is late as well, and an
older template may be in force again: no cache tells which. A leader of another template than that
in our view is deleted only if the API server confirms our view of the set.

For some seconds after a restore nothing else changes, and longer each time: a client that
repeats its edit meets a raised partition, so no group is lost.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kohort.apis.api import Snapshot
from kohort.apis.drift.pods import describe_pods
from kohort.apis.drift.reports import list_recent
from kohort.apis.edits import Edit, Path, locate
from kohort.apis.facts import Meta, SetFacts, Whole
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.put_backs import PutBacks
from kohort.cluster.actions import Action, Patch, Premise
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Object, name_of
from kohort.cluster.port import Address
from kohort.model.observed import Group

REPLICAS = ("f:spec", "f:replicas")
PART = "scale"


def describe_scale(found: SetFacts) -> str:
    """A sentence about the client that scaled a StatefulSet; empty if the number is ours."""
    if not found.scaled_by:
        return ""
    name, count = found.metadata.name, found.spec.replicas
    return f"StatefulSet {name}: {found.scaled_by} set spec.replicas to {count}; it is put back"


def put_workers_back(found: SetFacts, leader: Meta, wanted: int) -> Iterator[Action]:
    """Restore the replicas of a worker set if another client has changed them."""
    metadata = found.metadata
    is_own = metadata.controller == leader.uid and not metadata.is_leaving
    undoes = describe_scale(found)
    if not is_own or not undoes or found.spec.replicas == wanted:
        return
    address = Address(STATEFUL_SET, metadata.namespace, metadata.name)
    body = {"metadata": {"uid": metadata.uid}, "spec": {"replicas": wanted}}
    why = f"spec.replicas of the workers of {leader.name} differ"
    yield Patch(address, body, why=why, undoes=undoes, undoes_part=PART)


def describe_standing_scale(lws: Object, leader_set: SetFacts | None) -> Iterator[str]:
    """The same sentence for the leader set, while its replicas differ from the workload's."""
    if leader_set is not None and leader_set.spec.replicas != spec.replicas_of(lws):
        text = describe_scale(leader_set)
        if text:
            yield text


TEMPLATE = ("f:spec", "f:template")
_RESTARTED = "f:kubectl.kubernetes.io/restartedAt"
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class Drift:
    """The edits of other clients to the template of the leader set."""

    edits: tuple[Edit, ...] = ()  # without restarts
    restart: Edit | None = None
    puts: PutBacks = field(default_factory=PutBacks)
    is_unseen: bool = False  # a leader was made from a newer template than we see

    def describe(self, name: str) -> str:
        """The edits in a sentence for users."""
        if not self.edits:
            return f"StatefulSet {name}: another client changed spec.template; it is put back"
        named = ", ".join(str(edit) for edit in self.edits[:_NAMED_MAX])
        more = f" and {len(self.edits) - _NAMED_MAX} more" * (len(self.edits) > _NAMED_MAX)
        who = ", ".join(sorted({edit.manager for edit in self.edits}))
        return f"StatefulSet {name}: {who} set {named}{more}; it is put back"


def describe_drift(snapshot: Snapshot, drift: Drift, groups: tuple[Group, ...]) -> Iterator[str]:
    """The edits by other clients that are not undone yet, each in a sentence."""
    name = name_of(snapshot.root)
    # Groups below the user's partition are no drift: they wait for a restart, or for an
    # annotation of the user that went into the template.
    lowest = spec.partition_of(snapshot.root)
    ordinals = (group.ordinal for group in groups if group.is_edited)
    edited = ", ".join(str(ordinal) for ordinal in ordinals if ordinal >= lowest)
    pods = tuple(describe_pods(groups, snapshot.all(POD)))
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
    """The edits to the leader set's template; ``render`` gives the template that we want."""
    if leader_set is None or not leader_set.edits:
        return Drift(puts=puts)
    found = Whole(leader_set.raw).decode()
    wanted = {"spec": {"template": render()}}
    edits = tuple(e for e in leader_set.edits if not _is_same(e.path, wanted, found))
    restart = next((edit for edit in edits if edit.path[-1] == _RESTARTED), None)
    return Drift(tuple(e for e in edits if e.path[-1] != _RESTARTED), restart, puts)


def is_behind(
    leader_set: SetFacts | None, made_from: set[str], number: Callable[[], Mapping[str, int]]
) -> bool:
    """
    Whether a leader was made from a newer template than the leader set has in our view.

    ``number`` gives the numbers of the StatefulSet controller's own revisions: it stores one for
    each template before it makes a pod from it, and the template in force has the highest.
    """
    if leader_set is None:
        return False
    update = leader_set.status.update_revision
    # The template before this one may be in force again: a client changed the set, and back.
    others = made_from - {update}
    numbers = number() if others else {}
    seen = numbers.get(update)
    return seen is not None and any(numbers.get(name, 0) > seen for name in others)


def find_premise(leader_set: SetFacts | None, label: str, made_from: str) -> Premise | None:
    """
    What the API server has to confirm before a leader of this label and template is deleted.

    A leader set of the same generation has the same template, so no leader is newer than that.
    Leaders of the template that we see in force need no request, nor do those of another
    revision than the set: we wrote the templates of both, and have seen our own writes.
    """
    if leader_set is None or not made_from:
        return None
    metadata, status = leader_set.metadata, leader_set.status
    if made_from == status.update_revision or label != metadata.labels.get(labels.REVISION):
        return None
    address = Address(STATEFUL_SET, metadata.namespace, metadata.name)
    return Premise(address, metadata.uid, metadata.generation)


def find_drifted(worker_set: SetFacts) -> tuple[Edit, ...]:
    """The edits to the template of a worker set, without restarts, which are intended."""
    return tuple(edit for edit in worker_set.edits if edit.path[-1] != _RESTARTED)


def _is_same(path: Path, wanted: Object, found: Object) -> bool:
    """Whether the other client has set the same value that we want."""
    ours, theirs = locate(wanted, path), locate(found, path)
    if ours is None or theirs is None:
        return ours is theirs
    # The fields of a list item are compared one by one.
    return not path[-1].startswith("f:") or _read(wanted, ours) == _read(found, theirs)


def _read(obj: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        obj = obj[step]
    return obj


def judge_revision(label: str, made_from: str, leader_set: SetFacts, drift: Drift) -> str:
    """The revision of a leader, by its label and its template's hash; empty: none of ours."""
    status = leader_set.status
    is_seen = status.observed_generation >= leader_set.metadata.generation
    if not is_seen or drift.is_unseen:
        # Which leaders are old is unknown until the StatefulSet controller observes the template.
        known = (status.current_revision, status.update_revision)
        is_unknown = drift.puts.is_recent or (drift.edits and made_from not in known)
        return "" if is_unknown else label
    if drift.edits:
        return "" if made_from == status.update_revision else label
    if made_from != status.update_revision:
        return ""
    # The leader was made from the present template, whatever its label says now.
    return leader_set.metadata.labels.get(labels.REVISION, label)


def find_additions(edits: tuple[Edit, ...], wanted: Object, found: Object) -> list[Object]:
    """A JSON patch that removes fields that other clients added and that we do not want."""
    places = {place for edit in edits for place in _find_added(edit.path, wanted, found)}
    outer = [p for p in places if not any(p[:n] in places for n in range(1, len(p)))]
    # From the end of each list to its start, so that indexes stay valid.
    ordered = sorted(outer, key=lambda place: [(isinstance(s, int), s) for s in place])
    return [{"op": "remove", "path": _write_pointer(place)} for place in reversed(ordered)]


def _find_added(path: Path, wanted: Object, found: Object) -> Iterator[tuple[str | int, ...]]:
    if locate(wanted, path) is not None:
        return
    for length in range(1, len(path) + 1):
        # A whole list item if that is new; otherwise the field alone.
        is_item = not path[length - 1].startswith("f:")
        if length == len(path) or (is_item and locate(wanted, path[:length]) is None):
            place = locate(found, path[:length])
            if place is not None:
                yield place
            return


def _write_pointer(place: tuple[str | int, ...]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in place)
    return "".join(f"/{step}" for step in steps)
