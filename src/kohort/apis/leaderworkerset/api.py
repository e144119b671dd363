"""The LeaderWorkerSet API, as a value for the controller."""

from typing import Any

from kohort.apis.api import AdmissionResult, Api, Key, Settings, Watched, Webhook
from kohort.apis.definitions.shapes import find_metadata_misfit, find_pod_misfit, shape_of
from kohort.apis.drift.pods import find_pod_edits
from kohort.apis.edits import find_edits, find_setter
from kohort.apis.facts import Meta, PodFacts, SetFacts, Whole, read_node, read_pod, read_set
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.defaults import default_workload, record_carrier
from kohort.apis.leaderworkerset.admission.placement import validate_placement, warn_placement
from kohort.apis.leaderworkerset.admission.pods import Joining, PodRefused, mutate_pod
from kohort.apis.leaderworkerset.admission.validation import validate_workload
from kohort.apis.leaderworkerset.admission.warnings import warn_workload
from kohort.apis.leaderworkerset.admission_probe import make_probe, wake
from kohort.apis.leaderworkerset.carriers import read, render
from kohort.apis.leaderworkerset.definition import define_leader_worker_set
from kohort.apis.leaderworkerset.drift.labels import has_place, has_variables
from kohort.apis.leaderworkerset.drift.sets import REPLICAS, TEMPLATE
from kohort.apis.leaderworkerset.events import list_events
from kohort.apis.leaderworkerset.home import DISAGGREGATED_SETS, HOME
from kohort.apis.leaderworkerset.objects.gangs import find_dialect
from kohort.apis.leaderworkerset.read import HISTORY, READER
from kohort.apis.leaderworkerset.status import start_status, write_status
from kohort.apis.leaderworkerset.topology import FIELD
from kohort.apis.leaderworkerset.verbs import VERBS
from kohort.apis.losses import Loss, Remaining
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.kinds import CLAIM, CONTROLLER_REVISION, NODE, POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
)
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address

NETWORK_TOPOLOGY = labels.NETWORK_TOPOLOGY.encode()
# Pods that the operator makes already have everything that the webhook would add.
_SELECTOR = {
    "matchExpressions": [
        {"key": labels.NAME, "operator": "Exists"},
        {"key": labels.CARRIER, "operator": "NotIn", "values": [labels.PODS]},
    ]
}


def _owners(child: Any) -> tuple[Key, ...]:
    metadata = child.metadata
    name = metadata.labels.get(labels.NAME) or metadata.labels.get(HISTORY)
    return ((metadata.namespace, name),) if name else ()


def _read_set(raw: bytes) -> SetFacts:
    """Decode a StatefulSet; the leader set keeps its JSON, to be compared field by field."""
    facts = read_set(raw)
    facts.edits = find_edits(raw, labels.FIELD_MANAGER, *TEMPLATE)
    facts.scaled_by = find_setter(raw, labels.FIELD_MANAGER, REPLICAS)
    if facts.metadata.labels.get(labels.NAME) == facts.metadata.name:
        facts.raw = raw
    return facts


def _read_pod(raw: bytes) -> PodFacts:
    facts = read_pod(raw)
    facts.edits = find_pod_edits(raw, (labels.REVISION,))
    facts.is_admitted = has_place(facts.metadata) or has_variables(raw)
    return facts


def _read_revision(raw: bytes) -> Whole:
    """Decode a revision; those of worker sets carry our labels too, and drop their JSON."""
    revision = Whole(raw)
    if not _is_read(revision):
        revision.raw = b""
    return revision


def _is_read(revision: Whole) -> bool:
    """Whether a revision is ours, or tells how often the template of the leader set changed."""
    owners = [o for o in revision.metadata.owner_references if o.controller]
    leaders = STATEFUL_SET.name, revision.metadata.labels.get(labels.NAME)
    return all(o.kind == labels.KIND.name or (o.kind, o.name) == leaders for o in owners)


def _revision_owners(revision: Whole) -> tuple[Key, ...]:
    return _owners(revision) if _is_read(revision) else ()


def _lost(pod: PodFacts, remaining: Remaining) -> Loss | None:
    """The incarnation that a deleted worker belonged to, if that incarnation still exists."""
    metadata = pod.metadata
    place = find_ordinal(metadata.name)
    if metadata.labels.get(labels.WORKER_INDEX) in (None, "0") or place is None:
        return None
    has_pods_carrier = metadata.labels.get(labels.CARRIER) == labels.PODS
    owner = remaining.find(
        POD if has_pods_carrier else STATEFUL_SET, (metadata.namespace, place[0])
    )
    if owner is None or owner.metadata.uid != metadata.controller:
        return None
    if not _has_place(metadata, place[1], owner):
        return None
    incarnation = owner.metadata.uid if has_pods_carrier else owner.metadata.controller
    return Loss((metadata.namespace, metadata.labels.get(labels.NAME, "")), incarnation)


def _has_place(metadata: Meta, index: int, owner: PodFacts | SetFacts) -> bool:
    """Whether a worker's labels name a place that its group has; users can forge labels."""
    size = (
        owner.spec.replicas + 1 if isinstance(owner, SetFacts) else READER.size_of(owner.metadata)
    )
    return metadata.labels.get(labels.WORKER_INDEX) == str(index) and index < size


def _heeds_tiers(root: Whole) -> bool:
    return any(mark in root.raw for mark in (b'"networkTopology"', NETWORK_TOPOLOGY))


def _default(lws: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    if find_metadata_misfit(lws):
        return AdmissionResult()  # The API server or our validation reports the error.
    filled = default_workload(lws)
    if old is None:
        filled = record_carrier(filled, settings.carrier)
    return AdmissionResult(filled)


def _validate(lws: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    shape = shape_of(define_leader_worker_set)
    if misfit := shape.find_misfit(lws):
        return AdmissionResult(refusal=misfit)
    if old is not None and shape.find_misfit(old):
        old = None  # The stored object is malformed, and this update repairs it.
    errors = (*validate_workload(lws, old), *validate_placement(lws, old, settings))
    warnings = (*warn_workload(lws), *warn_placement(lws, settings))
    return AdmissionResult(errors=errors, warnings=warnings)


def _mutate_pod(pod: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    if misfit := find_pod_misfit(pod):
        return AdmissionResult(refusal=misfit)
    dialect = _find_pod_dialect(pod, settings)
    gang = None if dialect is None else Joining(dialect, settings.tiers)
    mutated = mutate_pod(pod, namespace=namespace_of(pod), gang=gang)
    if isinstance(mutated, PodRefused):
        return AdmissionResult(refusal=str(mutated))
    return AdmissionResult(mutated)


def _find_leader(pod: Object, settings: Settings) -> tuple[Address, ...]:
    """The leader of a worker that does not say itself whether it is in a gang."""
    if not settings.gangs or find_pod_misfit(pod):
        return ()
    notes, place = annotations_of(pod), find_ordinal(name_of(pod))
    leader = notes.get(labels.LEADER_NAME)
    if not leader or notes.get(labels.GANG) or place is None or place[0] != leader:
        return ()
    return (Address(POD, namespace_of(pod), leader),)


def _find_pod_dialect(pod: Object, settings: Settings) -> Dialect | None:
    """The dialect of the gang that a pod joins: its leader's, if that pod could be read."""
    for leader in settings.list_beside(POD):
        return find_dialect(settings, labels_of(leader), annotations_of(leader))
    return settings.find_dialect(annotations_of(pod).get(labels.GANG, ""))


def _allow(pod: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    return AdmissionResult()


_PATH = "leaderworkerset-x-k8s-io-v1-leaderworkerset"
WEBHOOKS = (
    Webhook(
        "mleaderworkerset.kb.io",
        f"/mutate-{_PATH}",
        labels.KIND,
        ("CREATE", "UPDATE"),
        _default,
        mutates=True,
    ),
    Webhook(
        "mpod.kb.io",
        "/mutate--v1-pod",
        POD,
        ("CREATE",),
        _mutate_pod,
        _SELECTOR,
        mutates=True,
        find_beside=_find_leader,
    ),
    Webhook(
        "vleaderworkerset.kb.io",
        f"/validate-{_PATH}",
        labels.KIND,
        ("CREATE", "UPDATE"),
        _validate,
    ),
    # Upstream's manifests name it; ours leave it out, since it allows everything.
    Webhook("vpod.kb.io", "/validate--v1-pod", POD, (), _allow, _SELECTOR),
)

# A create of an existing name reads that object; an apply may have to create.
WRITES = (
    Grant(STATEFUL_SET, ("get", "create", "patch")),
    Grant(SERVICE, ("get", "create", "patch")),
    Grant(CONTROLLER_REVISION, ("get", "create", "patch", "delete")),
    # We restore a label that another client changed, and adopt orphaned pods.
    Grant(POD, ("get", "create", "patch", "delete")),
    # A claim that goes with its pod is deleted where the pod has gone before.
    Grant(CLAIM, ("get", "create", "patch", "delete")),
    # Leaders own workers and worker sets, whose references block the leader's deletion.
    Grant(POD, ("update",), "finalizers"),
)


def _watch_gangs(kind: Kind, remedy: str) -> Watched:
    return Watched(kind, Whole, labels.NAME, _owners, remedy)


LEADER_WORKER_SET = Api(
    kind=labels.KIND,
    short_name="lws",
    watched=(
        Watched(STATEFUL_SET, _read_set, labels.NAME, _owners),
        Watched(POD, _read_pod, labels.NAME, _owners),
        Watched(SERVICE, Whole, labels.NAME, _owners),
        Watched(CLAIM, Whole, labels.NAME, _owners),
        Watched(CONTROLLER_REVISION, _read_revision, owners=_revision_owners, is_remembered=True),
        Watched(NODE, read_node),
    ),
    members=POD,
    find_lost=_lost,
    read=read,
    render=render,
    write_status=write_status,
    start_status=start_status,
    list_events=list_events,
    webhooks=WEBHOOKS,
    home=HOME,
    unserved=(DISAGGREGATED_SETS,),
    definitions=(define_leader_worker_set,),
    writes=WRITES,
    verbs=VERBS,
    make_probe=make_probe,
    wake=wake,
    watch_gangs=_watch_gangs,
    additions={FIELD: labels.NETWORK_TOPOLOGY},
    heeds_tiers=_heeds_tiers,
)
