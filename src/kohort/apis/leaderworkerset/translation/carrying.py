"""
Which carrier a LeaderWorkerSet has: what it says itself, and nothing else.

Admission writes the carrier on a new object unless it is the usual one, so a flag
that changes later touches new objects only.
"""

from kohort.apis.api import Family, InvalidWorkload, Reading
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.translation import acting, reading
from kohort.apis.leaderworkerset.translation.podwise import acting as pod_acting
from kohort.apis.leaderworkerset.translation.podwise import reading as pod_reading
from kohort.cluster.actions import Action
from kohort.cluster.objects import annotations_of
from kohort.model.plans import Plan

_READ = {labels.STATEFULSETS: reading.read, labels.PODS: pod_reading.read}


def read(family: Family) -> Reading:
    """The family in the words of the model."""
    carrier = annotations_of(family.root).get(labels.CARRIER) or labels.STATEFULSETS
    if carrier not in _READ:
        known = " or ".join(sorted(_READ))
        raise InvalidWorkload(
            "UnknownCarrier", f'annotation {labels.CARRIER} is "{carrier}", and must be {known}'
        )
    return _READ[carrier](family)


def render(family: Family, found: Reading, plan: Plan) -> tuple[Action, ...]:
    """What to do about the objects of a workload."""
    if isinstance(found.memory, pod_reading.PodMemory):
        return pod_acting.render(family, found, plan)
    return acting.render(family, found, plan)
