"""
LeaderWorkerSets whose pods a ModelServing makes: ``kohort.dev/carrier: modelserving``.

The operator makes the ModelServing by the conversion that users can run themselves; the set owns
it, so it is deleted with the set. The operator reads the set's status from the pods, and counts no
pod as updated before the ModelServing has observed its latest spec. A set whose pods have another
carrier is left alone unless ``kohort.dev/force: "true"`` allows the operator to delete them. So it
is on the way back: the set makes no pods while its ModelServing exists.

The operator fights no other controller: it acts on LeaderWorkerSets only while it holds the
lease of that API. Where another controller is installed, or has made sets after the ModelServing,
the operator does nothing, forced or not, and the condition says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kohort.apis.api import (
    Api,
    ExecutionSummary,
    InvalidWorkload,
    Key,
    Reading,
    Snapshot,
    Watched,
)
from kohort.apis.bridges.carried_admission import carry_webhooks
from kohort.apis.bridges.carried_groups import read_groups
from kohort.apis.bridges.conversion_report import ConversionRefused
from kohort.apis.bridges.lws_to_ms import convert_to_serving
from kohort.apis.bridges.other_controllers import CARRIER, find_another, refer_to_others
from kohort.apis.carriers.desired import (
    DesiredObjects,
    apply_made,
    find_changes,
    render_desired,
)
from kohort.apis.drift.reports import list_edit_events
from kohort.apis.facts import PodFacts, SetFacts, Whole
from kohort.apis.leaderworkerset import labels as lws_labels
from kohort.apis.leaderworkerset.admission.defaults import default_workload
from kohort.apis.leaderworkerset.read import read_workload
from kohort.apis.modelserving import labels
from kohort.cluster.actions import Action, Delete
from kohort.cluster.kinds import POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    is_leaving,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    owner_reference,
    uid_of,
)
from kohort.cluster.permissions import Grant
from kohort.model.observed import Observed, Progress
from kohort.model.plans import Plan
from kohort.model.reasons import Notice

FORCE = lws_labels.FORCE
ROLE = "default"  # as upstream's own compatibility mode names it
MANAGER = "kohort-carrier"
_NOT_SEEN = "unseen"  # the revision of a set whose ModelServing has not seen it yet


@dataclass(frozen=True, slots=True)
class Memory:
    """The ModelServing to render, and objects of the former carrier to delete."""

    wanted: Object  # the ModelServing
    leftovers: tuple[SetFacts | PodFacts, ...]  # of another carrier; may be deleted


def is_carried(lws: Object) -> bool:
    """Whether the user has asked for a ModelServing as the set's carrier."""
    return annotations_of(lws).get(lws_labels.CARRIER) == CARRIER


def carry_by_serving(base: Api) -> Api:
    """The LeaderWorkerSet API with ModelServing as one more carrier."""

    def read(snapshot: Snapshot) -> Reading[Any]:
        if is_carried(snapshot.root):
            return _read(snapshot)
        _refuse_return(snapshot)
        return base.read(snapshot)

    def render(snapshot: Snapshot, reading: Reading[Any], plan: Plan) -> tuple[Action, ...]:
        if not is_carried(snapshot.root):
            former = _find_former(snapshot)
            return base.render(snapshot, reading, plan) if former is None else _end(former)
        return () if reading.workload.is_leaving else tuple(_render(snapshot, reading.memory))

    def list_events(
        snapshot: Snapshot, reading: Reading[Any], plan: Plan, summary: ExecutionSummary
    ) -> tuple[Notice, ...]:
        if not is_carried(snapshot.root):
            return base.list_events(snapshot, reading, plan, summary)
        return (*plan.notices, *list_edit_events(snapshot, plan, summary))

    remedy = "serve ModelServing, too: --apis lws,ms"
    watched = Watched(labels.KIND, Whole, lws_labels.NAME, _find_owners, remedy, is_needed=False)
    grants = (
        Grant(labels.KIND, ("get", "create", "patch", "delete")),
        # Of the former carrier.
        Grant(STATEFUL_SET, ("delete",)),
        Grant(SERVICE, ("delete",)),
    )
    return replace(
        base,
        watched=(*base.watched, watched),
        read=read,
        render=render,
        list_events=list_events,
        webhooks=carry_webhooks(base.webhooks, CARRIER, FORCE),
        writes=(*base.writes, *grants),
        references=(*base.references, *refer_to_others(base.home)),
        make_probe=lambda snapshot: (
            None if is_carried(snapshot.root) else base.make_probe(snapshot)
        ),
    )


def _find_owners(serving: Whole) -> tuple[Key, ...]:
    metadata = serving.metadata
    name = metadata.labels.get(lws_labels.NAME)
    return ((metadata.namespace, name),) if name else ()


def _read(snapshot: Snapshot) -> Reading[Memory]:
    if labels.KIND in snapshot.unserved:
        raise InvalidWorkload(
            "NotServed",
            f'annotation {lws_labels.CARRIER} is "{CARRIER}", and this cluster serves no '
            "ModelServing: install its definition, or choose another carrier",
        )
    if another := find_another(snapshot):
        raise InvalidWorkload("AnotherController", another)
    held = _find_own(snapshot)
    leftovers = _find_leftovers(snapshot, held)
    wanted = make_serving(snapshot.root)
    is_seen = held is not None and _is_seen(wanted, held.decode())
    status: Object = (held.decode().get("status") or {}) if held is not None else {}
    revision = str(status.get("updateRevision") or _NOT_SEEN) if is_seen else _NOT_SEEN
    owner = held.metadata.uid if held is not None else ""
    groups = read_groups(snapshot.all(POD), owner, snapshot.root)
    workload = read_workload(snapshot, revision, groups)
    count = len(groups)
    progress = Progress(boundary=0, count=count, noted=workload.groups, target=workload.revision)
    observed = Observed(groups=groups, progress=progress, exist=count)
    return Reading(workload, observed, Memory(wanted, leftovers))


def _find_own(snapshot: Snapshot) -> Whole | None:
    """The ModelServing that this set owns; one of the same name and another owner is an error."""
    held: tuple[Whole, ...] = snapshot.all(labels.KIND)
    found = next((s for s in held if s.metadata.name == name_of(snapshot.root)), None)
    if found is not None and found.metadata.controller != uid_of(snapshot.root):
        raise InvalidWorkload(
            "NameTaken",
            f"ModelServing {found.metadata.name} exists and does not belong to this "
            "LeaderWorkerSet: delete it, or choose another name",
        )
    return found


def _find_former(snapshot: Snapshot) -> Whole | None:
    """The ModelServing that carried a set which no longer asks for it."""
    held: tuple[Whole, ...] = snapshot.all(labels.KIND)
    return next((s for s in held if s.metadata.controller == uid_of(snapshot.root)), None)


def _refuse_return(snapshot: Snapshot) -> None:
    """Raise InvalidWorkload if the user has not allowed to delete the former carrier's pods."""
    former = _find_former(snapshot)
    is_free = former is None or former.metadata.is_leaving or is_leaving(snapshot.root)
    if not is_free and annotations_of(snapshot.root).get(FORCE) != "true":
        raise InvalidWorkload(
            "HasPods",
            f"ModelServing {name_of(snapshot.root)} carries the pods of this LeaderWorkerSet, and "
            f'another carrier makes others: say {lws_labels.CARRIER}: "{CARRIER}" again, or '
            f'{FORCE}: "true" to let them go',
        )


def _end(former: Whole) -> tuple[Action, ...]:
    """Delete a ModelServing; it exists until all that it owns has gone."""
    metadata = former.metadata
    if metadata.is_leaving:
        return ()
    why = f"ModelServing {metadata.name} no longer carries its LeaderWorkerSet"
    where = (labels.KIND, metadata.namespace, metadata.name, metadata.uid)
    return (Delete(*where, propagation="Foreground", why=why),)


def _find_leftovers(snapshot: Snapshot, held: Whole | None) -> tuple[SetFacts | PodFacts, ...]:
    """The objects that another carrier made for the set, if the user allows their deletion."""
    uid, name = uid_of(snapshot.root), name_of(snapshot.root)
    children = (*snapshot.all(STATEFUL_SET), *snapshot.all(POD))
    found = tuple(c for c in children if c.metadata.controller == uid)
    if not found:
        return ()
    made = (held.metadata.creation_timestamp or "") if held is not None else ""
    newest = max(child.metadata.creation_timestamp or "" for child in found)
    first = f"{_kind_of(found[0]).name} {found[0].metadata.name}"
    if made and newest > made:
        raise InvalidWorkload(
            "AnotherController",
            f"{first} was made for LeaderWorkerSet {name} after its ModelServing: another "
            f"controller works on it. Stop that one, or remove the annotation {lws_labels.CARRIER}",
        )
    if annotations_of(snapshot.root).get(FORCE) != "true":
        raise InvalidWorkload(
            "HasPods",
            f'LeaderWorkerSet {name} has pods of another carrier, and carrier "{CARRIER}" makes '
            f'others: delete the set and make it anew, or say {FORCE}: "true" to let them go',
        )
    return found


def _kind_of(child: SetFacts | PodFacts) -> Kind:
    return STATEFUL_SET if isinstance(child, SetFacts) else POD


def make_serving(given: Object) -> Object:
    """The ModelServing that makes the pods of a set; raises InvalidWorkload."""
    lws = default_workload(given)
    try:
        done = convert_to_serving(lws, ROLE)
    except ConversionRefused as error:
        raise InvalidWorkload("NotConvertible", str(error)) from error
    lost = [line for line in done.lines if line.matters]
    if lost and annotations_of(given).get(FORCE) != "true":
        raise InvalidWorkload(
            "NotConvertible",
            f"a ModelServing has no word for {lost[0].field}: {lost[0].note}; take it out, or say "
            f'{FORCE}: "true" to do without',
        )
    serving, config = done.object, done.object["spec"]["plugins"][0]["config"]
    # The key that upstream's own compatibility mode gives a group.
    config.pop("groupKey", None)
    notes = {k: v for k, v in annotations_of(serving).items() if k != FORCE}
    metadata = {
        **serving["metadata"],
        "namespace": namespace_of(given),
        "labels": {**labels_of(serving), lws_labels.NAME: name_of(given)},
        "ownerReferences": [owner_reference(given)],
    }
    metadata = (
        {**metadata, "annotations": notes}
        if notes
        else {k: v for k, v in metadata.items() if k != "annotations"}
    )
    return {**serving, "metadata": metadata}


def _is_seen(wanted: Object, held: Object) -> bool:
    """Whether the ModelServing has the spec that we want, and its controller has observed it."""
    seen = (held.get("status") or {}).get("observedGeneration")
    return seen == metadata_of(held).get("generation") and not find_changes(wanted, held, MANAGER)


def _free_names(snapshot: Snapshot) -> Iterator[Action]:
    """
    Delete the Services of the former carrier: those of the ModelServing have the same names.

    They carry no pods, so the user need not allow it once more when those have gone.
    """
    for service in snapshot.all(SERVICE):
        metadata = service.metadata
        if metadata.controller == uid_of(snapshot.root) and not metadata.is_leaving:
            why = f"the ModelServing makes a service {metadata.name} of its own"
            yield Delete(SERVICE, metadata.namespace, metadata.name, metadata.uid, why=why)


def _render(snapshot: Snapshot, memory: Memory) -> Iterator[Action]:
    yield from _free_names(snapshot)
    for child in memory.leftovers:
        metadata = child.metadata
        kind = _kind_of(child)
        if not metadata.is_leaving:
            why = f"{kind.name} {metadata.name} is of another carrier"
            yield Delete(kind, metadata.namespace, metadata.name, metadata.uid, why=why)
    desired = DesiredObjects(labels.KIND, (memory.wanted,), MANAGER)
    for action in render_desired(snapshot.root, desired, snapshot.all(labels.KIND)):
        yield apply_made(action, MANAGER)
