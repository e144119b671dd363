"""A world small enough for a test: objects in dictionaries, and one part that sees them."""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import NODE, POD
from kohort.cluster.objects import Kind, Object
from kohort.simulator.component import (
    BindRequest,
    Component,
    ComponentAction,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


class TinyWorld:
    """Objects, and a part that is told of each change and whose actions are carried out."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.elapsed = 0.0
        self.log: list[ComponentAction] = []
        self._objects: dict[tuple[Kind, str, str], StoredObject] = {}
        self._numbers = itertools.count(1)
        self._keys: dict[str, None] = {}
        self._timers: dict[str, float] = {}

    def find(self, kind: Kind, namespace: str, name: str) -> StoredObject | None:
        return self._objects.get((kind, namespace, name))

    def all(self, kind: Kind, namespace: str | None = None) -> Iterable[StoredObject]:
        for (known, space, _), entry in list(self._objects.items()):
            if known == kind and namespace in (None, space):
                yield entry

    def owned(self, kind: Kind, uid: str) -> Iterable[StoredObject]:
        return (entry for entry in self.all(kind) if entry.controller == uid)

    def put(self, kind: Kind, obj: Object) -> StoredObject:
        meta = obj["metadata"]
        space = meta.setdefault("namespace", "default") if kind.namespaced else ""
        # The store writes the kind first, and reads pods as pods by it.
        obj = {"kind": kind.name, "apiVersion": kind.api_version, **obj}
        number = next(self._numbers)
        meta.setdefault("uid", f"uid-{number}")
        meta["resourceVersion"] = str(number)
        entry = StoredObject.make((space, meta["name"]), number, obj, {}, orjson.dumps(obj))
        old = self._objects.get((kind, *entry.key))
        self._objects[(kind, *entry.key)] = entry
        self._observe(kind, old, entry)
        return entry

    def remove(self, kind: Kind, namespace: str, name: str) -> None:
        old = self._objects.pop((kind, namespace, name), None)
        if old is not None:
            self._observe(kind, old, None)

    def pod(self, name: str, namespace: str = "default") -> Object:
        entry = self.find(POD, namespace, name)
        assert entry is not None, name
        return entry.decode()

    def node(self, name: str) -> Object:
        entry = self.find(NODE, "", name)
        assert entry is not None, name
        return entry.decode()

    def placed(self) -> dict[str, str]:
        pods = ((entry.name, entry.facts.spec) for entry in self.all(POD))
        return {name: spec.node_name for name, spec in pods if spec and spec.node_name}

    def events(self) -> list[str]:
        return [f"{a.reason}: {a.message}" for a in self.log if isinstance(a, EventRequest)]

    def settle(self, seconds: float = 0.0) -> list[ComponentAction]:
        """Let the part act until nothing is due within that time; the answer is what it did."""
        start, until = len(self.log), self.elapsed + seconds
        for _ in range(20_000):
            if not self._keys:
                due = min(self._timers.items(), key=lambda i: (i[1], i[0]), default=None)
                if due is None or due[1] > until:
                    break
                self.elapsed = max(self.elapsed, due[1])
                del self._timers[due[0]]
                self._keys[due[0]] = None
            self._step(next(iter(self._keys)))
        else:
            raise AssertionError("the part does not come to rest")
        self.elapsed = until
        return self.log[start:]

    def moment(self) -> Moment:
        return Moment(START + timedelta(seconds=self.elapsed), self.elapsed)

    def _step(self, key: str) -> None:
        del self._keys[key]
        self._timers.pop(key, None)
        step: Step = self.component.step(key, self, self.moment())
        for action in step.actions:
            self.log.append(action)
            self.carry_out(action)
        if step.after is not None:
            self._timers[key] = self.elapsed + step.after

    def carry_out(self, action: ComponentAction) -> None:
        if isinstance(action, BindRequest):
            pod = self.pod(action.name, action.namespace)
            assert not pod["spec"].get("nodeName"), "bound twice"
            pod["spec"]["nodeName"] = action.node
            conditions = pod.setdefault("status", {}).setdefault("conditions", [])
            conditions[:] = [c for c in conditions if c["type"] != "PodScheduled"]
            conditions.append({"type": "PodScheduled", "status": "True"})
            self.put(POD, pod)
        elif isinstance(action, MergeRequest):
            entry = self.find(action.kind, action.namespace, action.name)
            if entry is not None and action.uid in ("", entry.uid):
                self.put(action.kind, merge(entry.decode(), action.patch))
        elif isinstance(action, DeleteRequest):
            self._delete(action)

    def _delete(self, action: DeleteRequest) -> None:
        entry = self.find(action.kind, action.namespace, action.name)
        if entry is None or entry.uid != action.uid:
            return
        if action.grace_seconds == 0 or action.kind != POD:
            self.remove(action.kind, action.namespace, action.name)
        else:
            self.start_deleting(action.name, action.namespace)

    def start_deleting(self, name: str, namespace: str = "default", grace: int = 30) -> None:
        """Mark a pod as leaving, as the API does for a delete with grace."""
        pod = self.pod(name, namespace)
        due = START + timedelta(seconds=self.elapsed + grace)
        pod["metadata"]["deletionTimestamp"] = due.strftime("%Y-%m-%dT%H:%M:%SZ")
        pod["metadata"]["deletionGracePeriodSeconds"] = grace
        self.put(POD, pod)

    def _observe(self, kind: Kind, old: StoredObject | None, new: StoredObject | None) -> None:
        if kind in self.component.kinds:
            for key in self.component.observe(kind, old, new, self):
                self._keys[key] = None


def merge(target: Any, patch: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def node(name: str, labels: Object | None = None, **more: Any) -> Object:
    """A node with room for a few pods; spec fields by keyword."""
    room = {"cpu": "8", "memory": "32Gi", "pods": "110", **more.pop("room", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "spec": more,
        "status": {"allocatable": room, "capacity": room},
    }


def pod(name: str, labels: Object | None = None, **spec: Any) -> Object:
    """A pod with one container; ``requests`` are its requests, the rest is spec."""
    requests = spec.pop("requests", {})
    container = {"name": "main", "image": "server:1", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"schedulerName": "default-scheduler", "containers": [container], **spec},
        "status": {"phase": "Pending"},
    }
