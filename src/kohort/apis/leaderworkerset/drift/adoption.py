"""
Which objects with a name of ours and without an owner a workload adopts.

``kubectl delete --cascade=orphan`` leaves all children running without an owner. When the user
applies the workload again, it adopts objects that have its name and the selector that it would
write; the resourceVersion guards against another owner. Other objects keep the name, and the
workload's condition says whose they are, or what they lack.
"""

from msgspec import structs

from kohort.apis.api import InvalidWorkload
from kohort.apis.facts import Owner, PodFacts, SetFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.objects import Object, name_of, uid_of


def check_leader_set(lws: Object, found: SetFacts) -> None:
    """Raise if a StatefulSet has our name and is neither ours nor an orphan of ours."""
    name = name_of(lws)
    owner = next((o for o in found.metadata.owner_references if o.controller), None)
    if owner is not None:
        _refuse(name, f"belongs to {owner.kind} {owner.name}")
    spec = Whole(found.raw).decode()["spec"]
    marks = {labels.NAME: name, labels.WORKER_INDEX: "0"}
    if (spec.get("selector") or {}) != {"matchLabels": marks}:
        _refuse(name, "has no owner, and selects other pods than a leader set of ours")
    held = (spec["template"].get("metadata") or {}).get("labels") or {}
    lacks = [key for key in (*marks, labels.REVISION) if key not in held]
    if lacks:
        _refuse(name, f"has no owner, and its template lacks the label {lacks[0]}")


def _refuse(name: str, why: str) -> None:
    raise InvalidWorkload(
        "NameTaken",
        f"StatefulSet {name} exists and {why}: delete it, or choose another name for this "
        "LeaderWorkerSet",
    )


def is_orphan(lws: Object, leader: PodFacts) -> bool:
    """
    Whether a pod has no owner, the name of a leader, and labels that say that we made it for us.

    The name tells its place: labels of the place that another client changed are put back before
    the pod is adopted. One that has lost its revision label is adopted and then replaced.
    """
    metadata = leader.metadata
    if metadata.controller or metadata.is_leaving:
        return False
    name, held, place = name_of(lws), metadata.labels, find_ordinal(metadata.name)
    if place is None or place[0] != name:
        return False
    return held.get(labels.NAME) == name and held.get(labels.CARRIER) == labels.PODS


def take_back(lws: Object, pods: tuple[PodFacts, ...]) -> tuple[PodFacts, ...]:
    """The pods, with orphans as they will be after adoption, so that no group counts as missing."""
    if not any(is_orphan(lws, pod) for pod in pods):
        return pods
    owner = Owner(labels.KIND.name, name_of(lws), uid_of(lws), controller=True)
    return tuple(_give(pod, owner) if is_orphan(lws, pod) else pod for pod in pods)


def _give(pod: PodFacts, owner: Owner) -> PodFacts:
    metadata = structs.replace(pod.metadata, owner_references=[owner])
    return structs.replace(pod, metadata=metadata)
