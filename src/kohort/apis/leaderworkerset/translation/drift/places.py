"""
Labels that say where a pod stands, put back where another client changed them.

The name of a pod tells its place, and nobody can change that. Until the labels are back,
the pod is no member, so its group does not serve, and nothing of it is given up for that.
A pod of a set that lacks a label was made while no webhook answered: that is no edit.
"""

from collections.abc import Iterator

from kohort.apis.api import Family
from kohort.apis.facts import Meta, PodFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.names import find_ordinal
from kohort.apis.leaderworkerset.translation.reading import STATEFUL_SET
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import name_of, uid_of
from kohort.cluster.port import Address


def put_places_back(family: Family) -> Iterator[Action]:
    """A patch for each pod of ours whose labels name another place than its name does."""
    pods: tuple[PodFacts, ...] = family.all(labels.POD)
    children = (*pods, *family.all(STATEFUL_SET))
    # A set lets a pod go whose labels it does not select any more.
    owners = {"", uid_of(family.root), *(child.metadata.uid for child in children)}
    for pod in pods:
        metadata = pod.metadata
        is_ours = metadata.controller in owners and not metadata.is_leaving
        change = _find_change(metadata, name_of(family.root)) if is_ours else {}
        if change and family.find_put_backs(labels.POD, metadata.name).may_repeat:
            address = Address(labels.POD, metadata.namespace, metadata.name)
            named = " and ".join(change)
            undoes = f"Pod {metadata.name}: another client changed {named}; it is put back"
            body = {"metadata": {"uid": metadata.uid, "labels": change}}
            yield Patch(address, body, why=f"{named} of pod {metadata.name} differ", undoes=undoes)


def _find_change(metadata: Meta, workload: str) -> dict[str, str]:
    held, wanted = metadata.labels, _find_place(metadata.name, workload)
    is_own = held.get(labels.CARRIER) == labels.PODS
    return {k: v for k, v in wanted.items() if held.get(k, "" if is_own else v) != v}


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
