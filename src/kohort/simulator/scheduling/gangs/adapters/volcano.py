"""
Volcano's PodGroup, with the effective meaning that its scheduler gives to each field.

Hard without a tier, or with an unknown name, is not enforced. A policy for
subgroups counts only if it names labels to tell them apart. Role minima count only
if they do not ask for more than the group's own minimum.
"""

from kohort.cluster.objects import Kind, Object, annotations_of, metadata_of, name_of, namespace_of
from kohort.cluster.selectors import EVERYTHING, read_label_selector
from kohort.placement.amounts import read_amounts
from kohort.simulator.scheduling.gangs.membership import VOLCANO
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec, Limit, SubgroupPolicy

DEFAULT_QUEUE = "default"


def read_volcano(obj: Object, kind: Kind) -> GangSpec:
    """A PodGroup of scheduling.volcano.sh."""
    spec: Object = obj.get("spec") or {}
    metadata = metadata_of(obj)
    minimum = int(spec.get("minMember") or 0)
    minima: dict[str, int] = spec.get("minTaskMember") or {}
    resources = spec.get("minResources")
    policies = [_read_policy(raw, at) for at, raw in enumerate(spec.get("subGroupPolicy") or ())]
    return GangSpec(
        key=GangKey(VOLCANO, namespace_of(obj), name_of(obj)),
        minimum=minimum,
        kind=kind,
        uid=metadata.get("uid", ""),
        created=metadata.get("creationTimestamp", ""),
        queue=spec.get("queue") or DEFAULT_QUEUE,
        priority_class=spec.get("priorityClassName") or "",
        resources=None if resources is None else read_amounts(resources),
        minima=minima if sum(minima.values()) <= minimum else {},
        limit=_read_limit(spec.get("networkTopology")),
        policies=tuple(policy for policy in policies if policy.keys),
        annotations=annotations_of(obj),
        status=obj.get("status") or {},
    )


def _read_limit(raw: Object | None) -> Limit | None:
    if raw is None:
        return None
    if raw.get("mode") == "soft":
        return Limit(is_hard=False)
    tier = raw.get("highestTierAllowed")
    name = raw.get("highestTierName") or ""
    if tier is None and not name:
        return None
    return Limit(is_hard=True, tier=None if name else int(tier or 0), tier_name=name)


def _read_policy(raw: Object, at: int) -> SubgroupPolicy:
    selector = raw.get("labelSelector")
    return SubgroupPolicy(
        raw.get("name") or f"policy-{at}",
        tuple(raw.get("matchLabelKeys") or ()),
        max(1, int(raw.get("subGroupSize") or 1)),
        int(raw.get("minSubGroups") or 0),
        EVERYTHING if selector is None else read_label_selector(selector),
        _read_limit(raw.get("networkTopology")),
    )
