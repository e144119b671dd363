"""
The number of leaders or workers, where another client has set it (``kubectl scale sts/NAME``).

Every write of the leader set names the number that the workload asks for, so it is put back
at once, however often. It is not the template: groups stay what they are, and a rollout
goes on. A set of workers is written only for this: a pod beyond the end of its group
would stay, and one that is missing would never come back.
"""

from collections.abc import Iterator

from kohort.apis.facts import Meta, SetFacts
from kohort.apis.leaderworkerset import labels, spec
from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Object
from kohort.cluster.port import Address

REPLICAS = ("f:spec", "f:replicas")
PART = "scale"


def describe_scale(found: SetFacts) -> str:
    """What another client did to a set, in a sentence; empty if the number is ours."""
    if not found.scaled_by:
        return ""
    name, count = found.metadata.name, found.spec.replicas
    return f"StatefulSet {name}: {found.scaled_by} set spec.replicas to {count}; it is put back"


def put_workers_back(found: SetFacts, leader: Meta, wanted: int) -> Iterator[Action]:
    """A patch of the number of workers, if another client has changed it."""
    metadata = found.metadata
    is_own = metadata.controller == leader.uid and not metadata.is_leaving
    undoes = describe_scale(found)
    if not is_own or not undoes or found.spec.replicas == wanted:
        return
    address = Address(labels.STATEFUL_SET, metadata.namespace, metadata.name)
    body = {"metadata": {"uid": metadata.uid}, "spec": {"replicas": wanted}}
    why = f"spec.replicas of the workers of {leader.name} differ"
    yield Patch(address, body, why=why, undoes=undoes, undoes_part=PART)


def describe_standing_scale(lws: Object, leader_set: SetFacts | None) -> Iterator[str]:
    """The same, while the number is not what the workload asks for."""
    if leader_set is not None and leader_set.spec.replicas != spec.replicas_of(lws):
        text = describe_scale(leader_set)
        if text:
            yield text
