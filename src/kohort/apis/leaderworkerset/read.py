"""
From a LeaderWorkerSet and its children to the model, and to the revision in force.

This module decides which revision all groups should reach: the one on the leader set, as
long as the spec still matches it; otherwise a stored one that matches, and only then
a new one. So a repeated write, or a template that the user restores, makes no second
revision.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import orjson

from kohort.apis.amounts import allow_progress
from kohort.apis.api import Reading, Snapshot
from kohort.apis.carriers.members import Reader
from kohort.apis.carriers.statefulsets import read_groups
from kohort.apis.facts import Meta, SetFacts, SetStatusFacts, Whole
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.leaderworkerset.drift.adoption import check_leader_set
from kohort.apis.leaderworkerset.drift.sets import (
    Drift,
    describe_drift,
    describe_standing_scale,
    find_drift,
    is_behind,
)
from kohort.apis.leaderworkerset.incarnations import judge_groups, own_pods
from kohort.apis.leaderworkerset.lost_revisions import find_lost
from kohort.apis.leaderworkerset.names import leader_name, worker_name
from kohort.apis.leaderworkerset.objects.differences import list_stale_fields
from kohort.apis.leaderworkerset.objects.placement import place_templates
from kohort.apis.leaderworkerset.objects.templates import leader_template
from kohort.apis.leaderworkerset.revision import (
    is_readable,
    revision_data,
    same_revision,
)
from kohort.apis.leaderworkerset.set_revisions import (
    list_templates,
    mark_given_up,
    number_templates,
)
from kohort.apis.leaderworkerset.topology_losses import read_placement
from kohort.apis.min_ready import read_min_ready
from kohort.apis.ordinals import find_ordinal
from kohort.apis.revision_hash import hash_revision
from kohort.apis.strategy_choice import choose_strategy
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, STATEFUL_SET
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import (
    Object,
    annotations_of,
    is_leaving,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.model.observed import Group, Observed, Progress
from kohort.model.policies import (
    STRATEGIES,
    RecoveryPolicy,
    RolloutPolicy,
    Startup,
    Trigger,
)
from kohort.model.workload import Role, Workload

# Revisions that are kept for undo carry this instead of upstream's labels.
HISTORY = "kohort.dev/history-of"
# All replicas and as many again for a surge; another client has set any larger number, and
# walking so many groups would keep all other workloads waiting.
COUNT_MAX = 2_000_000


@dataclass(frozen=True, slots=True)
class Memory:
    """What rendering needs beyond the model: the leader set and the revisions."""

    leader_set: SetFacts | None
    revisions: tuple[Whole, ...]  # ours, lowest number first
    revision: Whole | None  # the one in force; None: it must be created
    key: str
    drift: Drift = field(default=Drift(), kw_only=True)
    # The leader set of an earlier object of this name still exists.
    has_leftover: bool = field(default=False, kw_only=True)
    lost: tuple[Whole, ...] = field(default=(), kw_only=True)  # deleted, and groups have them


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot translated into the model."""
    lws = snapshot.root
    leader_set = _find_leader_set(snapshot)
    revisions = own_revisions(snapshot)
    revision, key = choose_revision(lws, _find_held(lws, leader_set, revisions), revisions)
    sets = {s.metadata.name: s for s in snapshot.all(STATEFUL_SET)}
    pods = own_pods(snapshot.all(POD), leader_set)
    groups = read_groups(READER, pods, sets, snapshot.lost, snapshot.group_cache)
    drift = find_drift(
        leader_set,
        lambda: leader_template(place_templates(lws, snapshot.settings), key),
        snapshot.find_put_backs(STATEFUL_SET, name_of(lws)),
    )
    uid = leader_set.metadata.uid if leader_set else ""
    if is_behind(leader_set, list_templates(pods), lambda: number_templates(snapshot, uid)):
        drift = replace(drift, is_unseen=True)
    groups = judge_groups(groups, pods, leader_set, sets, drift)
    if leader_set is not None:
        groups = mark_given_up(groups, pods, leader_set, snapshot, list_keys(revisions))
    observed = Observed(
        groups=groups,
        progress=None if leader_set is None else _progress_of(leader_set, drift),
        exist=leader_set.status.replicas if leader_set else 0,
        drift=tuple(
            dict.fromkeys(
                (
                    *describe_drift(snapshot, drift, groups),
                    *describe_standing_scale(lws, leader_set),
                    *describe_forged(snapshot),
                )
            )
        ),
    )
    memory = Memory(
        leader_set,
        revisions,
        revision,
        key,
        has_leftover=_has_leftover(snapshot),
        drift=drift,
        lost=find_lost(snapshot, {key, *list_keys(revisions)}),
    )
    return Reading(read_workload(snapshot, key, observed.groups), observed, memory)


def read_workload(snapshot: Snapshot, key: str, groups: tuple[Group, ...]) -> Workload:
    """The user's spec, with the revision that all groups should reach."""
    lws = snapshot.root
    wanted, surge = spec.replicas_of(lws), spec.max_surge_of(lws)
    policy = RolloutPolicy(
        wanted=wanted,
        partition=spec.partition_of(lws),
        max_unavailable=allow_progress(spec.max_unavailable_of(lws), surge),
        max_surge=surge,
        strategy=choose_strategy(snapshot, labels.STRATEGY, _noted_strategy),
        min_ready_seconds=read_min_ready(lws),
    )
    ready_first = spec.startup_policy_of(lws) == spec.LEADER_READY
    return Workload(
        namespace=namespace_of(lws),
        name=name_of(lws),
        uid=uid_of(lws),
        generation=lws["metadata"].get("generation", 0),
        groups=wanted,
        roles=(Role(size=spec.size_of(lws)),),
        revision=key,
        rollout=policy,
        recovery=RecoveryPolicy(_trigger_of(lws)),
        startup=Startup.ENTRY_FIRST if ready_first else Startup.TOGETHER,
        placement=read_placement(snapshot, key, groups),
        is_leaving=is_leaving(lws),
    )


def _noted_strategy(snapshot: Snapshot) -> str:
    """The strategy that the operator recorded, for commands without its flags."""
    visible = [r for r in own_revisions(snapshot) if labels.REVISION in r.metadata.labels]
    notes = visible[-1].metadata.annotations if visible else {}
    return notes.get(labels.STRATEGY_IN_USE) or STRATEGIES[0]


def _trigger_of(lws: Object) -> Trigger:
    policy = spec.restart_policy_of(lws)
    if policy == spec.RECREATE_AFTER_START:
        return Trigger.AFTER_START
    if policy != spec.RECREATE_GROUP:
        return Trigger.NEVER
    if labels.RECREATE_AFTER_START in annotations_of(lws):
        return Trigger.AFTER_START
    return Trigger.ALWAYS


def _find_leader_set(snapshot: Snapshot) -> SetFacts | None:
    name, uid = name_of(snapshot.root), uid_of(snapshot.root)
    found: SetFacts | None = next(
        (s for s in snapshot.all(STATEFUL_SET) if s.metadata.name == name), None
    )
    if _has_leftover(snapshot):
        return None
    if found is not None and found.metadata.controller != uid:
        check_leader_set(snapshot.root, found)
    return found


def _has_leftover(snapshot: Snapshot) -> bool:
    """Whether the leader set of a deleted object of the same name still exists."""
    name, uid = name_of(snapshot.root), uid_of(snapshot.root)
    for found in snapshot.all(STATEFUL_SET):
        if found.metadata.name == name:
            owner = next((o for o in found.metadata.owner_references if o.controller), None)
            return (
                owner is not None
                and (owner.kind, owner.name) == (labels.KIND.name, name)
                and owner.uid != uid
            )
    return False


def own_revisions(snapshot: Snapshot) -> tuple[Whole, ...]:
    """The revisions of this very object, lowest number first."""
    # Revisions of the StatefulSets have the same labels, so the owner decides.
    uid = uid_of(snapshot.root)
    found: tuple[Whole, ...] = snapshot.all(CONTROLLER_REVISION)
    own = [r for r in found if r.metadata.controller in ("", uid) and is_readable(r)]
    return tuple(sorted(own, key=number_of))


def list_keys(revisions: Iterable[Whole]) -> set[str]:
    """The keys of revisions; those that are kept for undo have none."""
    return {r.metadata.labels.get(labels.REVISION, "") for r in revisions} - {""}


def describe_forged(snapshot: Snapshot) -> Iterator[str]:
    """A sentence on each owned ControllerRevision that cannot be read and is ignored."""
    uid = uid_of(snapshot.root)
    found: tuple[Whole, ...] = snapshot.all(CONTROLLER_REVISION)
    for revision in found:
        # One without an owner may belong to an orphaned StatefulSet.
        if revision.metadata.controller == uid and not is_readable(revision):
            name = revision.metadata.name
            yield f"ControllerRevision {name} cannot be read and is ignored: delete it"


def number_of(revision: Whole) -> int:
    """The number of a revision."""
    return int(revision.decode().get("revision", 0))


def _find_held(
    lws: Object, leader_set: SetFacts | None, revisions: tuple[Whole, ...]
) -> str | None:
    """
    The revision key on the leader set, if we know which spec it stands for.

    If its revision is gone, the leader set's template tells whether the spec is unchanged.
    Otherwise a new spec would get the old key, and nothing would roll.
    """
    held = leader_set.metadata.labels.get(labels.REVISION, "") if leader_set else ""
    if leader_set is None or not held:
        return None
    if find_revision(revisions, held) is not None:
        return held
    wanted = leader_template(lws, held)["spec"]
    found = Whole(leader_set.raw).decode()["spec"]["template"]["spec"]
    return None if list_stale_fields(wanted, found) else held


def choose_revision(
    lws: Object, held: str | None, revisions: tuple[Whole, ...]
) -> tuple[Whole | None, str]:
    """The revision to reach, and its key; ``held`` is the key of the last target."""
    wanted = _key_of(uid_of(lws), orjson.dumps(lws["spec"]))
    if held is not None:
        current = find_revision(revisions, held)
        if current is None:
            return None, held
        if _is_same(lws, current):
            return current, held
    # An earlier version may have stored the same spec under another key.
    same = [r for r in revisions if r.metadata.labels.get(labels.REVISION) and _is_same(lws, r)]
    found = find_revision(tuple(same), wanted) or (same[-1] if same else None)
    return found, wanted if found is None else found.metadata.labels[labels.REVISION]


def find_revision(revisions: tuple[Whole, ...], key: str) -> Whole | None:
    """The newest revision with this key; revisions that are kept for undo have none."""
    if not key:
        return None
    matching = [r for r in revisions if r.metadata.labels.get(labels.REVISION) == key]
    return matching[-1] if matching else None


@lru_cache(maxsize=4096)
def _key_of(uid: str, spec_json: bytes) -> str:
    return hash_revision(revision_data({"spec": orjson.loads(spec_json)}))


def _is_same(lws: Object, revision: Whole) -> bool:
    return _compare(orjson.dumps(lws["spec"]), revision.raw)


@lru_cache(maxsize=4096)
def _compare(spec_json: bytes, revision_json: bytes) -> bool:
    return same_revision({"spec": orjson.loads(spec_json)}, orjson.loads(revision_json))


def _progress_of(leader_set: SetFacts, drift: Drift) -> Progress:
    metadata = leader_set.metadata
    noted = find_count(metadata.annotations.get(labels.REPLICAS, ""))
    count = min(leader_set.spec.replicas, COUNT_MAX)
    is_seen = leader_set.status.observed_generation >= metadata.generation
    return Progress(
        # While another client's template is in place, no group counts as released.
        boundary=max(leader_set.spec.partition, count if drift.edits else 0),
        count=count,
        noted=leader_set.spec.replicas if noted is None else noted,
        target=metadata.labels.get(labels.REVISION, ""),
        is_seen=is_seen and not (drift.edits or drift.is_unseen or drift.puts.is_recent),
        is_base=_is_base(leader_set.status),
    )


def _is_base(status: SetStatusFacts) -> bool:
    """Whether the set makes all groups alike: no rollout began, or it was rolled back."""
    return status.current_revision == status.update_revision != ""


def _group_of(metadata: Meta) -> int | None:
    held = metadata.labels
    place = held.get(labels.GROUP_INDEX, ""), held.get(labels.WORKER_INDEX, "")
    return _find_group(metadata.name, held.get(labels.NAME), *place)


@lru_cache(maxsize=65_536)
def _find_group(name: str, workload: str | None, group_text: str, index_text: str) -> int | None:
    group, index = find_count(group_text), find_count(index_text)
    if group is not None:
        return group if _fits_name(name, workload, group, index) else None
    # Pods made while no webhook answered lack the label; a leader's name tells its group.
    if index == 0:
        found = find_ordinal(name)
        return found[1] if found else None
    return None


def _fits_name(name: str, workload: str | None, group: int, index: int | None) -> bool:
    """Whether the name of a pod fits its place labels: labels can be forged, names cannot."""
    if workload is None or index is None:
        return True
    leader = leader_name(workload, group)
    return name == (worker_name(leader, index) if index else leader)


def _index_of(metadata: Meta) -> int | None:
    return find_count(metadata.labels.get(labels.WORKER_INDEX, ""))


def _revision_of(metadata: Meta) -> str:
    return metadata.labels.get(labels.REVISION, "")


def _size_of(metadata: Meta) -> int:
    size = find_count(metadata.annotations.get(labels.SIZE, ""))
    return 1 if size is None else size


READER = Reader(_group_of, _index_of, _revision_of, _size_of)
