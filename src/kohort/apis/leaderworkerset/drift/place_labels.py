"""
Labels that say where a pod stands, put back where another client changed them.

The name of a pod tells its place, and no client can change a name. Until the labels are back,
the pod is no member, and its group seems not to serve. It does, so no boundary is lowered and
nothing old is taken down meanwhile.

Our webhook gives pods of sets their place. One that lacks a label was made while the webhook
did not answer, and cannot work; or a client has removed the label later. The variables, which
come from the webhook too and which no client can change, tell the two apart.
"""

from collections.abc import Iterator
from functools import lru_cache

import orjson

from kohort.apis.api import Snapshot
from kohort.apis.drift.marks import put_labels_back
from kohort.apis.facts import Meta, PodFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import STATEFUL_SET
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.actions import Action
from kohort.cluster.objects import Object, name_of, uid_of


def put_places_back(snapshot: Snapshot) -> Iterator[Action]:
    """A patch for each pod of ours whose labels name another place than its name does."""
    for pod, change in find_misplaced(snapshot):
        yield from put_labels_back(snapshot, labels.POD, pod.metadata, change)


def find_misplaced(snapshot: Snapshot) -> Iterator[tuple[PodFacts, dict[str, str]]]:
    """The pods of ours whose labels name another place than their names do, and what to change."""
    pods: tuple[PodFacts, ...] = snapshot.all(labels.POD)
    workload = name_of(snapshot.root)
    # Nearly always there are none, so who owns them is looked at last.
    moved = [(pod, change) for pod in pods if (change := _find_change(pod, workload))]
    if not moved:
        return
    children = (*pods, *snapshot.all(STATEFUL_SET))
    # A set lets a pod go whose labels it does not select any more.
    owners = {"", uid_of(snapshot.root), *(child.metadata.uid for child in children)}
    for pod, change in moved:
        if pod.metadata.controller in owners and not pod.metadata.is_leaving:
            yield pod, change


def has_place(metadata: Meta) -> bool:
    """Whether a pod carries the labels of a place, right or wrong."""
    return labels.GROUP_INDEX in metadata.labels and labels.WORKER_INDEX in metadata.labels


def has_variables(raw: bytes) -> bool:
    """Whether the containers of a pod have the variables that our webhook gives them."""
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
    """The labels that a pod of this name has; none, if it is no name of a member."""
    place = find_ordinal(name)
    if place is None:
        return {}
    if place[0] == workload:
        return {labels.GROUP_INDEX: str(place[1]), labels.WORKER_INDEX: "0"}
    outer = find_ordinal(place[0])
    if outer is None or outer[0] != workload:
        return {}
    return {labels.GROUP_INDEX: str(outer[1]), labels.WORKER_INDEX: str(place[1])}
