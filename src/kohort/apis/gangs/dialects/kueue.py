"""
Gangs for Kueue: labels and annotations on pods, which it gates until it has room.

The operator makes no object: Kueue makes its own when all pods of a group exist, so the
entry alone cannot be a gang. It only handles pods that name a queue. Domains are node
labels, and Kueue assigns pods to the nodes of a domain without checking which other pods
are there.
"""

from collections.abc import Iterator

from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.objects import fits_label, mark_pod
from kohort.apis.gangs.dialects.sentences import (
    describe_pack,
    has_no_tier,
    lose_label,
    lose_limit,
    lose_long_name,
    lose_nearest,
    lose_parts,
    name_priorities,
)
from kohort.apis.gangs.intent import Intent, Membership, Tiers
from kohort.cluster.objects import Kind, Object
from kohort.model.placement import Pack, Strength

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
GROUP_NAME = "kueue.x-k8s.io/pod-group-name"
TOTAL_COUNT = "kueue.x-k8s.io/pod-group-total-count"
SERVING = "kueue.x-k8s.io/pod-group-serving"
REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
PREFERRED_TOPOLOGY = "kueue.x-k8s.io/podset-preferred-topology"
_NAME = "kueue"


def _mark(pod: Object, membership: Membership, tiers: Tiers) -> Object:
    if not membership.queue or not fits_label(membership.gang):
        return pod
    annotations = {
        TOTAL_COUNT: str(membership.size),
        # Serving pods never finish: without this, Kueue counts a pod that ended as done.
        SERVING: "true",
        **_write_pack(membership.pack, tiers),
    }
    labels = {QUEUE_NAME: membership.queue, GROUP_NAME: membership.gang}
    return mark_pod(pod, labels=labels, annotations=annotations)


def _write_pack(pack: Pack | None, tiers: Tiers) -> dict[str, str]:
    label = _find_label(pack, tiers)
    if pack is None or not label:
        return {}
    is_limit = pack.strength is Strength.HARD and not has_no_tier(pack)
    return {REQUIRED_TOPOLOGY if is_limit else PREFERRED_TOPOLOGY: label}


def _find_label(pack: Pack | None, tiers: Tiers) -> str:
    """The node label of a pack's tier; without a tier, that of the narrowest known."""
    if pack is None:
        return ""
    if has_no_tier(pack):
        return next((tier.label for tier in tiers.all if tier.label), "")
    tier = tiers.find(pack)
    return tier.label if tier else ""


def _find_losses(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return tuple(_lose(intent, tiers))


def _lose(intent: Intent, tiers: Tiers) -> Iterator[str]:
    if not intent.queue:
        yield (
            f"the gang cannot be given to {_NAME} without a queue: name one in the annotation "
            f"{QUEUE_NAME}"
        )
    if intent.gang.minimum < intent.gang.size:
        yield (
            f"a gang of {intent.gang.minimum} of {intent.gang.size} members cannot be given to "
            f"{_NAME}, which waits for all pods of a group: start them together"
        )
    yield from lose_long_name(intent, _NAME)
    if intent.gang.pack is not None:
        yield from _lose_pack(intent.gang.pack, intent, tiers)
    yield from lose_parts(intent, _NAME)
    if len(intent.priorities) > 1:
        yield (
            f"members have different priority classes ({name_priorities(intent)}), and {_NAME} "
            f"takes that of one pod for all: give all the same"
        )


def _lose_pack(pack: Pack, intent: Intent, tiers: Tiers) -> Iterator[str]:
    yield from lose_limit(pack, _NAME)
    if not _find_label(pack, tiers):
        yield lose_nearest(pack, _NAME) if has_no_tier(pack) else lose_label(pack, _NAME)
    if intent.shapes > 1:
        yield (
            f"{describe_pack(pack)} cannot be given to {_NAME} for pods of different templates "
            f"together: each template has a domain of its own, so give all the same"
        )
    if intent.exclusive:
        yield (
            f"exclusive topology {intent.exclusive} cannot be given to {_NAME}, which chooses "
            f"domains without a look at who is there: take one of the two away"
        )


def _make_variant(version: str) -> Dialect:
    queues = Kind("kueue.x-k8s.io", version, "ClusterQueue", "clusterqueues", namespaced=False)
    return Dialect(
        name=_NAME,
        scheduler="",
        mark=_mark,
        membership=GROUP_NAME,
        remedy="install Kueue, or run the operator without gang scheduling",
        find_losses=_find_losses,
        writes_pod_topology=True,
        queue=QUEUE_NAME,
        needs=(queues,),
        # Its webhook gates pods that have its label, and sees each pod once.
        marks_first=True,
        counts_all=True,
    )


V1BETA2 = _make_variant("v1beta2")
V1BETA1 = _make_variant("v1beta1")
