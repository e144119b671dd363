"""
Gangs for Kubernetes' own scheduler: a PodGroup, which its pods name in their spec.

The API has changed with each release, so there is a variant for each release in use; the
operator asks discovery which one is served. All pods of a group must have the same priority
and the same scheduler, or the scheduler never places any. Specs are immutable. A group
refers to no Workload: the reference is optional, and no scheduler reads it.

A group is placed by one node label, which is always hard. Pods name their group in
their spec; the annotation is for clients that only see metadata.
"""

from collections.abc import Callable, Iterator

from kohort.apis.gangs.definitions import kubernetes as stand_in
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.objects import mark_pod, write_group
from kohort.apis.gangs.dialects.sentences import (
    describe_pack,
    has_no_tier,
    lose_label,
    lose_limit,
    lose_parts,
    lose_queue,
    name_priorities,
)
from kohort.apis.gangs.intent import Intent, Membership, Tiers
from kohort.cluster.objects import Kind, Object
from kohort.model.placement import Pack, Strength

POD_GROUP_NAME = "kohort.dev/pod-group"
POD_GROUP_V1BETA1 = Kind("scheduling.k8s.io", "v1beta1", "PodGroup", "podgroups")
POD_GROUP_V1ALPHA2 = stand_in.POD_GROUP
_NAME = "kubernetes"


def _mark(pod: Object, membership: Membership, tiers: Tiers) -> Object:
    marked = mark_pod(pod, annotations={POD_GROUP_NAME: membership.gang})
    named = {"podGroupName": membership.gang}
    return {**marked, "spec": {**(pod.get("spec") or {}), "schedulingGroup": named}}


def _renderer(kind: Kind) -> Callable[[Intent, Tiers], tuple[Object, ...]]:
    def render(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
        spec: Object = {"schedulingPolicy": {"gang": {"minCount": intent.gang.minimum}}}
        label = _find_label(intent.gang.pack, tiers)
        if label:
            spec["schedulingConstraints"] = {"topology": [{"key": label}]}
        if intent.priority:
            spec["priorityClassName"] = intent.priority
        return (write_group(kind, intent, spec),)

    return render


def _find_label(pack: Pack | None, tiers: Tiers) -> str:
    """The node label of a hard limit; empty if there is no limit, or no label for it."""
    if pack is None or pack.strength is not Strength.HARD:
        return ""
    tier = tiers.find(pack)
    return tier.label if tier else ""


def _find_losses(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return tuple(_lose(intent, tiers))


def _lose(intent: Intent, tiers: Tiers) -> Iterator[str]:
    if intent.gang.pack is not None:
        yield from _lose_pack(intent.gang.pack, tiers)
    yield from lose_parts(intent, _NAME)
    yield from lose_queue(intent, _NAME)
    if len(intent.priorities) > 1:
        yield (
            f"members have different priority classes ({name_priorities(intent)}), and {_NAME} "
            f"would not start the group: give all the same"
        )
    if len(intent.schedulers) > 1:
        named = ", ".join(name or "the default" for name in intent.schedulers)
        yield (
            f"members name different schedulers ({named}), and {_NAME} would not start the "
            f"group: give all the same"
        )


def _lose_pack(pack: Pack, tiers: Tiers) -> Iterator[str]:
    if pack.strength is Strength.SOFT:
        yield (
            f"{describe_pack(pack)} cannot be given to {_NAME}, which knows hard topology only: "
            f"ask for hard, or use another scheduler"
        )
    elif has_no_tier(pack):
        yield from lose_limit(pack, _NAME)
    elif not _find_label(pack, tiers):
        yield lose_label(pack, _NAME)


def _make_variant(kind: Kind, remedy: str) -> Dialect:
    return Dialect(
        name=_NAME,
        scheduler="",
        mark=_mark,
        membership=POD_GROUP_NAME,
        kinds=(kind,),
        remedy=remedy,
        render=_renderer(kind),
        find_losses=_find_losses,
        is_mutable=False,
        clauses=("schedulingConstraints", "priorityClassName"),
        # The API server keeps a group while pods name it, so no single pod may own it.
        belongs_to_leader=False,
    )


V1BETA1 = _make_variant(
    POD_GROUP_V1BETA1,
    "turn on the feature gate GenericWorkload and the API scheduling.k8s.io/v1beta1, or run "
    "the operator without gang scheduling",
)
V1ALPHA2 = _make_variant(
    POD_GROUP_V1ALPHA2,
    "turn on the feature gates GenericWorkload and GangScheduling and the API "
    "scheduling.k8s.io/v1alpha2, or run the operator without gang scheduling",
)
