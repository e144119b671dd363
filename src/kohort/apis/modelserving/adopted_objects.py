"""
What a ModelServing takes back that was left without an owner: what bears its label and name.

It counts as the workload's own from the first look on, and is adopted before anything else is
done: so nothing that serves is missed, made again or taken down meanwhile.
"""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.drift.adoption import adopt
from kohort.apis.facts import Meta
from kohort.apis.gangs.dialects.volcano import POD_GROUP
from kohort.apis.modelserving import labels
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.cluster.actions import Action
from kohort.cluster.objects import Object, name_of, uid_of

_MADE = (labels.REVISION, labels.ROLE_TEMPLATE_HASH)
_KINDS = (labels.SERVICE, labels.CONTROLLER_REVISION, POD_GROUP)


def is_own_pod(serving: Object, pod: ServingPod) -> bool:
    """Whether a pod stands where it says, and is the workload's or was: then it has a revision,
    or the hash of its role where another client took that away."""
    held = pod.metadata.labels
    was_made = bool(pod.metadata.controller) or any(key in held for key in _MADE)
    return pod.place is not None and was_made and is_own(serving, pod.metadata)


def is_own(serving: Object, found: Meta) -> bool:
    """Whether an object belongs to the workload, or has lost its owner and was the workload's."""
    owner = found.controller
    if owner:
        return owner == uid_of(serving)
    name = name_of(serving)
    is_named = found.name == name or found.name.startswith(f"{name}-")
    return is_named and not found.is_leaving and found.labels.get(labels.NAME) == name


def adopt_objects(snapshot: Snapshot) -> Iterator[Action]:
    """Take back all that has no owner."""
    serving = snapshot.root
    for kind in _KINDS:
        for whole in snapshot.all(kind):
            if is_own(serving, whole.metadata):
                yield from adopt(serving, kind, whole.metadata)
    for pod in snapshot.all(labels.POD):
        if is_own_pod(serving, pod):
            yield from adopt(serving, labels.POD, pod.metadata)
