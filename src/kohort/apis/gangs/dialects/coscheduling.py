"""
Gangs for the scheduler plugins: a PodGroup, and a label on its pods.

This scheduler knows how many pods start together and no more: no topology, no subgroups, no
queues. The priority of a group is that of its pods. It does not place a pod whose group does
not exist, so the operator makes a group for all pods that name one.
"""

from collections.abc import Iterator

from kohort.apis.gangs.definitions.coscheduling import POD_GROUP
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.objects import fits_label, mark_pod, write_group
from kohort.apis.gangs.dialects.sentences import (
    describe_pack,
    lose_long_name,
    lose_parts,
    lose_queue,
)
from kohort.apis.gangs.intent import Intent, Membership, Tiers
from kohort.cluster.objects import Object

POD_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
_NAME = "coscheduling"


def _mark(pod: Object, membership: Membership, tiers: Tiers) -> Object:
    if not fits_label(membership.gang):
        return pod
    return mark_pod(pod, labels={POD_GROUP_LABEL: membership.gang})


def _render(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
    spec: Object = {"minMember": intent.gang.minimum}
    if intent.requests:
        spec["minResources"] = dict(intent.requests)
    return (write_group(POD_GROUP, intent, spec),)


def _find_losses(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return tuple(_lose(intent))


def _lose(intent: Intent) -> Iterator[str]:
    pack = intent.gang.pack
    if pack is not None:
        yield (
            f"{describe_pack(pack)} cannot be given to {_NAME}, which knows no topology: use a "
            f"scheduler that does, such as volcano"
        )
    yield from lose_parts(intent, _NAME)
    yield from lose_queue(intent, _NAME)
    yield from lose_long_name(intent, _NAME)


COSCHEDULING = Dialect(
    name=_NAME,
    scheduler="scheduler-plugins-scheduler",
    mark=_mark,
    membership=POD_GROUP_LABEL,
    kinds=(POD_GROUP,),
    remedy="install the coscheduling plugin, or run the operator without gang scheduling",
    render=_render,
    find_losses=_find_losses,
)
