"""
Deadlocks between leaders and the claims that they own.

A leader is deleted in the foreground, so it goes after its workers. If a client scales down while
it waits, the StatefulSet controller makes it the owner of its claims, for which it then waits,
too; and a claim stays as long as a pod that has used it exists. No other controller ends that, even
after the count has risen again. Once no worker is left, the leader need not wait for anything, so
the operator removes its finalizer.
"""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.objects.claims import goes_when_scaled
from kohort.cluster.actions import Action, Patch
from kohort.cluster.kinds import CLAIM, POD, STATEFUL_SET
from kohort.cluster.port import Address

FOREGROUND = "foregroundDeletion"


def release_leaders(snapshot: Snapshot) -> Iterator[Action]:
    """Remove the finalizer of ended leaders that have no workers left and wait for a claim."""
    if not goes_when_scaled(snapshot.root):
        return
    pods: tuple[PodFacts, ...] = snapshot.all(POD)
    held = {found.metadata.name for found in snapshot.all(STATEFUL_SET)}
    held |= {pod.metadata.annotations.get(labels.LEADER_NAME, "") for pod in pods}
    claims: tuple[Whole, ...] = snapshot.all(CLAIM)
    leaving = [claim.metadata for claim in claims if claim.metadata.is_leaving]
    waiting = {owner.uid for metadata in leaving for owner in metadata.owner_references}
    for pod in pods:
        metadata = pod.metadata
        is_ended = metadata.is_leaving and pod.has_ended and FOREGROUND in metadata.finalizers
        if metadata.uid in waiting and is_ended and metadata.name not in held:
            yield _release(pod)


def _release(pod: PodFacts) -> Patch:
    metadata = pod.metadata
    kept = [name for name in metadata.finalizers if name != FOREGROUND]
    body = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
    why = f"leader {metadata.name} waits for claims that wait for it"
    address = Address(POD, metadata.namespace, metadata.name)
    return Patch(address, {"metadata": {**body, "finalizers": kept or None}}, why=why)
