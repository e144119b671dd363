"""
The truth about groups, from every stored version of pods and sets: what promises are checked by.

It listens to the store itself, not to the cache of a client. The names of the
promises (A1 to A4, G1, G5) are those of the reliability specification.
"""

from dataclasses import dataclass, field
from typing import Any

from operator_lab import Lab

from kohort.apiserver.store.entries import ChangeType, Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object

PREFIX = "leaderworkerset.sigs.k8s.io/"
NAME, INDEX, KEY = f"{PREFIX}name", f"{PREFIX}worker-index", f"{PREFIX}template-revision-hash"


@dataclass
class Budget:
    """What was promised: groups wanted, missing and extra at most, and the first that rolls."""

    wanted: int
    unavailable: int = 1
    surge: int = 0
    partition: int = 0
    lost: int = 0  # groups lost to causes that are not ours

    @property
    def ready_min(self) -> int:
        return self.wanted - self.unavailable - self.lost

    @property
    def most(self) -> int:
        return self.wanted + min(self.surge, self.wanted)


@dataclass
class Truth:
    """All pods and sets of one workload, at every version."""

    lab: Lab
    name: str = "x"
    budget: Budget | None = None  # None: nothing was promised yet
    target: str = ""
    breaches: list[str] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)  # partition and replicas
    ready_counts: list[int] = field(default_factory=list)
    leaders: list[tuple[str, str, str]] = field(default_factory=list)  # made: name, uid, revision
    pods: dict[str, Object] = field(default_factory=dict)
    sets: dict[str, Object] = field(default_factory=dict)
    _was_ready: set[str] = field(default_factory=set)
    _was_updated: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        store, registry = self.lab.api.store, self.lab.api.registry
        for kind, take in ((kinds.STATEFUL_SET, self._on_set), (kinds.POD, self._on_pod)):
            for entry in store.bucket(registry.of(kind).bucket).entries.values():
                take(Event(ChangeType.ADDED, entry, None))
        store.subscribe(registry.of(kinds.POD).bucket, self._on_pod)
        store.subscribe(registry.of(kinds.STATEFUL_SET).bucket, self._on_set)

    # What happened.

    def _on_pod(self, event: Event) -> None:
        pod = event.entry.decode()
        name = pod["metadata"]["name"]
        if pod["metadata"].get("labels", {}).get(NAME) != self.name:
            return
        if event.change is ChangeType.DELETED:
            self.pods.pop(name, None)
        else:
            self.pods[name] = pod
        if event.change is ChangeType.ADDED:
            self._on_new_pod(pod)
        if _is_ready(pod):
            self._was_ready.add(pod["metadata"]["uid"])
        self._check()

    def _on_new_pod(self, pod: Object) -> None:
        metadata = pod["metadata"]
        if is_leader(pod):
            self.leaders.append((metadata["name"], metadata["uid"], metadata["labels"][KEY]))

    def _on_set(self, event: Event) -> None:
        found = event.entry.decode()
        name = found["metadata"]["name"]
        if found["metadata"].get("labels", {}).get(NAME) != self.name:
            return
        if event.change is ChangeType.DELETED:
            self.sets.pop(name, None)
            return
        self.sets[name] = found
        if name != self.name:
            return
        step = step_of(found)
        if not self.steps or self.steps[-1] != step:
            before, self.target = self.target, found["metadata"]["labels"][KEY]
            if before != self.target:
                self._was_updated.clear()
            self.steps.append(step)
            self._check_decision(*step)

    # What is true now.

    def groups(self) -> dict[int, Object]:
        """The leaders that are not leaving, by ordinal."""
        return {
            ordinal_of(pod): pod
            for pod in self.pods.values()
            if is_leader(pod) and not is_leaving(pod)
        }

    def is_ready(self, leader: Object) -> bool:
        """Whether all members of this very incarnation are ready, on one revision."""
        size = int(leader["metadata"]["annotations"][f"{PREFIX}size"])
        members = [leader, *self.workers(leader)]
        keys = {pod["metadata"]["labels"][KEY] for pod in members}
        return len(members) == size and len(keys) == 1 and all(map(_is_ready, members))

    def workers(self, leader: Object) -> list[Object]:
        """The workers of this incarnation that are not leaving."""
        name = leader["metadata"]["name"]
        held = self.sets.get(name)
        if held is None or controller_of(held) != leader["metadata"]["uid"]:
            return []
        uid = held["metadata"]["uid"]
        return [p for p in self.pods.values() if controller_of(p) == uid and not is_leaving(p)]

    def ready(self) -> set[int]:
        """The groups that serve."""
        return {ordinal for ordinal, pod in self.groups().items() if self.is_ready(pod)}

    # What was promised.

    def promise(self, budget: Budget | None) -> None:
        """From now on this is promised."""
        self.budget = budget

    def _check(self) -> None:
        groups = self.groups()
        self._check_members(groups)
        if self.budget is None:
            return
        ready = len(self.ready())
        self.ready_counts.append(ready)
        if len(groups) > self.budget.most:
            self._breach(f"A1: {len(groups)} groups, {self.budget.most} allowed")
        if ready < self.budget.ready_min:
            self._breach(f"A2: {ready} groups serve, {self.budget.ready_min} promised")
        self._check_order(groups)

    def _check_order(self, groups: dict[int, Object]) -> None:
        assert self.budget is not None
        for ordinal, pod in groups.items():
            is_updated = pod["metadata"]["labels"][KEY] == self.target
            if is_updated and ordinal < self.budget.partition:
                self._breach(f"A4: group {ordinal} is below the partition and was updated")
            if not is_updated and ordinal in self._was_updated:
                self._breach(f"A4: group {ordinal} went back to an old revision")
            if is_updated:
                self._was_updated.add(ordinal)

    def _check_decision(self, partition: int, count: int) -> None:
        """A3: a step that gives groups up leaves enough of those that are not given up."""
        if self.budget is None or len(self.steps) < 2:
            return
        before = self.steps[-2]
        if partition >= before[0] and count >= before[1]:
            return
        groups, ready = self.groups(), self.ready()
        given_up = {
            o
            for o in ready
            if o >= count
            or (o >= partition and groups[o]["metadata"]["labels"][KEY] != self.target)
        }
        left = len(ready) - len(given_up)
        if given_up and left < self.budget.ready_min:
            self._breach(f"A3: {before} to {(partition, count)} leaves {left} groups")

    def _check_members(self, groups: dict[int, Object]) -> None:
        for ordinal, leader in groups.items():
            key = leader["metadata"]["labels"][KEY]
            for worker in self.workers(leader):
                if worker["metadata"]["labels"][KEY] != key:
                    self._breach(f"G1: group {ordinal} has two revisions")

    def _breach(self, text: str) -> None:
        moment = f"{self.lab.clock.elapsed():.2f}s {self.steps[-1:]}"
        self.breaches.append(f"{text} at {moment}")

    # What tests ask.

    def counts(self) -> list[int]:
        """The replica counts of the leader set, without repetitions."""
        found: list[int] = []
        for _, count in self.steps:
            if not found or found[-1] != count:
                found.append(count)
        return found

    def made(self, name: str) -> list[str]:
        """The incarnations of a leader that there were."""
        return [uid for leader, uid, _ in self.leaders if leader == name]

    def was_ready(self, pod: Object) -> bool:
        """Whether the pod was ever ready."""
        return pod["metadata"]["uid"] in self._was_ready


def step_of(leader_set: Object) -> tuple[int, int]:
    spec = leader_set["spec"]
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling.get("partition") or 0, spec["replicas"]


def is_leader(pod: Object) -> bool:
    return bool(pod["metadata"].get("labels", {}).get(INDEX) == "0")


def is_leaving(obj: Object) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def ordinal_of(pod: Object) -> int:
    return int(pod["metadata"]["name"].rsplit("-", 1)[1])


def controller_of(obj: Object) -> str:
    owners: list[Any] = obj["metadata"].get("ownerReferences") or []
    return next((o["uid"] for o in owners if o.get("controller")), "")


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return not is_leaving(pod) and any(
        c["type"] == "Ready" and c["status"] == "True" for c in conditions
    )
