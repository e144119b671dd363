"""
Orphaned objects that a ModelServing adopts: those with its label and name.

They count as the workload's own from the first reconcile on, and are adopted before any other
action: so meanwhile no serving pod counts as missing, is created again or deleted.
"""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.drift.restores import adopt
from kohort.apis.facts import Meta
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.cluster.actions import Action
from kohort.cluster.kinds import CONTROLLER_REVISION, POD, SERVICE
from kohort.cluster.objects import Object, name_of, uid_of

_MADE = (labels.REVISION, labels.ROLE_TEMPLATE_HASH)
_KINDS = (SERVICE, CONTROLLER_REVISION, POD_GROUP)


def is_own_pod(serving: Object, pod: ServingPod) -> bool:
    """Whether a pod has a valid place, and the workload owns it or made it: an orphan needs the
    label of its revision or of its role's hash."""
    held = pod.metadata.labels
    was_made = bool(pod.metadata.controller) or any(key in held for key in _MADE)
    return pod.place is not None and was_made and is_own(serving, pod.metadata)


def is_own(serving: Object, found: Meta) -> bool:
    """Whether the workload owns an object, or made it and it was orphaned since."""
    owner = found.controller
    if owner:
        return owner == uid_of(serving)
    name = name_of(serving)
    is_named = found.name == name or found.name.startswith(f"{name}-")
    return is_named and not found.is_leaving and found.labels.get(labels.NAME) == name


def adopt_objects(snapshot: Snapshot) -> Iterator[Action]:
    """Adopt all objects of the workload that have no owner."""
    serving = snapshot.root
    for kind in _KINDS:
        for whole in snapshot.all(kind):
            if is_own(serving, whole.metadata):
                yield from adopt(serving, kind, whole.metadata)
    for pod in snapshot.all(POD):
        if is_own_pod(serving, pod):
            yield from adopt(serving, POD, pod.metadata)
