"""
BaseModel and ClusterBaseModel: on which nodes a model is ready, as the model agent reports.

A model has no pods: the planner gets a workload without groups. The operator reads the model
agent's ConfigMaps, one for each node. It finds ConfigMaps and nodes by the keys that the model
agent writes on them, so it reconciles a model when a node reports something new about it, or is
gone; ConfigMaps of lost nodes are deleted.

A finalizer keeps the model until no node has its files any more. The operator fills spec fields
that the user left open with facts that the model agent read; the patch names the resourceVersion,
so that it cannot overwrite a user's edit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from kohort.apis.api import Api, ExecutionSummary, Key, Reading, Snapshot, StatusVerdict
from kohort.apis.conversion import Define
from kohort.apis.facts import Meta, NodeFacts, read_node
from kohort.apis.groupless import make_groupless
from kohort.apis.inferenceservice import kinds, labels, names
from kohort.apis.inferenceservice.definition import define_base_model, define_cluster_base_model
from kohort.apis.inferenceservice.fields import read_object, read_text, read_texts
from kohort.apis.inferenceservice.home import HOME
from kohort.apis.inferenceservice.labels import MODEL_READY_PREFIX
from kohort.apis.inferenceservice.models import BaseModel, read_model
from kohort.apis.inferenceservice.nodes import (
    IN_TRANSIT,
    READY,
    find_facts,
    may_delete,
    read_entries,
    write_model_status,
)
from kohort.apis.references import Reference
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import CONFIG_MAP, NODE, POD
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of
from kohort.cluster.permissions import Grant
from kohort.cluster.port import Address
from kohort.model.observed import Observed
from kohort.model.plans import Plan
from kohort.model.reasons import Notice


class NodeReport(msgspec.Struct):
    """The ConfigMap that the model agent keeps for a node, with an entry for each model."""

    metadata: Meta
    data: dict[str, str] | None = None


read_report = msgspec.json.Decoder(NodeReport).decode


@dataclass(frozen=True, slots=True)
class Memory:
    """Details of this API that the planner does not see and rendering needs."""

    model: BaseModel
    entries: Mapping[str, Object]  # of this model, by node, for nodes that exist
    orphans: tuple[NodeReport, ...]  # of nodes that do not exist any more


def find_report_keys(model: Object) -> tuple[Key, ...]:
    """The key of a model in the ConfigMaps of the model agent."""
    named = names.model_status_key(name_of(model), namespace_of(model))
    return ((names.CONTROLLER_NAMESPACE, named),)


def list_report_keys(report: NodeReport) -> tuple[Key, ...]:
    """The keys of all models in a node's ConfigMap."""
    return tuple((report.metadata.namespace, key) for key in report.data or ())


def find_label(model: Object) -> tuple[Key, ...]:
    """The label that the model agent puts on nodes with this model."""
    return (("", names.model_ready_label(name_of(model), namespace_of(model))),)


def list_labels(node: NodeFacts) -> tuple[Key, ...]:
    """The labels on a node for the models that it has."""
    found = node.metadata.labels
    return tuple(("", key) for key in found if key.startswith(MODEL_READY_PREFIX))


def read(snapshot: Snapshot) -> Reading[Memory]:
    """The snapshot of a model as a workload without groups, and its entries by node."""
    root, model = snapshot.root, read_model(snapshot.root)
    # A command that only reads has no list of all nodes, just those with the model's label.
    marked = (node.metadata.name for node in snapshot.references.get(NODE, ()))
    nodes = {*snapshot.nodes, *marked}
    reports: tuple[NodeReport, ...] = snapshot.references.get(CONFIG_MAP, ())
    entries = read_entries(model, map(_as_object, reports), nodes)
    orphans = tuple(report for report in reports if report.metadata.name not in nodes)
    return Reading(make_groupless(root), Observed(), Memory(model, entries, orphans))


def _as_object(report: NodeReport) -> Object:
    return {"metadata": {"name": report.metadata.name}, "data": report.data or {}}


def finalizer_of(kind: Kind) -> str:
    """The finalizer that upstream writes on objects of a kind."""
    return f"{kind.plural}.{kind.group}/finalizer"


def render(snapshot: Snapshot, reading: Reading[Memory], plan: Plan) -> tuple[Action, ...]:
    """The writes for a model."""
    root, memory = snapshot.root, reading.memory
    kind = kinds.BASE_MODEL if memory.model.namespace else kinds.CLUSTER_BASE_MODEL
    lost = tuple(_delete_orphans(memory))
    if reading.workload.is_leaving:
        return (*lost, *render_release(kind, root)) if may_delete(memory.entries) else lost
    return (*lost, *_hold(kind, root), *_fill(kind, root, memory))


def render_release(kind: Kind, root: Object) -> Iterator[Action]:
    """Remove the finalizer, if the object has it."""
    held, ours = list(metadata_of(root).get("finalizers") or ()), finalizer_of(kind)
    if ours in held:
        held.remove(ours)
        why = f"nothing keeps {kind.name} {name_of(root)} any more"
        yield _patch(kind, root, {"finalizers": held or None}, {}, why)


def _hold(kind: Kind, root: Object) -> Iterator[Action]:
    held, ours = list(metadata_of(root).get("finalizers") or ()), finalizer_of(kind)
    if ours not in held:
        why = f"{kind.name} {name_of(root)} must outlive its files on nodes"
        yield _patch(kind, root, {"finalizers": [*held, ours]}, {}, why)


def _fill(kind: Kind, root: Object, memory: Memory) -> Iterator[Action]:
    found = find_facts(read_object(root, "spec"), memory.entries)
    if found:
        why = f"the files of {kind.name} {name_of(root)} tell {', '.join(found)}"
        yield _patch(kind, root, {}, {"spec": found}, why)


def _delete_orphans(memory: Memory) -> Iterator[Action]:
    for report in memory.orphans:
        held = report.metadata
        if not held.is_leaving:
            why = f"node {held.name} has gone"
            yield Delete(CONFIG_MAP, held.namespace, held.name, held.uid, why=why)


def _patch(kind: Kind, root: Object, metadata: Object, body: Object, why: str) -> Patch:
    seen = metadata_of(root)
    guard = {"uid": seen["uid"], "resourceVersion": seen["resourceVersion"]}
    address = Address(kind, namespace_of(root), name_of(root))
    return Patch(address, {"metadata": {**guard, **metadata}, **body}, why=why)


_NODES_MAX = 10
_STATUS_FIELDS = ("state", "nodesReady", "nodesFailed")


def start_status(root: Object) -> Object:
    """The fields that every status has from its first write on."""
    return {"state": IN_TRANSIT}


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a model; fields that other clients wrote stay."""
    held = read_object(snapshot.root, "status")
    kept = {name: value for name, value in held.items() if name not in _STATUS_FIELDS}
    return {**kept, **write_model_status(reading.memory.entries)}


def read_verdict(root: Object) -> StatusVerdict:
    """The state of a model, in the terms in which commands report workloads."""
    status = read_object(root, "status")
    ready, failed = read_texts(status, "nodesReady"), read_texts(status, "nodesFailed")
    lost = f", not on {_join(failed)}" if failed else ""
    if ready:
        return StatusVerdict("ready", "ModelReady", f"ready on {_join(ready)}{lost}")
    if failed:
        return StatusVerdict("broken", "ModelFailed", f"could not be brought to {_join(failed)}")
    told = "no node has it yet: the model agent brings it to the nodes that it chooses"
    return StatusVerdict("starting", "InTransit", told)


def list_events(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, summary: ExecutionSummary
) -> tuple[Notice, ...]:
    """Events: a model became ready or failed, nodes still hold it, or a write was refused."""
    return (
        *_list_changes(snapshot, reading.memory, summary),
        *_list_holders(reading),
        *_list_refused(summary),
    )


def _list_changes(
    snapshot: Snapshot, memory: Memory, summary: ExecutionSummary
) -> Iterator[Notice]:
    if not summary.is_reported:
        return
    held, fresh = read_object(snapshot.root, "status"), write_model_status(memory.entries)
    state, before = fresh["state"], read_text(held, "state")
    if state == READY != before:
        yield Notice("Normal", "ModelReady", f"ready on {_name(fresh, 'nodesReady')}", "Update")
    # Nodes fail one after another, and the status lists them: only the first gets an event.
    if fresh.get("nodesFailed") and not held.get("nodesFailed"):
        nodes = _name(fresh, "nodesFailed")
        told = f"could not be brought to {nodes}: see the model agent's log there"
        yield Notice("Warning", "ModelFailed", told, "Update")


def _list_holders(reading: Reading[Memory]) -> Iterator[Notice]:
    entries = reading.memory.entries
    if reading.workload.is_leaving and not may_delete(entries):
        told = f"waits until the model agent has removed its files from {_join(sorted(entries))}"
        yield Notice("Normal", "DeletionWaits", told, "Delete")


def _list_refused(summary: ExecutionSummary) -> Iterator[Notice]:
    for action, message in summary.failed[:3]:
        yield Notice("Warning", "FailedUpdate", f"{action.why}: {message}"[:1_000], "Update")


def _name(status: Object, field: str) -> str:
    return _join(read_texts(status, field))


def _join(nodes: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(nodes) - _NODES_MAX} more" if len(nodes) > _NODES_MAX else ""
    return f"{'nodes' if len(nodes) > 1 else 'node'} {', '.join(nodes[:_NODES_MAX])}{more}"


def _make(kind: Kind, define: Define) -> Api:
    return Api(
        kind=kind,
        short_name=kind.name.lower(),
        watched=(),
        members=POD,
        read=read,
        render=render,
        write_status=write_status,
        start_status=start_status,
        list_events=list_events,
        has_conditions=False,
        read_verdict=read_verdict,
        references=(
            Reference(
                CONFIG_MAP,
                find_report_keys,
                read_report,
                labels=f"{labels.MODEL_STATUS_LABEL}=true",
                names_of=list_report_keys,
                namespace=names.CONTROLLER_NAMESPACE,
            ),
            Reference(NODE, find_label, read_node, names_of=list_labels),
        ),
        home=HOME,
        definitions=(define,),
        writes=(
            Grant(kind, ("patch",)),
            Grant(kind, ("update",), "finalizers"),
            Grant(CONFIG_MAP, ("delete",)),
        ),
    )


BASE_MODEL = _make(kinds.BASE_MODEL, define_base_model)
CLUSTER_BASE_MODEL = _make(kinds.CLUSTER_BASE_MODEL, define_cluster_base_model)
