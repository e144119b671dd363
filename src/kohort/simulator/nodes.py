"""
Simulated nodes: their objects, and the node controller that acts when one fails.

Nodes are ready when they are made and send no heartbeats: neither their status nor
a lease is written while nothing happens, so a cluster at rest writes nothing. A node
fails because a user says so, with the annotation ``sim.kohort.dev/failed: "true"``.
It is then noticed after the time that a real node controller waits for heartbeats,
tainted as unreachable, its pods lose their readiness and, when their toleration has
run out, are marked for deletion. They stay so until the node is back or gone: only
a kubelet can say that a container has ended.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.conditions import since
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.node_labels import HOST, RACK, REGION, SPINE, ZONE
from kohort.cluster.objects import Kind, Object, annotations_of, find_condition
from kohort.simulator.component import (
    ComponentAction,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)
from kohort.simulator.evictions import Evictions
from kohort.simulator.stages import FAILED, NOT_READY

# Seconds without a heartbeat until a node is unready, as in a real cluster.
SILENCE_SECONDS = 40.0
VERSION = "v1.36.3"

_TAINTS = "node.kubernetes.io/"
_PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


@dataclass(frozen=True, slots=True)
class NodeMake:
    """The properties that all nodes of a simulated cluster share."""

    nodes: int = 8
    racks: int = 2
    gpus: int = 8
    cpus: int = 192
    memory: str = "2Ti"
    pods: int = 110
    zone: str = "sim-1a"
    region: str = "sim-1"
    spines: int = 0  # 0: nodes have no spine label


def name_node(index: int, nodes: int) -> str:
    """The name of a node: ``gpu-00``, with as many digits as the last one needs."""
    return f"gpu-{index:0{max(2, len(str(max(nodes, 1) - 1)))}}"


def make_node(
    index: int, make: NodeMake, stamp: str, rack: int | None = None, spine: int | None = None
) -> Object:
    """A node that is ready."""
    name = name_node(index, make.nodes)
    if rack is None:
        rack = min(index * make.racks // max(make.nodes, 1), make.racks - 1)
    if spine is None and make.spines:
        spine = min(rack * make.spines // make.racks, make.spines - 1)
    room = {
        "cpu": str(make.cpus),
        "ephemeral-storage": "7Ti",
        "memory": make.memory,
        "pods": str(make.pods),
    }
    if make.gpus:
        room["nvidia.com/gpu"] = str(make.gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": _labels(name, rack, spine, make)},
        "spec": {"providerID": f"kohort://{make.region}/{name}"},
        "status": {
            "capacity": room,
            "allocatable": dict(room),
            "conditions": ready_conditions(stamp),
            "addresses": [
                {"type": "InternalIP", "address": f"10.0.{index // 250}.{index % 250 + 1}"},
                {"type": "Hostname", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _info(name),
        },
    }


def _labels(name: str, rack: int, spine: int | None, make: NodeMake) -> dict[str, str]:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        HOST: name,
        "kubernetes.io/os": "linux",
        REGION: make.region,
        ZONE: make.zone,
        RACK: f"rack-{rack}",
    }
    if spine is not None:
        labels[SPINE] = f"spine-{spine}"
    if make.gpus:
        labels["nvidia.com/gpu.present"] = "true"
    return labels


def _info(name: str) -> Object:
    digest = sha256(name.encode()).hexdigest()
    return {
        "architecture": "amd64",
        "bootID": digest[:32],
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.8.0-simulated",
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "machineID": digest[:32],
        "operatingSystem": "linux",
        "osImage": "Kohort simulated node",
        "systemUUID": digest[32:],
    }


def ready_conditions(stamp: str) -> list[Object]:
    """The conditions of a healthy node."""
    made = [
        _condition(name, "False", reason, message, stamp)
        for name, (reason, message) in _PRESSURES.items()
    ]
    message = "kubelet is posting ready status"
    return [*made, _condition("Ready", "True", "KubeletReady", message, stamp)]


def _condition(name: str, status: str, reason: str, message: str, stamp: str) -> Object:
    return {
        "type": name,
        "status": status,
        "lastHeartbeatTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


class _Meta(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Node(msgspec.Struct):
    metadata: _Meta
    spec: msgspec.Raw = msgspec.Raw(b"null")


_decoder = msgspec.json.Decoder(_Node)


class Nodes:
    """Node lifecycle, taint eviction and the collection of pods without a node."""

    name = "nodes"
    manager = "node-controller"
    kinds: tuple[Kind, ...] = (NODE, POD)

    def __init__(self, silence_seconds: float = SILENCE_SECONDS) -> None:
        self._silence = silence_seconds
        self._silent_since: dict[str, float] = {}
        self._seen: dict[str, tuple[object, ...]] = {}
        self._evictions = Evictions()

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of nodes that a change concerns."""
        if kind == POD:
            return self._evictions.observe(old, new, view)
        if new is None:
            if old is None:
                return ()
            self._seen.pop(old.name, None)
            self._silent_since.pop(old.name, None)
            return (old.name,)
        seen = _significant(new)
        if self._seen.get(new.name) == seen:
            return ()
        self._seen[new.name] = seen
        return (new.name,)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Update the conditions, taints and pods of one node to its state."""
        if "/" in key:
            return self._collect_unbound(key, view)
        entry = view.find(NODE, "", key)
        if entry is None:
            return self._evictions.collect(key, view, moment)
        node = entry.decode()
        health, wait = self._judge(node, moment)
        actions = self._write(entry, node, health, moment)
        taints: list[Object] = _wanted_taints(node, health, moment.stamp)
        evicted, due = self._evictions.evict(key, taints, view, moment)
        if health != "True":
            leaving = {action.uid for action in evicted if isinstance(action, DeleteRequest)}
            actions += self._evictions.mark_unready(key, leaving, view, moment)
        waits = [seconds for seconds in (wait, due) if seconds is not None]
        return Step((*actions, *evicted), min(waits, default=None))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""

    def _judge(self, node: Object, moment: Moment) -> tuple[str, float | None]:
        """The status of Ready, and the seconds after which it may change without an event."""
        name = node["metadata"]["name"]
        if annotations_of(node).get(FAILED) == "true":
            since = self._silent_since.setdefault(name, moment.elapsed)
            left = since + self._silence - moment.elapsed
            ready = find_condition(node, "Ready") or {}
            if left <= 1e-6 or ready.get("status") == "Unknown":
                return "Unknown", None
            return ready.get("status", "True"), left
        self._silent_since.pop(name, None)
        return ("False" if annotations_of(node).get(NOT_READY) == "true" else "True"), None

    def _write(
        self, entry: StoredObject, node: Object, health: str, moment: Moment
    ) -> list[ComponentAction]:
        actions: list[ComponentAction] = []
        ready = find_condition(node, "Ready")
        if ready is None or ready.get("status") != health:
            status = _status_patch(node, health, moment.stamp)
            actions.append(
                MergeRequest(NODE, "", entry.name, {"status": status}, "status", entry.uid)
            )
            if ready is not None:
                news = "NodeReady" if health == "True" else "NodeNotReady"
                message = f"Node {entry.name} status is now: {news}"
                actions.append(EventRequest(_about(node), "Normal", news, message))
        taints = _wanted_taints(node, health, moment.stamp)
        if taints != (node["spec"].get("taints") or []):
            patch = {
                "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
                "spec": {"taints": taints or None},
            }
            # The status is written last, since it has no guard against other writers.
            actions.insert(0, MergeRequest(NODE, "", entry.name, patch, "", entry.uid))
        return actions

    def _collect_unbound(self, key: str, view: View) -> Step:
        """Delete a terminating pod without a node, which no kubelet would finish."""
        namespace, _, name = key.partition("/")
        entry = view.find(POD, namespace, name)
        if entry is None or not entry.facts.is_leaving:
            return Step()
        if entry.facts.spec and entry.facts.spec.node_name:
            return Step()
        return Step((DeleteRequest(POD, namespace, name, entry.uid, grace_seconds=0),))


def _significant(entry: StoredObject) -> tuple[object, ...]:
    raw = _decoder.decode(entry.raw)
    annotations = raw.metadata.annotations or {}
    status = entry.facts.status
    conditions = (status.conditions if status else None) or ()
    ready = next((c.status for c in conditions if c.type == "Ready"), None)
    marks = annotations.get(FAILED), annotations.get(NOT_READY)
    return entry.uid, marks, bytes(raw.spec), ready


def _wanted_taints(node: Object, health: str, stamp: str) -> list[Object]:
    """The taints that a node should have: other clients', and ours by its state."""
    wanted: list[tuple[str, str]] = []
    if health != "True":
        key = _TAINTS + ("unreachable" if health == "Unknown" else "not-ready")
        wanted = [(key, "NoSchedule"), (key, "NoExecute")]
    if node["spec"].get("unschedulable"):
        wanted.append((f"{_TAINTS}unschedulable", "NoSchedule"))
    ours = [f"{_TAINTS}{name}" for name in ("unreachable", "not-ready", "unschedulable")]
    kept = []
    for taint in node["spec"].get("taints") or ():
        mark = (taint["key"], taint["effect"])
        if taint["key"] not in ours or mark in wanted:
            kept.append(taint)
            wanted = [item for item in wanted if item != mark]
    added = [{"key": key, "effect": effect, "timeAdded": stamp} for key, effect in wanted]
    return [*kept, *added]


def _status_patch(node: Object, health: str, stamp: str) -> Object:
    if health == "True":
        conditions = ready_conditions(stamp)
    elif health == "False":
        conditions = ready_conditions(stamp)[:-1]
        message = "container runtime network not ready"
        conditions.append(_condition("Ready", "False", "KubeletNotReady", message, stamp))
    else:
        message = "Kubelet stopped posting node status."
        conditions = [
            {
                **_condition(name, "Unknown", "NodeStatusUnknown", message, stamp),
                "lastHeartbeatTime": (find_condition(node, name) or {}).get(
                    "lastHeartbeatTime", stamp
                ),
            }
            for name in (*_PRESSURES, "Ready")
        ]
    for condition in conditions:
        old = find_condition(node, condition["type"])
        condition["lastTransitionTime"] = since(old, condition["status"], stamp)
    patch: Object = {"conditions": conditions}
    status = node.get("status") or {}
    if not status.get("allocatable") and status.get("capacity"):
        patch["allocatable"] = status["capacity"]
    return patch


def _about(node: Object) -> Object:
    meta = {key: node["metadata"][key] for key in ("name", "uid")}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta}
