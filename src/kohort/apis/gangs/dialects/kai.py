"""
Gangs for KAI: a PodGroup with subgroups, in a queue, by the levels of a Topology.

KAI would derive groups from the owners of pods; an annotation keeps it from that. A
Topology lists node labels from wide to narrow and has no numbers: the node itself is
tier 0 here, whether it is listed or not, and each level above is one more. Where there
are several Topologies, the workload names one.

Where there are subgroups, KAI asks for the minimum of each and not for that of the group, and does
not see a pod whose subgroup is not there. So each subgroup is listed that a pod may name; one of
which the gang needs no member has no minimum, and its pods are placed one by one as there is room.
Members that are in no subgroup are in the one that KAI calls ``default``: it is listed where there
are such members, for it would wait for them. No minimum is below 1, the least that is stored.
"""

from collections.abc import Iterator

from kohort.apis.gangs.definitions.kai import HOST, POD_GROUP, TOPOLOGY
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.dialects.objects import mark_pod, write_group
from kohort.apis.gangs.dialects.sentences import (
    describe_pack,
    describe_tiers,
    has_no_tier,
    lose_limit,
    name_priorities,
)
from kohort.apis.gangs.intent import Intent, Membership, Tier, Tiers
from kohort.cluster.objects import Object, name_of
from kohort.model.placement import Pack, Strength

GROUP_NAME = "pod-group-name"
SUBGROUP_NAME = "kai.scheduler/subgroup-name"
QUEUE_NAME = "kai.scheduler/queue"
SKIP_GROUPER = "kai.scheduler/skip-podgrouper"
TOPOLOGY_NAME = "kai.scheduler/topology"
DEFAULT_SUBGROUP = "default"
_NAME = "kai"


def _mark(pod: Object, membership: Membership, tiers: Tiers) -> Object:
    labels = {QUEUE_NAME: membership.queue, SUBGROUP_NAME: membership.part}
    annotations = {GROUP_NAME: membership.gang, SKIP_GROUPER: "true"}
    return mark_pod(pod, {key: value for key, value in labels.items() if value}, annotations)


def _render(intent: Intent, tiers: Tiers) -> tuple[Object, ...]:
    spec: Object = {"minMember": max(1, intent.gang.minimum)}
    if intent.queue:
        spec["queue"] = intent.queue
    if intent.priority:
        spec["priorityClassName"] = intent.priority
    constraint = _write_pack(intent.gang.pack, intent, tiers)
    if constraint:
        spec["topologyConstraint"] = constraint
    if intent.parts:
        spec["subGroups"] = list(_write_parts(intent, tiers))
    return (write_group(POD_GROUP, intent, spec),)


def _write_parts(intent: Intent, tiers: Tiers) -> Iterator[Object]:
    for part in intent.parts:
        constraint = _write_pack(part.pack, intent, tiers)
        for name, needed in part.minima.items():
            subgroup: Object = {"name": name}
            if needed:
                subgroup["minMember"] = needed
            if constraint:
                subgroup["topologyConstraint"] = dict(constraint)
            yield subgroup
    others = intent.gang.size - sum(sum(part.minima.values()) for part in intent.parts)
    if others > 0 and not all(part.is_everywhere for part in intent.parts):
        yield {"name": DEFAULT_SUBGROUP, "minMember": others}


def _write_pack(pack: Pack | None, intent: Intent, tiers: Tiers) -> Object:
    topology, levels = _choose_topology(intent, tiers)
    label = _find_label(pack, levels)
    if pack is None or not topology or not label:
        return {}
    is_limit = pack.strength is Strength.HARD and not has_no_tier(pack)
    level = "requiredTopologyLevel" if is_limit else "preferredTopologyLevel"
    return {"topology": topology, level: label}


def _choose_topology(intent: Intent, tiers: Tiers) -> tuple[str, Tiers]:
    """The Topology that the workload names, or the only one on the cluster, and its levels."""
    sources = list(dict.fromkeys(tier.source for tier in tiers.all))
    name = intent.annotations.get(TOPOLOGY_NAME) or (sources[0] if len(sources) == 1 else "")
    levels = tuple(tier for tier in tiers.all if tier.source == name)
    return name, Tiers(levels, tiers.are_known)


def _find_label(pack: Pack | None, levels: Tiers) -> str:
    """The node label of a pack's tier; without a tier, that of the narrowest level."""
    if pack is None:
        return ""
    if has_no_tier(pack):
        return levels.all[0].label if levels.all else ""
    tier = levels.find(pack)
    return tier.label if tier else ""


def _find_losses(intent: Intent, tiers: Tiers) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_lose(intent, tiers)))


def _lose(intent: Intent, tiers: Tiers) -> Iterator[str]:
    if not intent.queue:
        yield (
            f"the gang cannot be given to {_NAME} without a queue, and is not placed: name one in "
            f"the label {QUEUE_NAME}"
        )
    for pack in (intent.gang.pack, *(part.pack for part in intent.parts)):
        if pack is not None:
            yield from _lose_pack(pack, intent, tiers)
    if len(intent.priorities) > 1:
        yield (
            f"members have different priority classes ({name_priorities(intent)}), and {_NAME} "
            f"is told none for the group: give all the same"
        )


def _lose_pack(pack: Pack, intent: Intent, tiers: Tiers) -> Iterator[str]:
    yield from lose_limit(pack, _NAME)
    topology, levels = _choose_topology(intent, tiers)
    what = f"{describe_pack(pack)} cannot be given to {_NAME}"
    if not topology:
        known = ", ".join(dict.fromkeys(tier.source for tier in tiers.all)) or "none"
        yield (
            f"{what} without a Topology (there are {known}): name one in the annotation "
            f"{TOPOLOGY_NAME}"
        )
    elif not _find_label(pack, levels):
        yield (
            f"{what}, since Topology {topology} has no such level (there are "
            f"{describe_tiers(levels)}): name one of these, or another Topology in the "
            f"annotation {TOPOLOGY_NAME}"
        )


def _read_tiers(topologies: tuple[Object, ...]) -> Tiers:
    found = (tier for each in sorted(topologies, key=name_of) for tier in _read_levels(each))
    return Tiers(tuple(found), are_known=True)


def _read_levels(topology: Object) -> Iterator[Tier]:
    levels = (topology.get("spec") or {}).get("levels") or ()
    labels = [level.get("nodeLabel") or "" for level in reversed(levels)]
    first = 0 if HOST in labels[:1] else 1
    for number, label in enumerate(labels, first):
        yield Tier(number, label.rpartition("/")[2], label, name_of(topology))


KAI = Dialect(
    name=_NAME,
    scheduler="kai-scheduler",
    mark=_mark,
    membership=GROUP_NAME,
    kinds=(POD_GROUP,),
    reads=(TOPOLOGY,),
    remedy="install KAI, or run the operator without gang scheduling",
    render=_render,
    find_losses=_find_losses,
    read_tiers=_read_tiers,
    writes_pod_topology=True,
    queue=QUEUE_NAME,
    clauses=("topologyConstraint", "subGroups", "queue", "priorityClassName"),
)
