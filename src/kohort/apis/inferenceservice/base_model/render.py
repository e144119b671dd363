"""
Writes for a model: its finalizer, spec fields read from its files, and ConfigMaps of lost nodes.

A finalizer keeps the model until no node has its files any more. The operator fills spec fields
that the user left open with facts that the model agent read; the patch names the resourceVersion,
so that it cannot overwrite a user's edit.
"""

from collections.abc import Iterator

from kohort.apis.api import Reading, Snapshot
from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.base_model.read import Memory
from kohort.apis.inferenceservice.fields import read_object
from kohort.apis.inferenceservice.nodes import find_facts, may_delete
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import CONFIG_MAP
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of
from kohort.cluster.port import Address
from kohort.model.plans import Plan


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
