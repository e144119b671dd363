"""
KAI's PodGroup: levels of a Topology, required or preferred, and subgroups by name.

The subgroup that KAI calls ``default`` is that of the pods which name none; its
members are counted in the group's own minimum.
"""

from kohort.apis.gangs.dialects.kai import DEFAULT_SUBGROUP, SUBGROUP_NAME
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of
from kohort.cluster.selectors import LabelSelector, Requirement
from kohort.simulator.scheduling.gangs.membership import KAI
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec, Limit, SubgroupPolicy


def read_kai(obj: Object, kind: Kind) -> GangSpec:
    """A PodGroup of scheduling.run.ai."""
    spec: Object = obj.get("spec") or {}
    metadata = metadata_of(obj)
    constraint: Object = spec.get("topologyConstraint") or {}
    parts: list[Object] = [
        part for part in spec.get("subGroups") or () if part.get("name") != DEFAULT_SUBGROUP
    ]
    constraints = [constraint, *(part.get("topologyConstraint") or {} for part in parts)]
    topology = next((each["topology"] for each in constraints if each.get("topology")), "")
    return GangSpec(
        key=GangKey(KAI, namespace_of(obj), name_of(obj)),
        minimum=int(spec.get("minMember") or 1),
        kind=kind,
        uid=metadata.get("uid", ""),
        created=metadata.get("creationTimestamp", ""),
        queue=spec.get("queue") or "",
        priority_class=spec.get("priorityClassName") or "",
        limit=_read_limit(constraint),
        domains=(KAI, topology),
        policies=tuple(_read_part(part) for part in parts),
        status=obj.get("status") or {},
    )


def _read_limit(raw: Object) -> Limit | None:
    must = raw.get("requiredTopologyLevel") or ""
    should = raw.get("preferredTopologyLevel") or ""
    if must:
        return Limit(is_hard=True, tier_name=must, preferred=should, is_strict=True)
    return Limit(is_hard=False, preferred=should) if should else None


def _read_part(raw: Object) -> SubgroupPolicy:
    name = raw.get("name", "")
    selector = LabelSelector((Requirement(SUBGROUP_NAME, "In", (name,)),))
    size = int(raw.get("minMember") or 1)
    limit = _read_limit(raw.get("topologyConstraint") or {})
    return SubgroupPolicy(name, (SUBGROUP_NAME,), size, 1, selector, limit)
