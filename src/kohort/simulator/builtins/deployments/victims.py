"""
Which pods of a ReplicaSet to remove first when there are too many.

Pods that serve least go first: without a node, not running, not ready; then pods of
low deletion cost, pods that share their node with most pods of the set, pods that have
been ready for the shortest time, that restarted most, and that are youngest. Of equal
pods the name decides.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kohort.apiserver.store.entries import StoredObject

COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def choose_victims(
    pods: list[StoredObject], related: Iterable[StoredObject], count: int
) -> list[StoredObject]:
    """The pods to remove, the least useful first."""
    if count >= len(pods):
        return sorted(pods, key=lambda pod: pod.name)
    crowds = Counter(_node(pod) for pod in related)
    # Later keys decide less, and sorting is stable: so the least important comes first.
    ranked = sorted(pods, key=lambda pod: pod.name)
    ranked.sort(key=lambda pod: pod.facts.metadata.creation_timestamp, reverse=True)
    ranked.sort(key=_ready_since, reverse=True)
    ranked.sort(key=lambda pod: _rank(pod, crowds))
    return ranked[:count]


def _rank(pod: StoredObject, crowds: Counter[str]) -> tuple[Any, ...]:
    facts, obj = pod.facts, pod.decode()
    annotations = obj["metadata"].get("annotations") or {}
    return (
        bool(_node(pod)),
        _PHASES.get(facts.phase, 1),
        facts.is_ready,
        _read_cost(annotations.get(COST_ANNOTATION, "")),
        -crowds[_node(pod)],
    )


def _read_cost(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _node(pod: StoredObject) -> str:
    spec = pod.facts.spec
    return spec.node_name if spec else ""


def _ready_since(pod: StoredObject) -> tuple[str, int]:
    conditions = (pod.facts.status.conditions if pod.facts.status else None) or ()
    since = next((c.last_transition_time for c in conditions if c.type == "Ready"), None)
    statuses = (pod.decode().get("status") or {}).get("containerStatuses") or ()
    return since or "", max((int(s.get("restartCount", 0)) for s in statuses), default=0)
