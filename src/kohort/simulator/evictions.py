"""
Eviction of pods from nodes that failed, were tainted or are deleted.

Pods without a matching toleration leave a node with a NoExecute taint at once, the
others when their time is over; the time runs from when the taint was first seen.
Leaving is only a mark here: the kubelet of the node ends the containers. When there
is no node any more, pods are removed without it, after a while in which the node
could still turn up (caches may lag behind each other).
"""

from collections.abc import Iterable

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Object
from kohort.placement.nodes import Taint
from kohort.placement.rules import read_tolerations
from kohort.simulator.component import (
    ComponentAction,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)

QUARANTINE_SECONDS = 40.0
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_SLACK = 1e-6


class Evictions:
    """The pods of each node, and the time at which each taint was first seen."""

    def __init__(self) -> None:
        self._on_node: dict[str, set[tuple[str, str]]] = {}
        self._node_of: dict[str, str] = {}
        self._since: dict[str, dict[tuple[str, str, str], float]] = {}
        self._gone_since: dict[str, float] = {}
        self._troubled: set[str] = set()

    def observe(
        self, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The nodes to reconcile because a pod was added, changed or deleted."""
        if old is not None and (new is None or new.uid != old.uid):
            node = self._node_of.pop(old.uid, "")
            if node:
                self._on_node[node].discard(old.key)
        if new is None:
            return ()
        facts = new.facts
        node = facts.spec.node_name if facts.spec else ""
        if not node:
            return (f"{new.namespace}/{new.name}",) if facts.is_leaving else ()
        if new.uid not in self._node_of:
            self._node_of[new.uid] = node
            self._on_node.setdefault(node, set()).add(new.key)
            if view.find(NODE, "", node) is None:
                return (node,)
        return (node,) if node in self._troubled else ()

    def evict(
        self, node: str, taints: list[Object], view: View, moment: Moment
    ) -> tuple[list[ComponentAction], float | None]:
        """Evict the pods whose toleration has run out; returns when the next one does."""
        self._gone_since.pop(node, None)
        known = self._since.get(node, {})
        marks = {
            (t["key"], t.get("value", ""), t["effect"])
            for t in taints
            if t["effect"] == "NoExecute"
        }
        if not marks:
            self._since.pop(node, None)
            self._troubled.discard(node)
            return [], None
        self._troubled.add(node)
        since = {mark: known.get(mark, moment.elapsed) for mark in sorted(marks)}
        self._since[node] = since
        must_go = any(mark[0] == OUT_OF_SERVICE for mark in marks)
        actions: list[ComponentAction] = []
        waits = []
        for entry in self._pods(node, view):
            if entry.facts.is_leaving:
                if must_go:
                    actions.append(DeleteRequest(POD, *entry.key, entry.uid, grace_seconds=0))
                continue
            due = _find_due(entry.decode(), since)
            if due is None:
                continue
            if due <= moment.elapsed + _SLACK:
                actions += _evict(entry, moment)
            else:
                waits.append(due - moment.elapsed)
        return actions, min(waits, default=None)

    def mark_unready(
        self, node: str, busy: set[str], view: View, moment: Moment
    ) -> list[ComponentAction]:
        """Set Ready to false for all pods of an unready node, except those with a pending write."""
        self._troubled.add(node)
        actions: list[ComponentAction] = []
        for entry in self._pods(node, view):
            if not entry.facts.is_ready or entry.uid in busy:
                continue
            conditions = (entry.decode().get("status") or {})["conditions"]
            for condition in conditions:
                if condition["type"] == "Ready":
                    condition["status"] = "False"
                    condition["lastTransitionTime"] = moment.stamp
            actions.append(_merge(entry, conditions))
            actions.append(
                EventRequest(_about(entry), "Warning", "NodeNotReady", "Node is not ready")
            )
        return actions

    def collect(self, node: str, view: View, moment: Moment) -> Step:
        """Delete the pods of a node that does not exist."""
        pods = self._pods(node, view)
        if not pods:
            self._gone_since.pop(node, None)
            return Step()
        since = self._gone_since.setdefault(node, moment.elapsed)
        left = since + QUARANTINE_SECONDS - moment.elapsed
        if left > _SLACK:
            return Step((), left)
        actions: list[ComponentAction] = []
        for entry in pods:
            reason = ("DeletionByPodGC", "PodGC: node no longer exists")
            if entry.facts.phase not in ("Succeeded", "Failed"):
                actions.append(_merge(entry, _disrupted(entry, *reason, moment), "Failed"))
            actions.append(DeleteRequest(POD, *entry.key, entry.uid, grace_seconds=0))
        return Step(tuple(actions))

    def _pods(self, node: str, view: View) -> list[StoredObject]:
        found = (view.find(POD, *key) for key in sorted(self._on_node.get(node, ())))
        return [entry for entry in found if entry is not None]


def _find_due(pod: Object, since: dict[tuple[str, str, str], float]) -> float | None:
    """When a pod must be evicted: the earliest time among its node's taints, or never."""
    raw = pod["spec"].get("tolerations") or []
    tolerations = read_tolerations(raw)
    dues = []
    for mark, start in since.items():
        covering = [
            item
            for item, toleration in zip(raw, tolerations, strict=True)
            if toleration.covers(Taint(*mark))
        ]
        if not covering:
            return start
        limits = [i["tolerationSeconds"] for i in covering if "tolerationSeconds" in i]
        if limits:
            dues.append(start + max(min(limits), 0))
    return min(dues, default=None)


def _evict(entry: StoredObject, moment: Moment) -> list[ComponentAction]:
    reason = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
    message = f"Marking for deletion Pod {entry.namespace}/{entry.name}"
    return [
        EventRequest(_about(entry), "Normal", "TaintManagerEviction", message),
        _merge(entry, _disrupted(entry, *reason, moment)),
        DeleteRequest(POD, *entry.key, entry.uid),
    ]


def _disrupted(entry: StoredObject, reason: str, message: str, moment: Moment) -> list[Object]:
    pod = entry.decode()
    conditions: list[Object] = (pod.get("status") or {}).get("conditions") or []
    target: Object = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": moment.stamp,
        "reason": reason,
        "message": message,
    }
    if pod["metadata"].get("generation"):
        target["observedGeneration"] = pod["metadata"]["generation"]
    return [*(c for c in conditions if c["type"] != "DisruptionTarget"), target]


def _merge(entry: StoredObject, conditions: list[Object], phase: str = "") -> MergeRequest:
    status: Object = {"conditions": conditions}
    if phase:
        status["phase"] = phase
    return MergeRequest(POD, *entry.key, {"status": status}, "status", entry.uid)


def _about(entry: StoredObject) -> Object:
    meta = {"name": entry.name, "namespace": entry.namespace, "uid": entry.uid}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta}
