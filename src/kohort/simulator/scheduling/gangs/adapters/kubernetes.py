"""
Kubernetes' own PodGroup, in all its versions.

A group without a gang policy places its pods one by one. The topology is one node
label, always hard; a node without it takes none of the pods. All pods of a group must
have one priority.
"""

from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of
from kohort.simulator.scheduling.gangs.membership import KUBERNETES
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec, Limit


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
