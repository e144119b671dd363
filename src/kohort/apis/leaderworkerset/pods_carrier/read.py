"""
From a LeaderWorkerSet and the pods that carry it to the model.

The note of the rollout is an annotation of the revision that the rollout leads to: the
operator creates both in one write, and no other client writes there. Without a note,
no group is replaced before a new one is written. While a leader belongs to an earlier object of
the same name, no boundary is lowered: its group may be adopted, and serves until then.
"""

from dataclasses import dataclass, replace

from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.carriers.abandoned import mark_abandoned
from kohort.apis.carriers.pods import Note, assume_progress, find_note, read_groups
from kohort.apis.facts import Meta, Owner, PodFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.drift.adoption import is_orphan, take_back
from kohort.apis.leaderworkerset.drift.pods import judge_pods
from kohort.apis.leaderworkerset.drift.sets import Drift, describe_drift
from kohort.apis.leaderworkerset.lost_revisions import find_lost
from kohort.apis.leaderworkerset.read import (
    READER,
    Memory,
    choose_revision,
    describe_forged,
    list_keys,
    own_revisions,
    read_workload,
)
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object, name_of, uid_of
from kohort.model.observed import Observed, Progress


@dataclass(frozen=True, slots=True)
class PodMemory(Memory):
    """What rendering needs beyond the model: the note in force, and orphans."""

    note: Note | None = None  # the note in force
    orphans: tuple[Meta, ...] = ()  # leaders that are read as ours, and must be adopted


# Each reconcile counts all members, while other workloads wait; and the size is an annotation
# of the leader, which any client that may edit pods can change.
GROUP_MAX = 10_000
_READER = replace(READER, size_of=lambda metadata: min(READER.size_of(metadata), GROUP_MAX))


def read(snapshot: Snapshot) -> Reading[PodMemory]:
    """The snapshot translated into the model."""
    lws = snapshot.root
    held: tuple[PodFacts, ...] = snapshot.all(POD)
    orphans = tuple(pod.metadata for pod in held if is_orphan(lws, pod))
    pods = take_back(lws, held)
    _refuse_namesakes(lws, pods)
    revisions = own_revisions(snapshot)
    note = _find_note(revisions)
    aimed = note.progress.target if note else None
    revision, key = choose_revision(lws, aimed, revisions)
    lost = find_lost(snapshot, {key, *list_keys(revisions)})
    known = (*revisions, *lost)
    groups = read_groups(_READER, pods, uid_of(lws), snapshot.lost, snapshot.group_cache)
    if note is not None:
        groups = judge_pods(groups, pods, (note.progress.target, key), list_keys(known))
    progress = _progress_of(note, known) if note else assume_progress(groups)
    if progress is not None and progress.base:
        revisions_held = {group.incarnation: group.revision for group in groups}
        groups = mark_abandoned(groups, revisions_held, (progress.base, progress.target))
    if progress is not None and _has_left_over_leader(lws, pods):
        # Only the garbage collector or an orphaning delete tells whether their groups stay.
        progress = replace(progress, is_seen=False)
    observed = Observed(
        groups=groups,
        progress=progress,
        exist=len(groups),
        drift=tuple(
            dict.fromkeys((*describe_drift(snapshot, Drift(), groups), *describe_forged(snapshot)))
        ),
    )
    memory = PodMemory(None, revisions, revision, key, note, orphans, lost=lost)
    return Reading(read_workload(snapshot, key, groups), observed, memory)


def _find_note(revisions: tuple[Whole, ...]) -> Note | None:
    found = []
    for revision in revisions:
        key = revision.metadata.labels.get(labels.REVISION)
        text = revision.metadata.annotations.get(labels.PROGRESS)
        note = find_note(text, key) if key and text else None
        if note is not None:
            found.append(note)
    return max(found, key=lambda note: note.turn, default=None)


def _progress_of(note: Note, revisions: tuple[Whole, ...]) -> Progress:
    progress, keys = note.progress, {r.metadata.labels.get(labels.REVISION) for r in revisions}
    # Without the old revision, only the target is left to make groups from.
    base = note.base if note.base in keys else progress.target
    return replace(progress, is_base=note.base == progress.target, base=base)


def _refuse_namesakes(lws: Object, pods: tuple[PodFacts, ...]) -> None:
    """Raise if a pod that no controller will delete holds a name that a group needs."""
    uid = uid_of(lws)
    # Nearly all pods are ours, so the owner is checked first.
    for pod in [pod for pod in pods if pod.metadata.controller != uid]:
        owner = next((o for o in pod.metadata.owner_references if o.controller), None)
        if pod.metadata.is_leaving or _may_be_ours(lws, owner) or not _has_our_name(lws, pod):
            continue
        whose = f"belongs to {owner.kind} {owner.name}" if owner else "has no owner"
        raise InvalidWorkload(
            "NameTaken",
            f"pod {pod.metadata.name} exists and {whose}: delete it, or choose "
            "another name for this LeaderWorkerSet",
        )


def _may_be_ours(lws: Object, owner: Owner | None) -> bool:
    """Whether a pod is ours, or a leftover that the garbage collector deletes with its owner."""
    if owner is None:
        return False
    return owner.kind == "Pod" or (owner.kind, owner.name) == (labels.KIND.name, name_of(lws))


def _has_left_over_leader(lws: Object, pods: tuple[PodFacts, ...]) -> bool:
    """Whether a leader belongs to an earlier object of this name, and is not being deleted."""
    uid, whose = uid_of(lws), (labels.KIND.name, name_of(lws))
    return any(
        (owner.kind, owner.name) == whose and owner.uid != uid and not pod.metadata.is_leaving
        for pod in pods
        for owner in pod.metadata.owner_references
        if owner.controller
    )


def _has_our_name(lws: Object, pod: PodFacts) -> bool:
    place = find_ordinal(pod.metadata.name)
    if place is None:
        return False
    name = name_of(lws)
    outer = find_ordinal(place[0])
    return place[0] == name or (outer is not None and outer[0] == name)
