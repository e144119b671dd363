"""
The replicas of a leader or worker set, if another client set them (``kubectl scale sts/NAME``).

Every write of the leader set contains its planned replicas, so the operator restores them at once,
however often they change. Templates stay the same: groups keep their revision, and a rollout
goes on. A worker set is written only for this: a surplus pod would stay for ever, and a
missing one would never come back.
"""

from collections.abc import Iterator

from kohort.apis.facts import Meta, SetFacts
from kohort.apis.leaderworkerset import spec
from kohort.cluster.actions import Action, Patch
from kohort.cluster.kinds import STATEFUL_SET
from kohort.cluster.objects import Object
from kohort.cluster.port import Address

REPLICAS = ("f:spec", "f:replicas")
PART = "scale"


def describe_scale(found: SetFacts) -> str:
    """A sentence about the client that scaled a StatefulSet; empty if the number is ours."""
    if not found.scaled_by:
        return ""
    name, count = found.metadata.name, found.spec.replicas
    return f"StatefulSet {name}: {found.scaled_by} set spec.replicas to {count}; it is put back"


def put_workers_back(found: SetFacts, leader: Meta, wanted: int) -> Iterator[Action]:
    """Restore the replicas of a worker set if another client has changed them."""
    metadata = found.metadata
    is_own = metadata.controller == leader.uid and not metadata.is_leaving
    undoes = describe_scale(found)
    if not is_own or not undoes or found.spec.replicas == wanted:
        return
    address = Address(STATEFUL_SET, metadata.namespace, metadata.name)
    body = {"metadata": {"uid": metadata.uid}, "spec": {"replicas": wanted}}
    why = f"spec.replicas of the workers of {leader.name} differ"
    yield Patch(address, body, why=why, undoes=undoes, undoes_part=PART)


def describe_standing_scale(lws: Object, leader_set: SetFacts | None) -> Iterator[str]:
    """The same sentence for the leader set, while its replicas differ from the workload's."""
    if leader_set is not None and leader_set.spec.replicas != spec.replicas_of(lws):
        text = describe_scale(leader_set)
        if text:
            yield text
