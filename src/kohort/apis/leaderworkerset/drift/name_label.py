"""
Pods of StatefulSets whose name label another client removed.

The operator watches pods by this label and StatefulSets select by it. Without it, the StatefulSet
controller releases the pod, the operator's cache drops it, and its name stays taken, so no new
pod can be created. The operator reads a long missing pod by name; if its other labels say that it
is that very member, it restores the label, and the StatefulSet adopts the pod. A pod older than
its StatefulSet belonged to a group that was restarted since: it is deleted.
"""

from collections.abc import Iterator
from functools import partial

from kohort.apis.api import MissingMember, Snapshot
from kohort.apis.facts import PodFacts, SetFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.names import group_key
from kohort.cluster.actions import Action, Delete, Patch
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import (
    Object,
    find_controller,
    is_leaving,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from kohort.cluster.port import Address


def find_missing(snapshot: Snapshot) -> Iterator[MissingMember]:
    """The pods that StatefulSets should have and that are not in the cache."""
    pods: tuple[PodFacts, ...] = snapshot.all(POD)
    seen = {pod.metadata.name for pod in pods}
    sets: tuple[SetFacts, ...] = snapshot.all(STATEFUL_SET)
    for found in sets:
        if found.metadata.is_leaving:
            continue
        # The set of a group's workers starts at ordinal 1: ordinal 0 is the leader.
        first = 0 if found.metadata.name == name_of(snapshot.root) else 1
        for ordinal in range(first, first + found.spec.replicas):
            name = f"{found.metadata.name}-{ordinal}"
            if name not in seen:
                address = Address(POD, namespace_of(snapshot.root), name)
                yield MissingMember(address, partial(_restore, snapshot, found, ordinal))


def _restore(snapshot: Snapshot, owner: SetFacts, ordinal: int, pod: Object) -> tuple[Action, ...]:
    workload, name = name_of(snapshot.root), name_of(pod)
    is_leader = owner.metadata.name == workload
    marks = {
        labels.GROUP_KEY: group_key(namespace_of(pod), name if is_leader else owner.metadata.name),
        labels.WORKER_INDEX: "0" if is_leader else str(ordinal),
    }
    held, controller = labels_of(pod), find_controller(pod)
    is_ours = not controller or controller["uid"] == owner.metadata.uid
    if is_leaving(pod) or not is_ours or any(held.get(k) != v for k, v in marks.items()):
        return ()
    if held.get(labels.NAME) == workload:
        # The cache is only late.
        return ()
    said = f"Pod {name}: another client removed {labels.NAME}"
    if pod["metadata"].get("creationTimestamp", "") < (owner.metadata.creation_timestamp or ""):
        why = f"pod {name} was left over without its label, and its name is taken"
        gone = Delete(POD, namespace_of(pod), name, uid_of(pod), why=why, is_unseen=True)
        return (gone,)
    address = Address(POD, namespace_of(pod), name)
    body = {"metadata": {"uid": uid_of(pod), "labels": {labels.NAME: workload}}}
    return (Patch(address, body, why="its name label is gone", undoes=f"{said}; it is put back"),)
