"""
From a plan to actions on the pods of a ModelServing, its Services, gangs and revisions.

A revision is stored before any pod is made from it; what a new workload needs follows when the API
server has stored its first one. The operator creates the gang of a group
before its pods, and the entry of an instance before its workers, which store the entry's uid: so
what exists always tells what is missing. One plan creates both: the workers follow when the
API server has stored their entry. Pods are deleted one by one with their uids; a Service or a gang
is deleted when no pod is left that needs it.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading, Snapshot
from kohort.apis.carriers.failures import find_replaced, plan_record
from kohort.apis.drift.lost_revisions import make_again
from kohort.apis.facts import Whole
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.adopted_objects import adopt_objects
from kohort.apis.modelserving.gang_actions import GangActions
from kohort.apis.modelserving.kept_revisions import find_kept
from kohort.apis.modelserving.pod_actions import PodActions
from kohort.apis.modelserving.put_back import put_revisions_back
from kohort.apis.modelserving.read import Memory
from kohort.apis.modelserving.revision import (
    StoredTemplate,
    count_roles,
    make_revision,
    next_number,
    write_counts,
    write_kept,
)
from kohort.apis.modelserving.service_actions import list_service_actions
from kohort.apis.modelserving.spec import roles_of
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Plan

KEPT_MAX = 10  # old revisions


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The actions on the objects of a workload."""
    if reading.workload.is_leaving:
        return ()
    return tuple(_actions(snapshot, reading, plan))


def _actions(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> Iterator[Action]:
    memory = reading.memory
    adopted = tuple(adopt_objects(snapshot))
    if adopted:
        yield from adopted
        return
    served = tuple(_mark_served(snapshot, memory, plan))
    yield from served
    forged = tuple(_remove_forged(snapshot, memory))
    if forged:
        yield from forged
        return
    target = memory.context.target
    if not target.is_stored:
        number = next_number(memory.templates)
        kept = find_kept(memory.context, reading.observed.groups)
        body = make_revision(snapshot.root, target.revision, number, target.accepted, kept)
        why = f"revision {target.revision} is not stored"
        is_first = not memory.stored and not reading.observed.groups
        rest = tuple(_list_first(snapshot, reading, plan)) if is_first else ()
        yield Create(
            CONTROLLER_REVISION, namespace_of(snapshot.root), body, why, lambda stored: rest
        )
        return
    yield from make_again((template.revision, whole) for template, whole in memory.lost)
    yield from put_revisions_back(snapshot, memory.stored)
    yield from _note_kept(snapshot, reading)
    yield from _note_counts(snapshot, memory)
    yield from _note_failures(snapshot, reading, plan)
    gangs = GangActions(snapshot, reading, plan)
    pods = PodActions(snapshot, reading, plan, gangs)
    yield from gangs.ensure()
    yield from list_service_actions(snapshot, reading, plan)
    yield from pods.delete()
    yield from pods.make()
    yield from pods.refresh()
    yield from pods.list_ready_patches()
    yield from gangs.collect()
    used = frozenset[str]() if plan.report.is_done else _find_used(snapshot, memory)
    yield from _forget_revisions(memory, used)


def _list_first(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> Iterator[Action]:
    """The first gangs, Services and pods of a workload, which follow its first revision."""
    gangs = GangActions(snapshot, reading, plan)
    yield from gangs.ensure()
    yield from list_service_actions(snapshot, reading, plan)
    yield from PodActions(snapshot, reading, plan, gangs).make()


def _mark_served(snapshot: Snapshot, memory: Memory, plan: Plan) -> Iterator[Action]:
    """Mark the revision that is about to be replaced if all groups were ready on it."""
    for template, whole in memory.stored:
        is_marked = labels.SERVED in whole.metadata.annotations
        if plan.served and template.revision == plan.served and not is_marked:
            yield _annotate(snapshot, whole, {labels.SERVED: "true"}, "it has served")


def _remove_forged(snapshot: Snapshot, memory: Memory) -> Iterator[Action]:
    """Delete a revision that holds another template under our name; it is stored again later."""
    for template, whole in memory.stored:
        metadata, kind = whole.metadata, CONTROLLER_REVISION
        if template.revision not in memory.context.forged or metadata.is_leaving:
            continue
        why = f"ControllerRevision {metadata.name} holds another template than its name says"
        if snapshot.find_put_backs(kind, metadata.name).may_repeat:
            undoes = f"{why}; it is stored anew"
            yield Delete(
                kind, metadata.namespace, metadata.name, metadata.uid, why=why, undoes=undoes
            )


def _note_kept(snapshot: Snapshot, reading: Reading[Memory]) -> Iterator[Action]:
    """Note on the revision in force what the partitions of roles keep."""
    memory = reading.memory
    whole = _find_stored(memory, memory.context.target.revision)
    if whole is None:
        return
    kept = find_kept(memory.context, reading.observed.groups)
    text = write_kept(kept) if kept else None
    if whole.metadata.annotations.get(labels.KEPT_REVISIONS) != text:
        why = "what the partitions of roles keep has changed"
        yield _annotate(snapshot, whole, {labels.KEPT_REVISIONS: text}, why)


def _note_counts(snapshot: Snapshot, memory: Memory) -> Iterator[Action]:
    """Note on the revision in force how many instances its groups have, before they scale."""
    if memory.context.rolls_by_role:
        return
    wanted = count_roles(roles_of(snapshot.root))
    for template, whole in memory.stored:
        is_in_force = memory.context.target.has_revision(template.revision)
        if is_in_force and count_roles(template.roles) != wanted:
            notes: dict[str, str | None] = {labels.ROLE_REPLICAS: write_counts(wanted)}
            yield _annotate(snapshot, whole, notes, "its roles were scaled")


def _note_failures(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> Iterator[Action]:
    """Record failures on the revision in force; a later plan acts on them."""
    record = plan_record(reading.memory.context.failures, plan)
    whole = _find_stored(reading.memory, reading.memory.context.target.revision)
    if record is not None and whole is not None:
        yield _annotate(snapshot, whole, {labels.RESTARTS: record.text}, record.why)
    if whole is not None:
        yield from _forget_failures(snapshot, reading.memory, whole.metadata.name)


def _forget_failures(snapshot: Snapshot, memory: Memory, in_force: str) -> Iterator[Action]:
    """Remove records of failures that those on the revision in force have replaced."""
    own = {whole.metadata.name: whole for _, whole in memory.stored}
    notes = {name: w.metadata.annotations.get(labels.RESTARTS, "") for name, w in own.items()}
    for name in find_replaced(notes, in_force):
        why = f"{in_force} has the newer failures"
        yield _annotate(snapshot, own[name], {labels.RESTARTS: None}, why)


def _find_stored(memory: Memory, revision: str) -> Whole | None:
    target = memory.context.target
    found = [w for t, w in memory.stored if t.revision == revision]
    found = found or [w for t, w in memory.stored if target.has_revision(t.revision)]
    return found[-1] if found else None


def _find_used(snapshot: Snapshot, memory: Memory) -> frozenset[str]:
    """
    The revisions that a rollout may need before its end: of pods, of kept units, and for an undo.

    A partition keeps a rollout from its end for good, and each edit stores a revision.
    """
    context = memory.context
    status: Object = snapshot.root.get("status") or {}
    held = {pod.metadata.labels.get(labels.REVISION, "") for pod in memory.pods}
    noted = {str(status.get(key) or "") for key in ("currentRevision", "updateRevision")}
    served = [t.revision for t, w in memory.stored if labels.SERVED in w.metadata.annotations]
    return frozenset({*held, *noted, *served[-1:], context.base, *context.kept.values()})


def _forget_revisions(memory: Memory, used: frozenset[str]) -> Iterator[Action]:
    """Delete the oldest revisions beyond the limit, except those that are used."""
    target = memory.context.target
    old: list[tuple[StoredTemplate, Whole]] = [
        (template, whole)
        for template, whole in memory.stored
        if not target.has_revision(template.revision)
    ]
    for template, whole in old[: max(0, len(old) - KEPT_MAX)]:
        if template.revision in used:
            continue
        metadata = whole.metadata
        why = f"more than {KEPT_MAX} old revisions: {template.revision}"
        kind = CONTROLLER_REVISION
        yield Delete(kind, metadata.namespace, metadata.name, metadata.uid, why=why)


def _annotate(snapshot: Snapshot, whole: Whole, notes: dict[str, str | None], why: str) -> Patch:
    name, namespace = whole.metadata.name, namespace_of(snapshot.root)
    address = Address(CONTROLLER_REVISION, namespace, name)
    body = {"metadata": {"uid": whole.metadata.uid, "annotations": notes}}
    return Patch(address, body, why=f"{name_of(snapshot.root)}: {why}")
