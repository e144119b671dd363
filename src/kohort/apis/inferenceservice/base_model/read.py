"""
From a model and the model agent's ConfigMaps, one for each node, to the model's state by node.

A model has no pods: the planner gets a workload without groups. The operator finds ConfigMaps and
nodes by the keys that the model agent writes on them, so it reconciles a model when a node reports
something new about it, or is gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from kohort.apis.api import Key, Reading, Snapshot
from kohort.apis.facts import Meta, NodeFacts
from kohort.apis.groupless import make_groupless
from kohort.apis.inferenceservice import names
from kohort.apis.inferenceservice.labels import MODEL_READY_PREFIX
from kohort.apis.inferenceservice.models import BaseModel, read_model
from kohort.apis.inferenceservice.nodes import read_entries
from kohort.cluster.kinds import CONFIG_MAP, NODE
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.model.observed import Observed


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
