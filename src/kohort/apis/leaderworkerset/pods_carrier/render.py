"""
From a plan to pods, made without StatefulSets.

The operator writes a decision about the rollout on the revision, and does no more about it in
this plan. It acts on the note that it has read: it creates the groups that the note wants, and
deletes those beyond it or released by it, each by its leader, in the foreground, so that all
names are free when the leader is gone.

A pod whose name is in use is not created: the name belongs to a pod that is terminating, or to
a leftover that the garbage collector deletes. Workers need the uid of their leader, so they
are created one plan after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from kohort.apis.api import InvalidWorkload, Reading, Snapshot
from kohort.apis.carriers.pods import Note, settle_base, write_note
from kohort.apis.drift.pods import describe_edited
from kohort.apis.drift.restores import adopt
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.leaderworkerset import labels, names, spec
from kohort.apis.leaderworkerset.admission.pods import Joining, PodRefused
from kohort.apis.leaderworkerset.drift.labels import find_misplaced, put_places_back
from kohort.apis.leaderworkerset.drift.services import bring_service
from kohort.apis.leaderworkerset.gangs import Gangs, as_leader
from kohort.apis.leaderworkerset.history import mark_served, render_history
from kohort.apis.leaderworkerset.lost_revisions import make_again
from kohort.apis.leaderworkerset.objects.gangs import choose_dialect, find_dialect
from kohort.apis.leaderworkerset.objects.placement import place_templates
from kohort.apis.leaderworkerset.objects.pods import leader_pods, worker_pods
from kohort.apis.leaderworkerset.objects.services import group_service
from kohort.apis.leaderworkerset.pods_carrier.claims import Claims
from kohort.apis.leaderworkerset.pods_carrier.read import PodMemory
from kohort.apis.leaderworkerset.read import find_revision
from kohort.apis.leaderworkerset.render import (
    create_revision,
    shared_service_actions,
)
from kohort.apis.leaderworkerset.revision import apply_revision
from kohort.apis.leaderworkerset.workers import find_following
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object, labels_of, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.observed import Group, Progress
from kohort.model.plans import Plan, Retirement
from kohort.model.units import Phase

_MAKE_MAX = 1_000  # workers of all groups that one plan creates; the next creates more


def render(snapshot: Snapshot, reading: Reading[PodMemory], plan: Plan) -> tuple[Action, ...]:
    """The actions on the pods of a workload, their claims, Services and gangs."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_actions(snapshot, reading, plan))


def _actions(snapshot: Snapshot, reading: Reading[PodMemory], plan: Plan) -> Iterator[Action]:
    memory: PodMemory = reading.memory
    yield from make_again(memory.lost)
    for stored in memory.revisions:
        yield from adopt(snapshot.root, CONTROLLER_REVISION, stored.metadata)
    if memory.orphans:
        # They must be adopted before any other action.
        yield from _adopt_leaders(snapshot, memory)
        return
    served = mark_served(snapshot.root, reading, plan)
    yield from served
    gone = _find_gone(reading, plan)
    parting = Claims(snapshot).let_go({pod.metadata.name: pod for pod in snapshot.all(POD)}, gone)
    yield from parting
    if not parting and (memory.revision is None or not served):
        # A new note replaces that of the last target, so the served mark is written first.
        yield from _note_actions(snapshot.root, reading, plan)
    yield from put_places_back(snapshot)
    yield from shared_service_actions(snapshot)
    note = memory.note
    if note is not None and note.progress.target == memory.key:
        scene = _Scene(snapshot, reading, plan, note)
        yield from _deletions(scene)
        yield from _leader_actions(scene)
        for group in scene.staying:
            yield from scene.gangs.ensure(scene.leader_of(group))
            yield from _group_actions(scene, group)
        yield from scene.gangs.collect(reading)
        yield from scene.claims.keep(scene.held.values(), scene.surplus, gone)
    if plan.report.is_done:
        yield from render_history(snapshot.root, memory.revisions, memory.key)


def _adopt_leaders(snapshot: Snapshot, memory: PodMemory) -> Iterator[Action]:
    """Each step is a plan of its own: labels of places, then claims, then leaders."""
    orphans = frozenset(orphan.uid for orphan in memory.orphans)
    pods: tuple[PodFacts, ...] = snapshot.all(POD)
    if any(pod.metadata.uid in orphans for pod, _ in find_misplaced(snapshot)):
        yield from put_places_back(snapshot)
        return
    claims = Claims(snapshot).give_back(pods, orphans)
    yield from claims
    if not claims:
        for orphan in memory.orphans:
            yield from adopt(snapshot.root, POD, orphan)


def _find_gone(reading: Reading[PodMemory], plan: Plan) -> range:
    """The ordinals that the next note no longer counts."""
    held = reading.memory.note
    return range(plan.step.rollout.count, held.progress.count) if held else range(0)


def _note_actions(lws: Object, reading: Reading[PodMemory], plan: Plan) -> Iterator[Action]:
    memory: PodMemory = reading.memory
    wanted = _next_note(reading, plan)
    notes = {labels.PROGRESS: write_note(wanted)}
    if memory.revision is None:
        made = create_revision(lws, memory)
        metadata = {**made.obj["metadata"], "annotations": notes}
        yield Create(made.kind, made.namespace, {**made.obj, "metadata": metadata}, made.why)
    elif memory.note is None or memory.note.progress != wanted.progress:
        address = Address(CONTROLLER_REVISION, namespace_of(lws), memory.revision.metadata.name)
        step = wanted.progress
        why = f"from group {step.boundary} of {step.count} on the revision is {step.target}"
        yield Patch(address, {"metadata": {"annotations": notes}}, why=why)


def _next_note(reading: Reading[PodMemory], plan: Plan) -> Note:
    memory: PodMemory = reading.memory
    held, rollout, key = memory.note, plan.step.rollout, memory.key
    progress = Progress(rollout.boundary, rollout.count, reading.workload.groups, key)
    if held is None:
        return Note(progress, base=key, turn=1)
    is_turn = held.progress.target != key
    stored = {_key_of(revision) for revision in (*memory.revisions, *memory.lost)}
    base = settle_base(held, reading.observed.groups, stored)
    return Note(progress, base, held.turn + is_turn)


@dataclass(slots=True)
class _Scene:
    """One plan on its way to actions: existing objects by name, and values computed once."""

    snapshot: Snapshot
    reading: Reading[PodMemory]
    plan: Plan
    note: Note
    held: dict[str, PodFacts] = field(init=False)  # by name
    claims: Claims = field(init=False)
    gangs: Gangs = field(init=False)
    retired: dict[int, Retirement] = field(init=False)  # groups to delete
    surplus: frozenset[str] = field(init=False)  # uids of leaders that are surplus
    ended: dict[int, list[str]] = field(init=False)  # workers to recreate, by group
    workers_left: int = field(init=False)  # that this plan may still create
    _specs: dict[str, Object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workers_left = _MAKE_MAX
        self.ended = {}
        for ordinal, name in self.plan.step.renew:
            self.ended.setdefault(ordinal, []).append(name)
        self.held = {pod.metadata.name: pod for pod in self.snapshot.all(POD)}
        self.claims = Claims(self.snapshot)
        self.gangs = Gangs(self.snapshot, self.reading.memory.revisions, self.plan)
        retired = self.plan.step.retire
        self.retired = {retirement.ordinal: retirement for retirement in retired}
        surplus, groups = self.plan.step.surplus, self.reading.observed.groups
        self.surplus = frozenset(g.incarnation for g in groups if g.ordinal in surplus)

    @property
    def staying(self) -> Iterator[Group]:
        """The groups that are neither leaving nor deleted by this plan."""
        for group in self.reading.observed.groups:
            if group.phase is not Phase.LEAVING and group.ordinal not in self.retired:
                yield group

    def leader_of(self, group: Group) -> PodFacts:
        """The leader pod of a group."""
        return self.held[group.members[0].name]

    def join(self, dialect: Dialect | None) -> Joining | None:
        """What pods need to join a gang in this dialect; None without a dialect."""
        return None if dialect is None else Joining(dialect, self.snapshot.tiers_of(dialect))

    def find_spec(self, key: str) -> Object | None:
        """The object with its spec at a revision; None if that revision is no longer stored."""
        if key not in self._specs:
            memory: PodMemory = self.reading.memory
            found = find_revision(memory.revisions, key)
            if found is None:
                return None
            self._specs[key] = apply_revision(self.snapshot.root, found.decode())
        return self._specs[key]


def _key_of(revision: Whole) -> str:
    return revision.metadata.labels.get(labels.REVISION, "")


def _deletions(scene: _Scene) -> Iterator[Action]:
    groups = scene.reading.observed.groups
    edits = describe_edited(groups, scene.snapshot.all(POD))
    for group in groups:
        retired = scene.retired.get(group.ordinal)
        if retired is None:
            continue
        pods = [scene.held[member.name] for member in group.members]
        is_surplus = group.incarnation in scene.surplus
        # Claims that are deleted with a pod need their owner while the pod still exists.
        if is_surplus and any(scene.claims.find_changes(pod, True) for pod in pods):
            continue
        delete = _delete(pods[0], f"group {group.ordinal}: {retired.why}", "Foreground")
        yield delete if is_surplus else replace(delete, undoes=edits.get(group.ordinal, ""))


def _delete(pod: PodFacts, why: str, propagation: str = "") -> Delete:
    metadata = pod.metadata
    return Delete(POD, metadata.namespace, metadata.name, metadata.uid, propagation, why)


def _leader_actions(scene: _Scene) -> Iterator[Action]:
    missing: dict[str, list[int]] = {}  # by the revision they are made from
    name = name_of(scene.snapshot.root)
    for make in scene.plan.step.make:
        # A name in use belongs to a leftover, which the garbage collector deletes.
        if names.leader_name(name, make.ordinal) not in scene.held:
            missing.setdefault(make.revision, []).append(make.ordinal)
    for key, ordinals in missing.items():
        then = scene.find_spec(key)
        joining = scene.join(choose_dialect(scene.snapshot.root, scene.snapshot.settings))
        if then is not None:
            told = place_templates(then, scene.snapshot.settings)
            for pod in leader_pods(told, key, ordinals, joining):
                yield from _create(scene, pod)


def _group_actions(scene: _Scene, group: Group) -> Iterator[Action]:
    leader = scene.leader_of(group)
    if leader.metadata.annotations.get(labels.SUBDOMAIN_POLICY) == spec.UNIQUE_PER_REPLICA:
        # Members find each other through it, whatever revision their group has.
        yield from _service_actions(scene, as_leader(scene.snapshot.root, leader))
    # An edited group has no revision, but missing pods are made at its leader's label.
    held = leader.metadata.labels.get(labels.REVISION, "")
    then = scene.find_spec(group.revision or held)
    if then is None:
        return
    if group.ordinal in scene.plan.step.may_complete:
        yield from _worker_actions(scene, group, then, as_leader(then, leader))


def _service_actions(scene: _Scene, leader: Object) -> Iterator[Action]:
    wanted = group_service(scene.snapshot.root, leader)
    yield from bring_service(scene.snapshot, wanted, f"group {name_of(leader)} has no service")


def _worker_actions(scene: _Scene, group: Group, then: Object, leader: Object) -> Iterator[Action]:
    for name in scene.ended.get(group.ordinal, ()):
        yield _delete(scene.held[name], f"pod {name} has ended")
    wanted = ((i, names.worker_name(name_of(leader), i)) for i in range(1, group.size))
    left = scene.workers_left
    missing = [*islice((i for i, worker in wanted if worker not in scene.held), left)]
    if not missing:
        return
    topology = leader["metadata"]["annotations"].get(labels.EXCLUSIVE_TOPOLOGY, "")
    gangs, entry = scene.gangs, scene.leader_of(group)
    following = find_following(scene.snapshot, gangs, entry, then, topology)
    if following is None:
        return
    # A worker follows its leader into a gang, whatever the operator's flags say now.
    metadata = entry.metadata
    dialect = find_dialect(scene.snapshot.settings, metadata.labels, metadata.annotations)
    scene.workers_left -= len(missing)
    for made in worker_pods(then, leader, missing, following, scene.join(dialect)):
        yield from _create(scene, made)


def _create(scene: _Scene, pod: Object | PodRefused) -> Iterator[Action]:
    if isinstance(pod, PodRefused):
        raise InvalidWorkload("PodRefused", str(pod))
    lws, name = scene.snapshot.root, name_of(pod)
    if scene.claims.are_going(name):
        return
    yield from scene.claims.make(name, labels_of(pod))
    yield Create(POD, namespace_of(lws), pod, why=f"pod {name} does not exist")
