"""
From a plan to actions on StatefulSets, Services, revisions and gangs.

Actions of one plan do not depend on each other: an action that needs a revision not yet
stored, or a leader without a node, waits for a later plan. Objects that are already as
planned are not written.

The template of the leader set is written when the revision changes. If the template differs
though the revision is the same, either the user changed it (by an annotation that goes into
it): then it is written with the partition raised, so that it rolls within the budget; or a
newer Kohort renders it differently: then it waits for the next revision.
"""

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from kohort.apis.api import Reading, Snapshot
from kohort.apis.drift.pods import describe_edited
from kohort.apis.drift.restores import adopt
from kohort.apis.facts import Meta, PodFacts, SetFacts, Whole
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.leaderworkerset.drift.labels import put_places_back
from kohort.apis.leaderworkerset.drift.services import bring_service
from kohort.apis.leaderworkerset.drift.sets import PART as SCALE
from kohort.apis.leaderworkerset.drift.sets import (
    describe_scale,
    find_additions,
    find_premise,
    put_workers_back,
)
from kohort.apis.leaderworkerset.gangs import Gangs, as_leader
from kohort.apis.leaderworkerset.history import mark_served, render_history
from kohort.apis.leaderworkerset.lost_revisions import make_again
from kohort.apis.leaderworkerset.objects.differences import list_stale_fields
from kohort.apis.leaderworkerset.objects.placement import end_scheduler, place_templates
from kohort.apis.leaderworkerset.objects.services import group_service, shared_service
from kohort.apis.leaderworkerset.objects.sets import leader_set, worker_set
from kohort.apis.leaderworkerset.read import READER, Memory, find_revision, number_of
from kohort.apis.leaderworkerset.revision import apply_revision, make_revision
from kohort.apis.leaderworkerset.set_revisions import SET_REVISION, find_template_revision
from kohort.apis.leaderworkerset.stuck_leaders import release_leaders
from kohort.apis.leaderworkerset.workers import find_following
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, STATEFUL_SET
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.port import Address, PatchType
from kohort.model.observed import Group
from kohort.model.plans import Plan
from kohort.model.units import Phase

_TEMPLATE, _REPLICAS = "spec.template", "spec.replicas"
_USERS_NOTES = (
    labels.EXCLUSIVE_TOPOLOGY,
    labels.SUBGROUP_EXCLUSIVE_TOPOLOGY,
    labels.GANG,
    labels.NETWORK_TOPOLOGY,
    ".schedulerName",
)


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The actions on the objects of a workload."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_actions(snapshot, reading, plan))


def _actions(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> Iterator[Action]:
    memory: Memory = reading.memory
    if memory.has_leftover:
        # The garbage collector deletes it with all its dependents.
        return
    served = mark_served(snapshot.root, reading, plan)
    yield from served
    if memory.revision is None:
        yield create_revision(snapshot.root, memory)
    elif not served:
        # This write replaces the last target on the leader set, so the served mark comes first.
        yield from _leader_set_actions(snapshot, reading, plan)
    yield from make_again(memory.lost)
    for stored in memory.revisions:
        yield from adopt(snapshot.root, CONTROLLER_REVISION, stored.metadata)
    yield from put_places_back(snapshot)
    yield from shared_service_actions(snapshot)
    leaders = _leaders_by_ordinal(snapshot, reading)
    gangs = Gangs(snapshot, memory.revisions, plan)
    held = _Held(snapshot)
    for group in reading.observed.groups:
        if group.ordinal in leaders and group.phase is not Phase.LEAVING:
            leader = _restore(snapshot, leaders[group.ordinal], group, plan)
            yield from gangs.ensure(leader)
            if labels.LEADER_NAME in leader.metadata.annotations:
                # Only a cluster without start ordinals makes such a leader (lws#391).
                continue
            yield from _service_actions(snapshot, held, leader)
            if group.ordinal in plan.step.may_complete:
                yield from _worker_set_actions(snapshot, memory, held, leader, gangs)
    yield from gangs.collect(reading)
    edits = describe_edited(reading.observed.groups, snapshot.all(POD))
    yield from _deletions(plan, leaders, edits, memory.leader_set)
    yield from release_leaders(snapshot)
    if plan.report.is_done:
        yield from render_history(snapshot.root, memory.revisions, memory.key)


def create_revision(lws: Object, memory: Memory) -> Create:
    """Create the ControllerRevision for the current spec."""
    number = number_of(memory.revisions[-1]) + 1 if memory.revisions else 1
    body = make_revision(lws, number, memory.key)
    return Create(
        CONTROLLER_REVISION, namespace_of(lws), body, why=f"revision {memory.key} is not stored"
    )


def _leader_set_actions(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan
) -> Iterator[Action]:
    memory: Memory = reading.memory
    lws, live = place_templates(snapshot.root, snapshot.settings), memory.leader_set
    if live is not None and live.metadata.is_leaving:
        return
    found = None if live is None else _decode(live)
    rollout = plan.step.rollout
    if found is None:
        lws, key = _find_start(snapshot, reading)
        wanted = leader_set(lws, key, rollout.count, rollout.boundary)
        yield _apply(wanted, "the leader set does not exist")
        return
    wanted = leader_set(lws, memory.key, rollout.count, rollout.boundary, found)
    if live is not None and not live.metadata.controller:
        # Adopt it, unless another owner comes first.
        wanted["metadata"]["resourceVersion"] = live.metadata.resource_version
    end_scheduler(lws, wanted["spec"]["template"], found["spec"]["template"], snapshot.settings)
    differences = list_stale_fields(wanted, found, snapshot.dropped)
    is_same_revision = live is not None and _revision_of(live.metadata) == memory.key
    is_written = any(path.startswith(_TEMPLATE) for path in differences)
    is_edited = is_same_revision and _is_edited(reading)
    if is_same_revision and is_written:
        if is_edited and not memory.drift.puts.may_repeat:
            return
        wanted = _hold_template(wanted, found, differences, is_edited=is_edited)
        differences = list_stale_fields(wanted, found, snapshot.dropped)
        is_written = any(path.startswith(_TEMPLATE) for path in differences)
    if differences:
        why = f"{', '.join(differences[:3])} differ"
        apply = _apply(wanted, why, disrupts=_gives_up(reading, wanted))
        if is_edited and is_written:
            apply = replace(apply, undoes=memory.drift.describe(name_of(lws)))
        elif live is not None and _REPLICAS in differences:
            apply = replace(apply, undoes=describe_scale(live), undoes_part=SCALE)
        yield apply
    elif memory.drift.edits:
        yield from _remove_additions(memory, wanted, found)


def _find_start(snapshot: Snapshot, reading: Reading[Memory]) -> tuple[Object, str]:
    """
    The spec that a new leader set is made from, and the key of that revision.

    A new StatefulSet has one template for all groups. If a partition holds some groups back
    from the rollout, that must be the template which they have: the oldest revision not in
    the history, since all others move there when a rollout ends.
    """
    memory: Memory = reading.memory
    lws, key = snapshot.root, memory.key
    stored = [r for r in memory.revisions if _revision_of(r.metadata)]
    if reading.workload.rollout.partition and stored:
        key = _revision_of(stored[0].metadata)
        lws = apply_revision(lws, stored[0].decode()) if key != memory.key else lws
    return place_templates(lws, snapshot.settings), key


def _is_edited(reading: Reading[Memory]) -> bool:
    """Whether another client edited the template, as far as we can see."""
    progress, memory = reading.observed.progress, reading.memory
    is_rolling = progress is not None and progress.is_seen
    edited = any(group.is_edited for group in reading.observed.groups)
    return bool(memory.drift.edits) or (is_rolling and edited and not memory.drift.restart)


def _remove_additions(memory: Memory, wanted: Object, found: Object) -> Iterator[Action]:
    """Remove fields that another client has added, which an apply does not."""
    removals = find_additions(memory.drift.edits, wanted, found)
    if not removals or not memory.drift.puts.may_repeat:
        return
    version = {"op": "test", "path": "/metadata/resourceVersion"}
    version["value"] = found["metadata"]["resourceVersion"]
    address = Address(STATEFUL_SET, namespace_of(found), name_of(found))
    undoes = memory.drift.describe(name_of(found))
    why = f"{removals[0]['path']} was added by another client"
    manager = labels.FIELD_MANAGER
    yield Patch(address, [version, *removals], PatchType.JSON, manager, why=why, undoes=undoes)


def _hold_template(
    wanted: Object, found: Object, differences: list[str], *, is_edited: bool
) -> Object:
    is_users = any(path.endswith(_USERS_NOTES) for path in differences)
    body = {**wanted["spec"]}
    if is_users or is_edited:
        rolling = {**body["updateStrategy"]["rollingUpdate"]}
        rolling["partition"] = max(rolling["partition"], body["replicas"])
        body["updateStrategy"] = {**body["updateStrategy"], "rollingUpdate": rolling}
    else:
        body["template"] = found["spec"]["template"]
    return {**wanted, "spec": body}


def _decode(live: SetFacts) -> Object:
    return Whole(live.raw).decode()


def _gives_up(reading: Reading[Memory], wanted: Object) -> bool:
    """Whether existing groups are no longer protected by the partition."""
    progress, target = reading.observed.progress, reading.workload.revision
    if progress is None:
        return False
    partition = wanted["spec"]["updateStrategy"]["rollingUpdate"]["partition"]
    return any(
        partition <= group.ordinal < progress.boundary and group.revision != target
        for group in reading.observed.groups
    )


def _apply(body: Object, why: str, *, disrupts: bool = False) -> Patch:
    address = Address(STATEFUL_SET, namespace_of(body), name_of(body))
    return Patch(address, body, PatchType.APPLY, labels.FIELD_MANAGER, True, why, disrupts)


def shared_service_actions(snapshot: Snapshot) -> Iterator[Action]:
    """Create or restore the one Service of all groups, if they share one."""
    lws = snapshot.root
    if spec.subdomain_policy_of(lws) != spec.SHARED:
        return
    wanted = shared_service(lws)
    yield from bring_service(snapshot, wanted, "the shared service does not exist")


def _leaders_by_ordinal(snapshot: Snapshot, reading: Reading[Memory]) -> dict[int, PodFacts]:
    by_uid = {pod.metadata.uid: pod for pod in snapshot.all(POD)}
    groups = reading.observed.groups
    return {g.ordinal: by_uid[g.incarnation] for g in groups if g.incarnation in by_uid}


def _restore(snapshot: Snapshot, leader: PodFacts, group: Group, plan: Plan) -> PodFacts:
    """
    The leader with the revision that it was made from, whatever its label says now.

    A leader without its label is replaced. If the boundary keeps it, its group is completed from
    the template that it was made from: otherwise it would stay without workers for ever.
    """
    metadata, revision = leader.metadata, group.revision
    if not revision and group.ordinal < plan.step.rollout.boundary:
        revision = _revision_of(metadata) or find_template_revision(snapshot, metadata)
    if revision in ("", _revision_of(metadata)):
        return leader
    told = structs.replace(metadata, labels={**metadata.labels, labels.REVISION: revision})
    return structs.replace(leader, metadata=told)


class _Held:
    """The StatefulSets of the groups, by name."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.sets: dict[str, SetFacts] = {s.metadata.name: s for s in snapshot.all(STATEFUL_SET)}
        self.is_alone = spec.subdomain_policy_of(snapshot.root) == spec.UNIQUE_PER_REPLICA


def _service_actions(snapshot: Snapshot, held: _Held, leader: PodFacts) -> Iterator[Action]:
    lws, name = snapshot.root, leader.metadata.name
    if held.is_alone:
        body = group_service(lws, as_leader(lws, leader))
        yield from bring_service(snapshot, body, f"group {name} has no service")


def _worker_set_actions(
    snapshot: Snapshot, memory: Memory, held: _Held, leader: PodFacts, gangs: Gangs
) -> Iterator[Action]:
    found = held.sets.get(leader.metadata.name)
    if found is not None:
        # Its own, or a leftover to be deleted first: either way nothing can be created now.
        yield from put_workers_back(found, leader.metadata, READER.size_of(leader.metadata) - 1)
        return
    revision = find_revision(memory.revisions, _revision_of(leader.metadata))
    if revision is None:
        return
    then = apply_revision(snapshot.root, revision.decode())
    if spec.size_of(then) == 1:
        return
    topology = spec.find_exclusive_topology(snapshot.root) or ""
    following = find_following(snapshot, gangs, leader, then, topology)
    if following is None:
        return
    body = worker_set(then, as_leader(then, leader), following)
    why = f"group {leader.metadata.name} has no workers"
    yield Create(STATEFUL_SET, namespace_of(snapshot.root), body, why)


def _deletions(
    plan: Plan, leaders: dict[int, PodFacts], edits: dict[int, str], live: SetFacts | None
) -> Iterator[Action]:
    for retired in plan.step.retire:
        if retired.ordinal not in leaders:
            continue
        metadata = leaders[retired.ordinal].metadata
        # In the foreground, so that the workers' names are free when the leader returns.
        yield Delete(
            POD,
            metadata.namespace,
            metadata.name,
            metadata.uid,
            propagation="Foreground",
            why=retired.why,
            disrupts=True,
            undoes=edits.get(retired.ordinal, ""),
            premise=find_premise(
                live, _revision_of(metadata), metadata.labels.get(SET_REVISION, "")
            ),
        )


def _revision_of(metadata: Meta) -> str:
    return metadata.labels.get(labels.REVISION, "")
