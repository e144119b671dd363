"""
The number of leaders, where another client has set it (``kubectl scale sts/NAME``).

Every write of the leader set names the number that the workload asks for, so it is put back
at once, however often. It is not the template: groups stay what they are, and a rollout
goes on.
"""

from collections.abc import Iterator

from kohort.apis.facts import SetFacts
from kohort.apis.leaderworkerset import spec
from kohort.cluster.objects import Object

REPLICAS = ("f:spec", "f:replicas")
PART = "scale"


def describe_scale(leader_set: SetFacts) -> str:
    """What another client did, in a sentence; empty if the number is ours."""
    if not leader_set.scaled_by:
        return ""
    name, count = leader_set.metadata.name, leader_set.spec.replicas
    return (
        f"StatefulSet {name}: {leader_set.scaled_by} set spec.replicas to {count}; it is put back"
    )


def tell_scale(lws: Object, leader_set: SetFacts | None) -> Iterator[str]:
    """The same, while the number is not what the workload asks for."""
    if leader_set is not None and leader_set.spec.replicas != spec.replicas_of(lws):
        text = describe_scale(leader_set)
        if text:
            yield text
