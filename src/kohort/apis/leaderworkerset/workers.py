"""
What the workers of a group take from their leader, as it is and not as it would be made now.

A gang is joined by all of a group or by none, and all of it goes to one scheduler. So
whatever the operator is told later, workers that are made then follow their leader.

A group that has a domain to itself has it through its leader: workers wait for its
node and are sent there. In a gang nobody gets a node before all exist, and that would be
for ever. So there workers come at once, and all members carry the terms that keep
them together and others away.
"""

from dataclasses import replace

from kohort.apis.api import Snapshot
from kohort.apis.facts import PodFacts
from kohort.apis.gangs.dialect import NONE, Dialect
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.leaderworkerset.gangs import Gangs
from kohort.apis.leaderworkerset.objects.gangs import find_dialect
from kohort.apis.leaderworkerset.objects.placement import DEFAULT_SCHEDULER
from kohort.apis.leaderworkerset.objects.templates import Following
from kohort.cluster.objects import Object, annotations_of


def find_following(
    snapshot: Snapshot, gangs: Gangs, leader: PodFacts, then: Object, topology: str
) -> Following | None:
    """What workers follow their leader in; None while the domain that they follow to is unknown."""
    named = any(pod.get("schedulerName") for pod in spec.pod_specs_of(then))
    chosen = leader.spec.scheduler_name
    dialect = find_dialect(snapshot.settings, leader.metadata.labels, leader.metadata.annotations)
    following = Following(
        gang=_name_gang(snapshot, dialect),
        notes=_find_notes(dialect, leader),
        scheduler="" if named or chosen == DEFAULT_SCHEDULER else chosen,
    )
    if not topology:
        return following
    if gangs.waits_for_all(leader):
        return replace(following, exclusive=topology)
    found = _find_domain(snapshot, leader, topology)
    return None if found is None else replace(following, node_selector={topology: found})


def _name_gang(snapshot: Snapshot, dialect: Dialect | None) -> str:
    """
    What workers are told of the gang.

    Without one nothing is said, as upstream does: admission looks at their leader. Only where
    the object names a gang now, and the leader is of a time before, that is undone.
    """
    if dialect is not None:
        return dialect.name
    return NONE if annotations_of(snapshot.root).get(labels.GANG) else ""


def _find_notes(dialect: Dialect | None, leader: PodFacts) -> dict[str, str]:
    """What the leader's pod says of its gang that its workers could not know."""
    held = leader.metadata.annotations
    if dialect is None:
        # A gang of upstream's provider is still the leader's when we are told of it no more.
        told: tuple[str, ...] = (labels.GROUP_NAME,)
    else:
        told = (labels.NETWORK_TOPOLOGY, dialect.queue) if dialect.writes_pod_topology else ()
    return {key: held[key] for key in told if key in held}


def _find_domain(snapshot: Snapshot, leader: PodFacts, topology: str) -> str | None:
    """The domain of the leader's node; workers of an exclusive group follow it there."""
    if not leader.spec.node_name:
        return None
    node = snapshot.find_node_labels(leader.spec.node_name)
    return None if node is None else node.get(topology)
