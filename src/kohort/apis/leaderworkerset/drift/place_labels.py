"""
Labels that tell the place of a pod, restored where another client changed them.

The name of a pod tells its place, and no client can change a name. Until the labels are
restored, the pod is no member, and its group does not seem ready. But the group serves, so the
operator lowers no boundary and deletes no old group meanwhile.

Our webhook writes these labels on pods of StatefulSets. A pod that lacks one was made while the
webhook did not answer, and cannot work; or a client has removed the label later. The
variables, which the webhook also writes and which are immutable, tell the two apart.
"""

from collections.abc import Iterator
from functools import lru_cache

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.drift.marks import put_labels_back
from kohort.apis.facts import Meta, PodFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.actions import Action
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Object, name_of, uid_of


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
