"""
What the workers of a group take from their leader pod as it is, not from the current settings.

All pods of a group join a gang, or none, and all use one scheduler. So workers that are
created later follow their leader, whatever the operator's flags say by then.

A group with a topology domain to itself gets it through its leader: workers wait for the
leader's node and are sent to its domain. In a gang no pod gets a node before all pods exist, so
that would never end. There workers are created at once, and all members carry affinity terms
that keep them together and other pods away.
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
    """What workers take from their leader; None while the leader's domain is unknown."""
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
    The gang annotation of workers.

    Without a gang it is empty, as upstream does: admission looks at the leader pod. But if the
    object names a gang that the older leader is not in, the value keeps its workers out of it.
    """
    if dialect is not None:
        return dialect.name
    return NONE if annotations_of(snapshot.root).get(labels.GANG) else ""


def _find_notes(dialect: Dialect | None, leader: PodFacts) -> dict[str, str]:
    """The annotations of the leader pod that its workers need to join the same gang."""
    held = leader.metadata.annotations
    if dialect is None:
        # The leader may be in a gang of upstream's scheduler that our flags no longer name.
        told: tuple[str, ...] = (labels.GROUP_NAME,)
    else:
        told = (labels.NETWORK_TOPOLOGY, dialect.queue) if dialect.writes_pod_topology else ()
    return {key: held[key] for key in told if key in held}


def _find_domain(snapshot: Snapshot, leader: PodFacts, topology: str) -> str | None:
    """The domain of the leader's node, to which workers of an exclusive group go."""
    if not leader.spec.node_name:
        return None
    node = snapshot.find_node_labels(leader.spec.node_name)
    return None if node is None else node.get(topology)
