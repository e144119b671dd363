"""
Adapters: each reads one scheduler's PodGroups into a common GangSpec.

Kinds are known by group and name, not by version: what a cluster serves is asked.

Volcano: every field has the meaning that its scheduler gives to it. Hard without a tier, or with
an unknown name, is not enforced. A policy for subgroups counts only if it names labels to tell
them apart. Role minima count only if they do not ask for more than the group's own minimum.

Kubernetes: a group without a gang policy places its pods one by one. The topology is one node
label, always hard; a node without it takes none of the pods. All pods of a group must have one
priority.

KAI: levels of a Topology are required or preferred, and subgroups have names. Where there are
subgroups, their minima count and the group's own does not: one without a minimum is placed when
there is room. A pod that names none is in the one that KAI calls ``default``; a pod whose subgroup
is not there is not seen at all.

The scheduler plugins, Koordinator and Kueue have few fields. Koordinator takes its gangs from
objects or from annotations of pods alone; Kueue has only labels and annotations of pods. Its
scheduling gates are its own: the controller that sets them removes them.
"""

import json
from collections.abc import Callable, Mapping

from kohort.apis.gangs.dialects import koordinator, kueue
from kohort.apis.gangs.dialects.kai import DEFAULT_SUBGROUP, SUBGROUP_NAME
from kohort.cluster.objects import Kind, Object, annotations_of, metadata_of, name_of, namespace_of
from kohort.cluster.selectors import LabelSelector, Requirement, read_label_selector
from kohort.placement.amounts import read_amounts
from kohort.simulator.scheduling.gangs.requests import (
    COSCHEDULING,
    KAI,
    KOORDINATOR,
    KUBERNETES,
    KUEUE,
    VOLCANO,
    GangKey,
    GangSpec,
    Limit,
    SubgroupPolicy,
)

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
    return SubgroupPolicy(
        raw.get("name") or f"policy-{at}",
        tuple(raw.get("matchLabelKeys") or ()),
        max(1, int(raw.get("subGroupSize") or 1)),
        int(raw.get("minSubGroups") or 0),
        read_label_selector(raw.get("labelSelector") or {}),
        _read_limit(raw.get("networkTopology")),
    )


def read_native(obj: Object, kind: Kind) -> GangSpec:
    """A PodGroup of scheduling.k8s.io."""
    spec: Object = obj.get("spec") or {}
    metadata = metadata_of(obj)
    gang: Object = (spec.get("schedulingPolicy") or {}).get("gang") or {}
    constraints: Object = spec.get("schedulingConstraints") or {}
    labels = [each["key"] for each in constraints.get("topology") or () if each.get("key")]
    limit = Limit(is_hard=True, tier_name=labels[0], is_strict=True) if labels else None
    return GangSpec(
        key=GangKey(KUBERNETES, namespace_of(obj), name_of(obj)),
        minimum=int(gang.get("minCount") or 0),
        kind=kind,
        uid=metadata.get("uid", ""),
        created=metadata.get("creationTimestamp", ""),
        priority_class=spec.get("priorityClassName") or "",
        limit=limit,
        domains=("labels", *labels),
        is_uniform=True,
        status=obj.get("status") or {},
    )


LAYERS = ("koordinator",)
_DIGITS_MAX = 9  # of a number of members
_MINIMUMS = (koordinator.PREFIX + "min-available", "pod-group.scheduling.sigs.k8s.io/min-available")


def read_coscheduling(obj: Object, kind: Kind) -> GangSpec:
    """A PodGroup of scheduling.x-k8s.io."""
    return _read_group(obj, kind, COSCHEDULING, None)


def read_koordinator(obj: Object, kind: Kind) -> GangSpec:
    """A PodGroup of scheduling.sigs.k8s.io, with Koordinator's annotations."""
    return _read_group(obj, kind, KOORDINATOR, _read_layers(annotations_of(obj)))


def _read_group(obj: Object, kind: Kind, dialect: str, limit: Limit | None) -> GangSpec:
    spec: Object = obj.get("spec") or {}
    metadata = metadata_of(obj)
    resources = spec.get("minResources")
    return GangSpec(
        key=GangKey(dialect, namespace_of(obj), name_of(obj)),
        minimum=int(spec.get("minMember") or 1),
        kind=kind,
        uid=metadata.get("uid", ""),
        created=metadata.get("creationTimestamp", ""),
        resources=None if resources is None else read_amounts(resources),
        limit=limit,
        domains=LAYERS,
        status=obj.get("status") or {},
    )


def _read_layers(annotations: Mapping[str, str]) -> Limit | None:
    # The widest comes first, so the last of each sort is the nearest.
    asked = _read_strategies(annotations.get(koordinator.TOPOLOGY_SPEC, ""))
    must = [layer for layer, strategy in asked if strategy == "MustGather"]
    should = [layer for layer, strategy in asked if strategy == "PreferGather"]
    if not must and not should:
        return None
    preferred = should[-1] if should else ""
    if must:
        return Limit(is_hard=True, tier_name=must[-1], preferred=preferred, is_strict=True)
    return Limit(is_hard=False, preferred=preferred)


def _read_strategies(text: str) -> list[tuple[str, str]]:
    """Layers and their strategies, from an annotation that no server has validated."""
    try:
        told = json.loads(text) if text else {}
    except ValueError:
        return []
    asked = told.get("gatherStrategy") if isinstance(told, dict) else None
    entries = [each for each in asked if isinstance(each, dict)] if isinstance(asked, list) else []
    return [(str(each.get("layer", "")), str(each.get("strategy", ""))) for each in entries]


def find_implicit(key: GangKey, annotations: Mapping[str, str], created: str) -> GangSpec | None:
    """The gang that a pod's own annotations declare, where no object is needed."""
    if key.dialect == KUEUE:
        size = _find_count(annotations.get(kueue.TOTAL_COUNT, ""))
        return _read_kueue(key, annotations, 1 if size is None else size, created)
    if key.dialect == KOORDINATOR:
        found = (annotations[name] for name in _MINIMUMS if name in annotations)
        size = _find_count(next(found, ""))
        if size is not None:
            limit = _read_layers(annotations)
            return GangSpec(key, size, created=created, limit=limit, domains=LAYERS)
    return None


def _find_count(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= _DIGITS_MAX else None


def _read_kueue(key: GangKey, annotations: Mapping[str, str], size: int, created: str) -> GangSpec:
    must = annotations.get(kueue.REQUIRED_TOPOLOGY, "")
    should = annotations.get(kueue.PREFERRED_TOPOLOGY, "")
    limit = None
    if must:
        limit = Limit(is_hard=True, tier_name=must, is_strict=True)
    elif should:
        limit = Limit(is_hard=False, preferred=should)
    domains = ("labels", must or should)
    return GangSpec(key, size, created=created, limit=limit, domains=domains)


def read_kai(obj: Object, kind: Kind) -> GangSpec:
    """A PodGroup of scheduling.run.ai."""
    spec: Object = obj.get("spec") or {}
    metadata = metadata_of(obj)
    constraint: Object = spec.get("topologyConstraint") or {}
    parts: list[Object] = list(spec.get("subGroups") or ())
    constraints = [constraint, *(part.get("topologyConstraint") or {} for part in parts)]
    topology = next((each["topology"] for each in constraints if each.get("topology")), "")
    return GangSpec(
        key=GangKey(KAI, namespace_of(obj), name_of(obj)),
        minimum=sum(map(_count_part, parts)) if parts else int(spec.get("minMember") or 1),
        kind=kind,
        uid=metadata.get("uid", ""),
        created=metadata.get("creationTimestamp", ""),
        queue=spec.get("queue") or "",
        priority_class=spec.get("priorityClassName") or "",
        limit=_read_kai_limit(constraint),
        domains=(KAI, topology),
        policies=tuple(_read_part(part) for part in parts),
        is_closed=bool(parts),
        status=obj.get("status") or {},
    )


def _read_kai_limit(raw: Object) -> Limit | None:
    must = raw.get("requiredTopologyLevel") or ""
    should = raw.get("preferredTopologyLevel") or ""
    if must:
        return Limit(is_hard=True, tier_name=must, preferred=should, is_strict=True)
    return Limit(is_hard=False, preferred=should) if should else None


def _read_part(raw: Object) -> SubgroupPolicy:
    name, size = raw.get("name", ""), _count_part(raw)
    limit = _read_kai_limit(raw.get("topologyConstraint") or {})
    if name == DEFAULT_SUBGROUP:
        unnamed = LabelSelector((Requirement(SUBGROUP_NAME, "DoesNotExist"),))
        return SubgroupPolicy(name, (), size, min(1, size), unnamed, limit)
    selector = LabelSelector((Requirement(SUBGROUP_NAME, "In", (name,)),))
    return SubgroupPolicy(name, (SUBGROUP_NAME,), size, min(1, size), selector, limit)


def _count_part(raw: Object) -> int:
    return int(raw.get("minMember") or 0)


GroupName = tuple[str, str]

# The kind behind the gangs of each dialect, and how it is read.
GROUPS: dict[GroupName, tuple[str, Callable[[Object, Kind], GangSpec]]] = {
    ("scheduling.volcano.sh", "PodGroup"): (VOLCANO, read_volcano),
    ("scheduling.x-k8s.io", "PodGroup"): (COSCHEDULING, read_coscheduling),
    ("scheduling.sigs.k8s.io", "PodGroup"): (KOORDINATOR, read_koordinator),
    ("scheduling.run.ai", "PodGroup"): (KAI, read_kai),
    ("scheduling.k8s.io", "PodGroup"): (KUBERNETES, read_native),
}
# Other kinds that define where gangs may go.
SURROUNDINGS: frozenset[GroupName] = frozenset(
    {
        ("scheduling.volcano.sh", "Queue"),
        ("topology.volcano.sh", "HyperNode"),
        ("kai.scheduler", "Topology"),
        ("scheduling.koordinator.sh", "ClusterNetworkTopology"),
    }
)


def is_watched(kind: Kind) -> bool:
    """Whether objects of a kind matter to gangs."""
    name = (kind.group, kind.name)
    return name in GROUPS or name in SURROUNDINGS
