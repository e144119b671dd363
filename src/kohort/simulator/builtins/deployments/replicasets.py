"""
The ReplicaSet controller: it keeps the wanted number of identical pods.

Names of pods are hashes of the set's uid and a serial number instead of random
letters: a step that is repeated on an old cache then makes the same pod again,
which changes nothing, instead of one too many. Names of pods that are gone are
not given again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster import conditions
from kohort.cluster.errors import ClusterError, Conflict
from kohort.cluster.kinds import POD, REPLICA_SET
from kohort.cluster.objects import Kind, Object, labels_of
from kohort.cluster.selectors import LabelSelector, read_label_selector
from kohort.simulator.builtins.deployments.victims import choose_victims
from kohort.simulator.builtins.names import make_suffix
from kohort.simulator.builtins.ownership import Orphans, adopt, controllers, reference, release
from kohort.simulator.builtins.readiness import FINISHED, seconds_until_available
from kohort.simulator.builtins.reconcile_pace import Pace
from kohort.simulator.builtins.templates import pod_from_template
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    EventRequest,
    Moment,
    ReplaceRequest,
    Step,
    View,
)

BURST = 500


class ReplicaSets:
    """The ReplicaSet controller as a component."""

    name = "replicasets"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = (REPLICA_SET, POD)

    def __init__(self) -> None:
        self._orphans = Orphans()
        self._selectors: dict[str, LabelSelector] = {}
        self._retired: dict[str, set[str]] = defaultdict(set)
        self._failures: dict[str, str] = {}
        self._pace = Pace()
        self._states: dict[str, _PodState] = {}

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of a changed set, of the pod's controller, or of sets that may adopt the pod."""
        entry = new or old
        assert entry is not None
        if kind == REPLICA_SET:
            key = f"{entry.namespace}/{entry.name}"
            if new is None:
                self._selectors.pop(entry.uid, None)
                self._retired.pop(entry.uid, None)
            if not old or not new or _asks_for_more(old, new):
                self._pace.hurry(key)
            return (key,)
        self._orphans.note(kind, old, new)
        keys = controllers(REPLICA_SET.name, old, new)
        if new is None:
            self._states.pop(entry.uid, None)
        if new is None and any(_is_at(key, entry.controller, view) for key in keys):
            self._retired[entry.controller].add(entry.name)
        if new is not None and not new.controller:
            keys.update(self._possible_owners(new, view))
        return keys

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Reconcile one ReplicaSet."""
        namespace, _, name = key.partition("/")
        entry = view.find(REPLICA_SET, namespace, name)
        rest = self._pace.rest(key, moment)
        if rest > 0:
            return Step(after=rest)
        failure = self._failures.pop(key, "")
        if entry is None:
            return Step()
        visit = _Visit(entry, entry.decode(), view, moment)
        visit.states = self._states
        visit.claim_pods(self._orphans)
        creates = [] if entry.facts.is_leaving else visit.scale(self._retired.get(entry.uid, ()))
        if failure:
            # The rest of a step is dropped where a create is refused, as it may be again.
            visit.report(failure)
            visit.actions.extend(creates)
        else:
            visit.actions.extend(creates)
            visit.report()
        self._pace.looked(key, visit.size, moment)
        return Step(tuple(visit.actions), visit.next_look())

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Keep the reason why a pod could not be made, for the status and an event."""
        self._pace.hurry(key)
        if isinstance(action, CreateRequest) and not isinstance(error, Conflict):
            self._failures[key] = error.message

    def _possible_owners(self, pod: StoredObject, view: View) -> Iterator[str]:
        for entry in view.all(REPLICA_SET, pod.namespace):
            selector = self._selectors.get(entry.uid)
            if selector is None:
                selector = read_label_selector(entry.decode()["spec"].get("selector"))
                self._selectors[entry.uid] = selector
            if selector.matches(pod.labels):
                yield f"{entry.namespace}/{entry.name}"


@dataclass(slots=True)
class _Counts:
    ready: int = 0
    available: int = 0
    labelled: int = 0


class _PodState(NamedTuple):
    """Cached facts about a pod, valid until it changes."""

    entry: StoredObject
    generation: int  # of the set; a new one makes the facts stale
    is_finished: bool
    is_leaving: bool
    is_labelled: bool
    is_ready: bool


def _asks_for_more(old: StoredObject, new: StoredObject) -> bool:
    one, other = old.facts, new.facts
    return one.metadata.generation != other.metadata.generation or (
        one.is_leaving != other.is_leaving
    )


class _Visit:
    """One reconcile of one ReplicaSet."""

    def __init__(self, entry: StoredObject, obj: Object, view: View, moment: Moment) -> None:
        self._entry = entry
        self._obj = obj
        self._view = view
        self._moment = moment
        self._about = reference(REPLICA_SET, entry)
        self._wanted = int(obj["spec"].get("replicas", 1))
        self._min_ready = int(obj["spec"].get("minReadySeconds", 0))
        self._generation = entry.facts.metadata.generation
        self._template = labels_of(obj["spec"]["template"])
        self._active: list[_PodState] = []
        self._leaving = 0
        self._wait: float | None = None
        self.actions: list[ComponentAction] = []
        self.states: dict[str, _PodState] = {}

    @property
    def size(self) -> int:
        """The number of the set's pods."""
        return len(self._active) + self._leaving

    @property
    def _owner(self) -> Object:
        return {
            "apiVersion": REPLICA_SET.api_version,
            "kind": REPLICA_SET.name,
            "name": self._entry.name,
            "uid": self._entry.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def claim_pods(self, orphans: Orphans) -> None:
        """Find the pods of the set, adopting and releasing on the way."""
        selector = read_label_selector(self._obj["spec"].get("selector"))
        may_adopt = not self._entry.facts.is_leaving
        for pod in self._view.owned(POD, self._entry.uid):
            if self._is_known(pod) or selector.matches(pod.labels):
                self._take(pod)
            elif may_adopt:
                self.actions.append(release(POD, pod, self._entry.uid))
        if not may_adopt:
            return
        for pod in orphans.find(POD, self._entry.namespace, self._view):
            is_alive = not pod.facts.is_leaving and pod.facts.phase not in FINISHED
            if is_alive and selector.matches(pod.labels):
                self.actions.append(adopt(POD, pod, self._owner))
                self._take(pod)

    def _take(self, pod: StoredObject) -> None:
        state = self._read(pod)
        if state.is_finished:
            return
        if state.is_leaving:
            self._leaving += 1
        else:
            self._active.append(state)

    def _is_known(self, pod: StoredObject) -> bool:
        known = self.states.get(pod.uid)
        return known is not None and known.entry is pod and known.generation == self._generation

    def _read(self, pod: StoredObject) -> _PodState:
        if self._is_known(pod):
            return self.states[pod.uid]
        facts = pod.facts
        known = _PodState(
            entry=pod,
            generation=self._generation,
            is_finished=facts.phase in FINISHED,
            is_leaving=facts.is_leaving,
            is_labelled=all(pod.labels.get(k) == v for k, v in self._template.items()),
            is_ready=facts.is_ready,
        )
        self.states[pod.uid] = known
        return known

    def scale(self, retired: Iterable[str]) -> list[ComponentAction]:
        """Delete surplus pods; returns the actions that create missing ones."""
        missing = self._wanted - len(self._active)
        if missing > 0:
            names = self._free_names(min(missing, BURST), set(retired))
            return [action for name in names for action in self._make(name)]
        if missing < 0:
            pods = [state.entry for state in self._active]
            self._remove(choose_victims(pods, self._related(), min(-missing, BURST)))
        return []

    def _remove(self, victims: list[StoredObject]) -> None:
        for pod in victims:
            self.actions.append(DeleteRequest(POD, pod.namespace, pod.name, pod.uid))
            text = f"Deleted pod: {pod.name}"
            self.actions.append(EventRequest(self._about, "Normal", "SuccessfulDelete", text))
        # Deleted pods do not count in the status, or a Deployment would rely on them.
        gone = {pod.uid for pod in victims}
        self._active = [state for state in self._active if state.entry.uid not in gone]
        self._leaving += len(gone)

    def _make(self, name: str) -> tuple[ComponentAction, ComponentAction]:
        template: Object = orjson.loads(orjson.dumps(self._obj["spec"]["template"]))
        pod = pod_from_template(template, self._entry, self._owner)
        pod["metadata"]["name"] = name
        told = EventRequest(self._about, "Normal", "SuccessfulCreate", f"Created pod: {name}")
        return CreateRequest(POD, pod), told

    def _free_names(self, count: int, retired: set[str]) -> Iterator[str]:
        serial = 0
        while count:
            name = f"{self._entry.name}-{make_suffix(self._entry.uid, serial)}"
            serial += 1
            if name in retired or self._view.find(POD, self._entry.namespace, name):
                continue
            retired.add(name)
            count -= 1
            yield name

    def _related(self) -> Iterator[StoredObject]:
        """The pods of all ReplicaSets with the same controller, for the crowding of nodes."""
        siblings = {self._entry.uid}
        if self._entry.controller:
            siblings |= {e.uid for e in self._view.owned(REPLICA_SET, self._entry.controller)}
        for uid in siblings:
            for pod in self._view.owned(POD, uid):
                if not pod.facts.is_leaving and pod.facts.phase not in FINISHED:
                    yield pod

    def report(self, failure: str = "") -> None:
        """Write the status if it changed; the failure is why the last pod was refused."""
        if failure:
            self.actions.append(
                EventRequest(self._about, "Warning", "FailedCreate", f"Error creating: {failure}")
            )
        old = self._obj.get("status") or {}
        counts = self._count()
        numbers = {
            "fullyLabeledReplicas": counts.labelled,
            "readyReplicas": counts.ready,
            "availableReplicas": counts.available,
            "observedGeneration": self._entry.facts.metadata.generation,
        }
        status: Object = {"replicas": len(self._active), "terminatingReplicas": self._leaving}
        status |= {name: number for name, number in numbers.items() if number}
        reported = self._conditions(old.get("conditions") or [], failure)
        if reported:
            status["conditions"] = reported
        if status != old:
            self.actions.append(
                ReplaceRequest(REPLICA_SET, {**self._obj, "status": status}, "status")
            )

    def next_look(self) -> float | None:
        """The seconds until the next pod becomes available."""
        return self._wait

    def _count(self) -> _Counts:
        counts = _Counts()
        for state in self._active:
            counts.labelled += state.is_labelled
            counts.ready += state.is_ready
            if state.is_ready and self._min_ready:
                self._count_available(state.entry, counts)
        if not self._min_ready:
            counts.available = counts.ready
        return counts

    def _count_available(self, pod: StoredObject, counts: _Counts) -> None:
        left = seconds_until_available(pod.facts, self._min_ready, self._moment)
        if left == 0.0:
            counts.available += 1
        elif left is not None:
            self._wait = left if self._wait is None else min(self._wait, left)

    def _conditions(self, old: list[Object], failure: str) -> list[Object]:
        if failure and not conditions.find(old, "ReplicaFailure"):
            new = {
                "type": "ReplicaFailure",
                "status": "True",
                "reason": "FailedCreate",
                "message": failure,
                "lastTransitionTime": self._moment.stamp,
            }
            return [*old, new]
        if not failure and len(self._active) >= self._wanted:
            return conditions.drop(old, "ReplicaFailure")
        return old


def _is_at(key: str, uid: str, view: View) -> bool:
    """Whether the set of that key exists and has that uid: pods may outlive their set."""
    namespace, _, name = key.partition("/")
    found = view.find(REPLICA_SET, namespace, name)
    return found is not None and found.uid == uid
