"""
Exclusive placement: a group, or a subgroup, has a topology domain to itself.

The terms are appended to the user's own. A pod that already has a required affinity and
anti-affinity term for that topology is left alone: a second pass changes nothing, and of two
rules over one topology only the first is written.
"""

from kohort.cluster.objects import Object

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def add_exclusive_terms(affinity: Object | None, topology: str, label: str, value: str) -> Object:
    """The affinity with terms that keep pods of one label value together and all others away."""
    affinity = affinity or {}
    near: Object = affinity.get("podAffinity") or {}
    far: Object = affinity.get("podAntiAffinity") or {}
    if _has_term(near, topology) and _has_term(far, topology):
        return affinity
    same = {"key": label, "operator": "In", "values": [value]}
    marked = {"key": label, "operator": "Exists"}
    other = {"key": label, "operator": "NotIn", "values": [value]}
    return {
        **affinity,
        "podAffinity": _with_term(near, topology, [same]),
        "podAntiAffinity": _with_term(far, topology, [marked, other]),
    }


def _has_term(affinity: Object, topology: str) -> bool:
    return any(term.get("topologyKey") == topology for term in affinity.get(_REQUIRED) or ())


def _with_term(affinity: Object, topology: str, expressions: list[Object]) -> Object:
    term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology}
    return {**affinity, _REQUIRED: [*(affinity.get(_REQUIRED) or ()), term]}
