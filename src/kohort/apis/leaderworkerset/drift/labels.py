"""
Labels of pods that another client changed or removed, and how the operator restores them.

The name of a pod tells its place, and no client can change a name. Until the labels of its place
are restored, the pod is no member, and its group does not seem ready. But the group serves, so the
operator lowers no boundary and deletes no old group meanwhile.

Our webhook writes these labels on pods of StatefulSets. A pod that lacks one was made while the
webhook did not answer, and cannot work; or a client has removed the label later. The
variables, which the webhook also writes and which are immutable, tell the two apart.

The operator watches pods by the label with the workload's name, and StatefulSets select by it.
Without it, the StatefulSet controller releases the pod, the operator's cache drops it, and its name
stays taken, so no new pod can be created. The operator reads a long missing pod by name; if its
other labels say that it is that very member, it restores the label, and the StatefulSet adopts the
pod. A pod older than its StatefulSet belonged to a group that was restarted since: it is deleted.
"""

from collections.abc import Iterator
from functools import lru_cache, partial

import orjson

from kohort.apis.api import MissingMember, Snapshot
from kohort.apis.drift.restores import put_labels_back
from kohort.apis.facts import Meta, PodFacts, SetFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.names import group_key
from kohort.apis.ordinals import find_ordinal
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


def put_places_back(snapshot: Snapshot) -> Iterator[Action]:
    """Patch the labels of each pod of ours that name another place than its name does."""
    for pod, change in find_misplaced(snapshot):
        yield from put_labels_back(snapshot, POD, pod.metadata, change)


def find_misplaced(snapshot: Snapshot) -> Iterator[tuple[PodFacts, dict[str, str]]]:
    """Pods of ours whose labels name another place than their names, with the labels to set."""
    pods: tuple[PodFacts, ...] = snapshot.all(POD)
    workload = name_of(snapshot.root)
    # Nearly always there are none, so their owners are checked last.
    moved = [(pod, change) for pod in pods if (change := _find_change(pod, workload))]
    if not moved:
        return
    children = (*pods, *snapshot.all(STATEFUL_SET))
    # A StatefulSet releases a pod whose labels it no longer selects.
    owners = {"", uid_of(snapshot.root), *(child.metadata.uid for child in children)}
    for pod, change in moved:
        if pod.metadata.controller in owners and not pod.metadata.is_leaving:
            yield pod, change


def has_place(metadata: Meta) -> bool:
    """Whether a pod has the labels of a place, right or wrong."""
    return labels.GROUP_INDEX in metadata.labels and labels.WORKER_INDEX in metadata.labels


def has_variables(raw: bytes) -> bool:
    """Whether the containers of a pod have the variables that our webhook adds."""
    containers: list[Object] = orjson.loads(raw)["spec"]["containers"]
    given = [{variable["name"] for variable in c.get("env") or ()} for c in containers]
    return all(labels.LEADER_ADDRESS_VARIABLE in names for names in given)


def _find_change(pod: PodFacts, workload: str) -> dict[str, str]:
    metadata = pod.metadata
    held, wanted = metadata.labels, _find_place(metadata.name, workload)
    if all([held.get(key) == value for key, value in wanted.items()]):
        return {}
    is_known = pod.is_admitted or held.get(labels.CARRIER) == labels.PODS
    return {k: v for k, v in wanted.items() if held.get(k, "" if is_known else v) != v}


@lru_cache(maxsize=65_536)
def _find_place(name: str, workload: str) -> dict[str, str]:
    """The place labels for a pod of this name; empty if no member has such a name."""
    place = find_ordinal(name)
    if place is None:
        return {}
    if place[0] == workload:
        return {labels.GROUP_INDEX: str(place[1]), labels.WORKER_INDEX: "0"}
    outer = find_ordinal(place[0])
    if outer is None or outer[0] != workload:
        return {}
    return {labels.GROUP_INDEX: str(outer[1]), labels.WORKER_INDEX: str(place[1])}
