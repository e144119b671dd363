"""
In-place scheduling: a recreated pod prefers, or requires, the node of the pod that it replaces.

Upstream keeps nodes in memory and forgets them when it restarts; we keep them in an annotation of
the RoleInstanceSet, by pod or by component, since instances are recreated too. Pods avoid nodes
that have one of the labels the user lists. For a group with exclusive topology we add nothing: its
own affinity decides.
"""

from collections.abc import Iterable, Mapping

import orjson

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import (
    BY_COMPONENT,
    PREFERRED,
    REQUIRED,
    SchedulingSpec,
    as_list,
    as_map,
    as_objects,
)
from kohort.cluster.objects import Object, annotations_of

HOSTNAME = "kubernetes.io/hostname"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = 100


def place_key(scheduling: SchedulingSpec, role: str, component: str, pod: str) -> str:
    """The key of a pod's node in the annotation: the pod's name, or role and component."""
    return f"{role}-{component}" if scheduling.granularity == BY_COMPONENT else pod


def read_nodes(instance_set: Object) -> dict[str, list[str]]:
    """The former nodes in a RoleInstanceSet's annotation, by pod or component."""
    try:
        found = orjson.loads(annotations_of(instance_set).get(labels.FORMER_NODES, ""))
    except ValueError:
        return {}
    known = {key: as_list(nodes) for key, nodes in as_map(found).items()}
    return {key: [n for n in nodes if isinstance(n, str)] for key, nodes in known.items()}


def write_nodes(nodes: Mapping[str, Iterable[str]]) -> str:
    """Former nodes by pod or component, as the text of the annotation."""
    listed = {key: sorted(set(held)) for key, held in nodes.items() if held}
    return orjson.dumps(listed, option=orjson.OPT_SORT_KEYS).decode()


def add_former_nodes(pod: Object, scheduling: SchedulingSpec, nodes: Iterable[str]) -> Object:
    """The pod spec with affinity to former nodes, and away from nodes to avoid."""
    listed = sorted(set(nodes))
    affinity = as_map(pod.get("affinity"))
    own = as_map(affinity.get("nodeAffinity"))
    changed = dict(own)
    here = {"key": HOSTNAME, "operator": "In", "values": listed}
    if listed and scheduling.mode == PREFERRED:
        term = {"weight": _WEIGHT, "preference": {"matchExpressions": [here]}}
        changed[_PREFERRED] = [*as_objects(own.get(_PREFERRED)), term]
    required = [here] if listed and scheduling.mode == REQUIRED else []
    if scheduling.mode:
        required += [{"key": key, "operator": "DoesNotExist"} for key in scheduling.avoided]
    if required:
        changed[_REQUIRED] = _require(as_map(own.get(_REQUIRED)), required)
    if changed == own:
        return pod
    return {**pod, "affinity": {**affinity, "nodeAffinity": changed}}


def _require(selector: Object, expressions: list[Object]) -> Object:
    """Add expressions to every node selector term, since terms are alternatives."""
    terms = as_objects(selector.get("nodeSelectorTerms")) or [{}]
    widened = [
        {**term, "matchExpressions": [*as_objects(term.get("matchExpressions")), *expressions]}
        for term in terms
    ]
    return {**selector, "nodeSelectorTerms": widened}
