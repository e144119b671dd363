"""
The existing objects of a LeaderWorkerSet's gangs, and the actions that bring them to the plan.

Each live leader that was admitted into a gang owns the objects of that gang, so they are deleted
with it. The operator recreates missing ones. If a former leader still owns one of the same name,
it waits until the garbage collector deletes that object, which triggers the next reconcile
(lws#1054). One that the workload owned and lost by ``--cascade=orphan`` is adopted. Leaders made
without gangs get none, since a scheduler would reserve room for pods that never come.

The operator patches topology, queue and priority as long as no member has a node, and never
afterwards: a constraint that the scheduler has acted on stays (P5). Counts stay as they
were created (P3). Patches hold the spec alone: where status is no subresource,
anything else would write it too (P6).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from msgspec import structs

from kohort.apis.api import Reading, Snapshot
from kohort.apis.drift.restores import adopt
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.gangs.changes import with_endings
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.leaderworkerset import labels, names, spec
from kohort.apis.leaderworkerset.objects.differences import list_stale_fields
from kohort.apis.leaderworkerset.objects.gangs import (
    choose_dialect,
    find_dialect,
    make_intent,
)
from kohort.apis.leaderworkerset.read import find_revision
from kohort.apis.leaderworkerset.revision import apply_revision
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import POD
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.model.placement import Gang
from kohort.model.plans import Plan

# The garbage collector deletes objects that one of these owns.
_COLLECTED = ("Pod", labels.KIND.name)


class Gangs:
    """The gangs of one workload in one plan."""

    def __init__(self, snapshot: Snapshot, revisions: tuple[Whole, ...], plan: Plan) -> None:
        self._family = snapshot
        self._lws = snapshot.root
        self._revisions = revisions
        self._plan = plan
        self._planned = {gang.incarnation: gang for gang in plan.gangs}
        self._held: dict[Kind, dict[str, Whole]] = {}
        self._specs: dict[str, Object] = {}  # by the key of their revision

    def find(self, leader: PodFacts) -> tuple[Gang, Dialect] | None:
        """The gang of this leader's group, and its dialect; None if it has no gang."""
        metadata = self._restore(leader).metadata
        is_worker = labels.LEADER_NAME in metadata.annotations
        gang = self._planned.get(metadata.uid)
        if gang is None or is_worker or not self._family.settings.gangs:
            return None
        dialect = find_dialect(self._family.settings, metadata.labels, metadata.annotations)
        return None if dialect is None else (gang, dialect)

    def waits_for_all(self, leader: PodFacts) -> bool:
        """Whether the scheduler places no pod of this leader's group before all its pods exist."""
        found = self.find(leader)
        return found is not None and found[0].minimum > 1

    def ensure(self, leader: PodFacts) -> Iterator[Action]:
        """Create missing gang objects of this leader, and patch those that may still change."""
        leader = self._restore(leader)
        found = self.find(leader)
        if found is None:
            return
        gang, dialect = found
        if self._is_settled(leader, gang, dialect):
            return
        then = self._find_spec(leader.metadata.labels.get(labels.REVISION, ""))
        if then is None:
            return
        if gang.is_placed:
            # The gang object was lost; its pods may be further apart than today's topology allows.
            gang = replace(gang, pack=None)
        intent = make_intent(then, as_leader(then, leader), gang, dialect)
        for wanted in dialect.render(intent, self._family.tiers_of(dialect)):
            kind = _kind_of(wanted, dialect)
            if kind not in self._family.absent:
                yield from self._bring(kind, wanted, leader, gang, dialect)

    def _restore(self, leader: PodFacts) -> PodFacts:
        """The leader with its revision; if its label names none, the name of its gang does."""
        metadata, marks = leader.metadata, leader.metadata.labels
        if self._find_spec(marks.get(labels.REVISION, "")) is not None:
            return leader
        prefix = names.pod_group_name(name_of(self._lws), marks.get(labels.GROUP_INDEX, ""), "")
        for dialect in self._family.settings.gangs:
            named = dialect.find_gang(marks, metadata.annotations)
            key = named.removeprefix(prefix)
            if named.startswith(prefix) and self._find_spec(key) is not None:
                told = structs.replace(metadata, labels={**marks, labels.REVISION: key})
                return structs.replace(leader, metadata=told)
        return leader

    def _bring(
        self, kind: Kind, wanted: Object, leader: PodFacts, gang: Gang, dialect: Dialect
    ) -> Iterator[Action]:
        held = self._all(kind).get(name_of(wanted))
        group = leader.metadata.name
        if held is not None and self._is_orphan(held, dialect):
            # It is adopted before any other action.
            return
        if held is None or _is_in_the_way(held):
            why = f"group {group} has no {_name_kind(kind)}"
            yield Create(kind, namespace_of(self._lws), wanted, why)
        elif self._is_own(held, leader) and dialect.is_mutable and not gang.is_placed:
            pruned = self._family.pruned.get(kind, frozenset())
            change = _find_change(wanted, held, dialect, pruned)
            if change:
                address = Address(kind, namespace_of(self._lws), name_of(wanted))
                body = {"metadata": {"uid": held.metadata.uid}, "spec": change}
                why = f"{_name_kind(kind)} of {group}: {', '.join(sorted(change))} differ"
                yield Patch(address, body, why=why)

    def _is_settled(self, leader: PodFacts, gang: Gang, dialect: Dialect) -> bool:
        """Whether all gang objects of this leader exist and may no longer change."""
        if dialect.is_mutable and not gang.is_placed:
            return False
        name = dialect.find_gang(leader.metadata.labels, leader.metadata.annotations)
        found = [self._all(kind).get(name) for kind in dialect.kinds]
        return all(held is not None and self._is_own(held, leader) for held in found)

    def _is_own(self, held: Whole, leader: PodFacts) -> bool:
        owners = (leader.metadata.uid, uid_of(self._lws))
        return held.metadata.controller in owners and not held.metadata.is_leaving

    def _is_orphan(self, held: Whole, dialect: Dialect) -> bool:
        """Whether the workload made this object and was deleted without it."""
        metadata, marks = held.metadata, held.metadata.labels
        if dialect.belongs_to_leader or metadata.owner_references or metadata.is_leaving:
            return False
        place = marks.get(labels.GROUP_INDEX, ""), marks.get(labels.REVISION, "")
        name = name_of(self._lws)
        return marks.get(labels.NAME) == name and metadata.name == names.pod_group_name(
            name, *place
        )

    def collect(self, reading: Reading[Any]) -> Iterator[Action]:
        """Delete the workload's gangs that no pod names, and that no future pod will name."""
        for dialect in self._family.settings.gangs:
            if not dialect.belongs_to_leader:
                for kind in dialect.kinds:
                    yield from self._collect(kind, dialect, reading)

    def _collect(self, kind: Kind, dialect: Dialect, reading: Reading[Any]) -> Iterator[Action]:
        pods: tuple[PodFacts, ...] = self._family.all(POD)
        named = {dialect.find_gang(p.metadata.labels, p.metadata.annotations) for p in pods}
        for name, held in self._all(kind).items():
            metadata = held.metadata
            if self._is_orphan(held, dialect):
                yield from adopt(self._lws, kind, metadata)
            is_ours = metadata.controller == uid_of(self._lws) and not metadata.is_leaving
            if is_ours and name not in named and not self._may_come(held, dialect, reading):
                why = f"no pod names {_name_kind(kind)} {name} any more"
                yield Delete(kind, metadata.namespace, name, metadata.uid, why=why)

    def _may_come(self, held: Whole, dialect: Dialect, reading: Reading[Any]) -> bool:
        """Whether a future leader may still join this gang."""
        marks, progress = held.metadata.labels, reading.observed.progress
        index, step = marks.get(labels.GROUP_INDEX, ""), self._plan.step.rollout
        count = max(step.count, progress.count if progress else 0)
        number = find_whole(index)
        if number is None or number >= count:
            return False
        if any(gang.ordinal == number for gang in self._plan.gangs):
            # The group has a leader that names another gang or none, and so would the next one.
            return False
        if marks.get(labels.REVISION) == reading.workload.revision:
            is_chosen = choose_dialect(self._lws, self._family.settings) == dialect
            return is_chosen or not self._plan.report.is_done
        # Leaders below the boundary keep their revision; those above only until the carrier knows.
        target = reading.workload.revision
        is_known = progress is not None and progress.target == target and progress.is_seen
        boundary = max(step.boundary, progress.boundary if progress else 0)
        is_held = int(index) < boundary or not is_known
        return is_held and not self._plan.report.is_done

    def _all(self, kind: Kind) -> dict[str, Whole]:
        if kind not in self._held:
            self._held[kind] = {found.metadata.name: found for found in self._family.all(kind)}
        return self._held[kind]

    def _find_spec(self, key: str) -> Object | None:
        if key not in self._specs:
            found = find_revision(self._revisions, key)
            if found is None:
                return None
            self._specs[key] = apply_revision(self._lws, found.decode())
        return self._specs[key]


def _kind_of(obj: Object, dialect: Dialect) -> Kind:
    for kind in dialect.kinds:
        if (kind.api_version, kind.name) == (obj["apiVersion"], obj["kind"]):
            return kind
    raise AssertionError(f"dialect {dialect.name} renders {obj['kind']}, which it does not declare")


def _name_kind(kind: Kind) -> str:
    return "pod group" if kind.name == "PodGroup" else kind.name


def _is_in_the_way(held: Whole) -> bool:
    """Whether no controller will delete the object: the create's refusal then names its owner."""
    owners = [owner for owner in held.metadata.owner_references if owner.controller]
    return not held.metadata.is_leaving and not any(owner.kind in _COLLECTED for owner in owners)


def _find_change(wanted: Object, held: Whole, dialect: Dialect, pruned: frozenset[str]) -> Object:
    """The fields of the spec to patch; null for a clause that the user has removed."""
    found: Object = held.decode().get("spec") or {}
    asked: Object = wanted.get("spec") or {}
    change: Object = {}
    for name in dialect.clauses:
        value = asked.get(name)
        if value is None and name not in dialect.filled and found.get(name) is not None:
            change[name] = None
        elif value is not None:
            value = with_endings(value, found.get(name))
            if list_stale_fields({"spec": {name: value}}, {"spec": found}, pruned):
                change[name] = value
    return change


def as_leader(lws: Object, leader: PodFacts) -> Object:
    """The leader pod as rendering needs it; the containers come from its template."""
    template = spec.template_of(lws)
    chosen = template.get("leaderTemplate") or template.get("workerTemplate") or {}
    metadata = leader.metadata
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "labels": metadata.labels,
            "annotations": metadata.annotations,
        },
        "spec": {**(chosen.get("spec") or {}), "schedulerName": leader.spec.scheduler_name},
    }
