"""
A small world for testing components: a dictionary as the API, and caches that may lag.

It knows as little of Kubernetes as the components need: versions, uids, generations,
deletion with grace and finalizers. Each component has its own cache for each kind;
with ``lag`` a change arrives only when a test delivers it.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

import orjson

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError, Conflict
from kohort.cluster.kinds import NAMESPACE, POD
from kohort.cluster.objects import Kind, Object, metadata_of
from kohort.simulator.component import (
    Component,
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    EventRequest,
    MergeRequest,
    Moment,
    ReplaceRequest,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
STEPS_MAX = 5000
SeenChange = tuple[Kind, StoredObject | None, StoredObject | None]


class ComponentHarness:
    """A component with its caches, its keys and its timers. It is the View of that component."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.cache: dict[Kind, dict[tuple[str, str], StoredObject]] = {}
        self.pending: dict[Kind, deque[SeenChange]] = {}
        self.keys: dict[str, None] = {}
        self.timers: dict[str, float] = {}

    def find(self, kind: Kind, namespace: str, name: str) -> StoredObject | None:
        return self.cache.get(kind, {}).get((namespace, name))

    def all(self, kind: Kind, namespace: str | None = None) -> Iterator[StoredObject]:
        for entry in list(self.cache.get(kind, {}).values()):
            if namespace is None or entry.namespace == namespace:
                yield entry

    def owned(self, kind: Kind, uid: str) -> Iterator[StoredObject]:
        return (entry for entry in self.all(kind) if entry.controller == uid)

    def queue(self, change: SeenChange) -> None:
        self.pending.setdefault(change[0], deque()).append(change)

    def deliver(self, kind: Kind, count: int | None = None) -> None:
        """Let the component see the next changes of a kind."""
        waiting = self.pending.get(kind, deque())
        for _ in range(len(waiting) if count is None else min(count, len(waiting))):
            _, old, new = waiting.popleft()
            entry = new or old
            assert entry is not None
            cache = self.cache.setdefault(kind, {})
            if new is None:
                cache.pop(entry.key, None)
            else:
                cache[entry.key] = new
            self.keys.update(dict.fromkeys(self.component.observe(kind, old, new, self)))


class World:
    """The store, the components and the time."""

    def __init__(self, *components: Component, lag: bool = False) -> None:
        self.runners = [ComponentHarness(component) for component in components]
        self.lag = lag
        self.objects: dict[tuple[Kind, str, str], StoredObject] = {}
        self.elapsed = 0.0
        self.events: list[tuple[str, str, str]] = []
        self.log: list[ComponentAction] = []
        self._version = 0
        self._made = 0

    @property
    def moment(self) -> Moment:
        return Moment(START + timedelta(seconds=self.elapsed), self.elapsed)

    # What a user does.

    def create(self, kind: Kind, obj: Object) -> StoredObject:
        obj = orjson.loads(orjson.dumps(obj))
        obj.setdefault("apiVersion", kind.api_version)
        obj.setdefault("kind", kind.name)
        metadata = obj.setdefault("metadata", {})
        if kind.namespaced:
            metadata.setdefault("namespace", "default")
        key = (kind, metadata.get("namespace", ""), metadata["name"])
        if key in self.objects:
            return self.objects[key]
        self._made += 1
        metadata["uid"] = f"uid-{self._made}"
        metadata["creationTimestamp"] = self.moment.stamp
        metadata["generation"] = 1
        if kind == POD:
            obj["status"] = {"phase": "Pending"}
        return self._write(kind, obj)

    def read(self, kind: Kind, name: str, namespace: str = "default") -> Object:
        return self.objects[kind, namespace if kind.namespaced else "", name].decode()

    def exists(self, kind: Kind, name: str, namespace: str = "default") -> bool:
        return (kind, namespace if kind.namespaced else "", name) in self.objects

    def names(self, kind: Kind) -> list[str]:
        return sorted(entry.name for (k, _, _), entry in self.objects.items() if k == kind)

    def all(self, kind: Kind) -> list[Object]:
        return [self.read(kind, n, ns) for k, ns, n in sorted(self.objects, key=str) if k == kind]

    def patch(self, kind: Kind, name: str, patch: Object, namespace: str = "default") -> None:
        obj = self.read(kind, name, namespace)
        before = orjson.dumps(obj.get("spec"))
        merge(obj, patch)
        if orjson.dumps(obj.get("spec")) != before:
            obj["metadata"]["generation"] += 1
        self._write_or_remove(kind, obj)

    def delete(
        self, kind: Kind, name: str, namespace: str = "default", propagation: str = ""
    ) -> None:
        obj = self.read(kind, name, namespace)
        metadata = obj["metadata"]
        finalizers = metadata.setdefault("finalizers", [])
        extra = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(propagation)
        if extra and extra not in finalizers:
            finalizers.append(extra)
        waits = finalizers or kind in (POD, NAMESPACE)
        if not waits:
            self._remove(kind, obj)
        elif "deletionTimestamp" not in metadata:
            metadata["deletionTimestamp"] = self.moment.stamp
            self._write(kind, obj)

    # What nodes do.

    def set_ready(self, name: str, ready: bool = True, phase: str = "Running") -> None:
        status = "True" if ready else "False"
        ready_condition = {
            "type": "Ready",
            "status": status,
            "lastTransitionTime": self.moment.stamp,
        }
        number = int(self.objects[POD, "default", name].uid.removeprefix("uid-"))
        address = f"10.0.{number // 250}.{number % 250}"
        patch = {"phase": phase, "podIP": address, "conditions": [ready_condition]}
        self.patch(POD, name, {"status": patch, "spec": {"nodeName": "node-0"}})

    def remove_pod(self, name: str) -> None:
        self._remove(POD, self.read(POD, name))

    def run_nodes(self) -> bool:
        """Start what is pending and remove what is leaving; whether anything changed."""
        changed = False
        for entry in [e for (kind, _, _), e in self.objects.items() if kind == POD]:
            if entry.facts.is_leaving:
                self.remove_pod(entry.name)
                changed = True
            elif entry.facts.phase == "Pending":
                self.set_ready(entry.name)
                changed = True
        return changed

    # What the runner of the components does.

    def settle(self) -> int:
        """Deliver everything and step until no component has anything to do; count the writes."""
        writes = 0
        for _ in range(STEPS_MAX):
            for runner in self.runners:
                for kind in list(runner.pending):
                    runner.deliver(kind)
            runner = next((runner for runner in self.runners if runner.keys), None)
            if runner is None:
                return writes
            writes += self.step(runner)
        raise AssertionError("the components never come to rest")

    def converge(self) -> None:
        """Let components and nodes work until nothing changes."""
        for _ in range(STEPS_MAX):
            self.settle()
            if not self.run_nodes():
                return
        raise AssertionError("the world never comes to rest")

    def step(self, runner: ComponentHarness) -> int:
        """One step for the first waiting key."""
        key = next(iter(runner.keys))
        del runner.keys[key]
        step = runner.component.step(key, runner, self.moment)
        writes = 0
        for action in step.actions:
            self.log.append(action)
            try:
                writes += self.apply(action)
            except ClusterError as error:
                runner.component.refused(key, action, error)
                runner.keys[key] = None
                break
        if step.after is not None:
            runner.timers[key] = self.elapsed + step.after
        return writes

    def advance(self, seconds: float) -> None:
        """Let time pass, and settle."""
        self.elapsed += seconds
        for runner in self.runners:
            due = [key for key, at in runner.timers.items() if at <= self.elapsed]
            for key in due:
                del runner.timers[key]
                runner.keys[key] = None
        self.settle()

    def wake(self, *keys: str) -> None:
        """Look at keys again, as after a restart."""
        for runner in self.runners:
            runner.keys.update(dict.fromkeys(keys))

    def apply(self, action: ComponentAction) -> int:
        """Carry out one action; whether it was a write."""
        match action:
            case EventRequest(type=kind, reason=reason, message=message):
                self.events.append((kind, reason, message))
                return 0
            case CreateRequest(kind=kind, obj=obj):
                self.create(kind, obj)
            case ReplaceRequest():
                self._replace(action)
            case MergeRequest(kind=kind, namespace=namespace, name=name, patch=patch, uid=uid):
                self._guard(kind, namespace, name, uid, metadata_of(patch).get("resourceVersion"))
                self.patch(kind, name, patch, namespace)
            case DeleteRequest(kind=kind, namespace=namespace, name=name, uid=uid):
                found = self.objects.get((kind, namespace, name))
                if found is not None and found.uid == uid:
                    self.delete(kind, name, namespace, action.propagation or "")
        return 1

    def _replace(self, action: ReplaceRequest) -> None:
        metadata = action.obj["metadata"]
        kind, name, namespace = action.kind, metadata["name"], metadata.get("namespace", "")
        self._guard(kind, namespace, name, metadata["uid"], metadata["resourceVersion"])
        obj = self.read(kind, name, namespace)
        fields = {"status": ["status"], "finalize": ["spec"]}.get(action.subresource)
        for field in fields or [f for f in {*obj, *action.obj} if f != "status"]:
            obj[field] = action.obj.get(field)
        if action.subresource == "status" and "annotations" in metadata:
            obj["metadata"]["annotations"] = metadata["annotations"]
        self._write_or_remove(kind, orjson.loads(orjson.dumps(obj)))

    def _guard(self, kind: Kind, namespace: str, name: str, uid: str, rv: str | None) -> None:
        found = self.objects.get((kind, namespace, name))
        if found is None or (uid and found.uid != uid) or (rv and str(found.rv) != rv):
            raise Conflict(f"{kind.plural} {name} is not what was seen")

    def _write_or_remove(self, kind: Kind, obj: Object) -> None:
        metadata = obj["metadata"]
        held = metadata.get("finalizers") or (kind == NAMESPACE and obj["spec"].get("finalizers"))
        if "deletionTimestamp" in metadata and not held and kind != POD:
            self._remove(kind, obj)
        else:
            self._write(kind, obj)

    def _write(self, kind: Kind, obj: Object) -> StoredObject:
        self._version += 1
        metadata = obj["metadata"]
        metadata["resourceVersion"] = str(self._version)
        key = (metadata.get("namespace", ""), metadata["name"])
        # The store writes the kind first, and reads pods as pods by it.
        rest = {name: value for name, value in obj.items() if name not in ("kind", "apiVersion")}
        obj = {"kind": kind.name, "apiVersion": kind.api_version, **rest}
        entry = StoredObject.make(key, self._version, obj, {}, orjson.dumps(obj))
        old = self.objects.get((kind, *key))
        self.objects[(kind, *key)] = entry
        self._observe((kind, old, entry))
        return entry

    def _remove(self, kind: Kind, obj: Object) -> None:
        self._version += 1
        key = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        self._observe((kind, self.objects.pop((kind, *key)), None))

    def _observe(self, change: SeenChange) -> None:
        for runner in self.runners:
            if change[0] in runner.component.kinds:
                runner.queue(change)


def merge(target: Object, patch: Object) -> None:
    """A JSON merge patch, in place."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            if not isinstance(target.get(key), dict):
                target[key] = {}
            merge(target[key], value)
        else:
            target[key] = value


def messages(world: World, reason: str) -> Iterable[str]:
    """The texts of the events with a reason, in order."""
    return [message for _, r, message in world.events if r == reason]
