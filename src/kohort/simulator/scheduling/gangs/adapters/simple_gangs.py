"""
Gangs with few fields: those of the scheduler plugins, of Koordinator, and of Kueue.

Koordinator takes its gangs from objects or from annotations of pods alone; Kueue has
only labels and annotations of pods. Scheduling gates are Kueue's own to set and remove.
"""

import json
from collections.abc import Mapping

from kohort.apis.gangs.dialects import koordinator, kueue
from kohort.cluster.objects import Kind, Object, annotations_of, metadata_of, name_of, namespace_of
from kohort.placement.amounts import read_amounts
from kohort.simulator.scheduling.gangs.membership import COSCHEDULING, KOORDINATOR, KUEUE
from kohort.simulator.scheduling.gangs.requests import GangKey, GangSpec, Limit

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
