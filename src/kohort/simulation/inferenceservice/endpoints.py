"""
E1 to E3: a service is served without a gap while it changes its form, or what stands in front.

What counts is whom its Services lead to, by their selectors, and which of these pods are ready.
A write is judged by the best moment that the operator may have seen. Pods that a fault, an edit
or another controller takes are not held against it.
"""

from collections import deque

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, controller_of, is_leaving
from kohort.simulation.faults.harmless import HARMLESS
from kohort.simulation.inferenceservice.forms import (
    ReadyPods,
    belongs_to,
    find_owners,
    least_of,
    note_ready,
    selector_of,
)
from kohort.simulation.inferenceservice.labels import FORMS, LEADERS, WORKLOAD
from kohort.simulation.inferenceservice.manifests import list_components
from kohort.simulation.scenario import NAME

# Edits that replace no pod of a form that stays. After an edit of the runtime or the model, the
# next edit of the service may change its pods.
_GENTLE = {"switch", "reshape"}
_GENTLE_ONCE = ["edit-shared", "switch"]
_SCALED = (kinds.DEPLOYMENT, LEADERS)


class Serving(Checker):
    """The promises about the pods that answer requests while a service changes."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._moments: deque[ReadyPods] = deque([ReadyPods(0.0)])
        self._floor = 0  # the fewest replicas that were ever asked for, of any component
        self._has_served = False
        names = [fault.name for fault in scene.scenario.faults if fault.name not in HARMLESS]
        self._is_calm = set(names) <= _GENTLE or sorted(names) == _GENTLE_ONCE

    def commit(self, commit: Commit) -> None:
        """Check what a write does to the pods that serve."""
        root = self.truth.workload
        if commit.kind == WORKLOAD and root is not None:
            spec = root["spec"]
            least = min((least_of(spec[name]) for name in list_components(spec)), default=1)
            self._floor = min(self._floor or least, least)
        is_ours = bool(commit.writer) and root is not None and not is_leaving(root)
        if is_ours and root is not None and commit.old is not None:
            self._judge(commit, root)
        if commit.kind == kinds.POD:
            self._note(commit.at)
        if self._is_calm and commit.kind in (kinds.POD, kinds.SERVICE):
            self._check_calm()

    def _judge(self, commit: Commit, root: Object) -> None:
        if controller_of(commit.old or {"metadata": {}}) != root["metadata"]["uid"]:
            return
        if commit.kind == kinds.SERVICE:
            self._check_route(commit)
        elif commit.kind in FORMS and is_taken(commit):
            self._check_end(commit)
        elif commit.kind in _SCALED:
            self._check_replicas(commit)

    def _note(self, at: float) -> None:
        self._moments.append(note_ready(self.truth, at))
        since = at - self.scene.patience_with_parts
        while len(self._moments) > 1 and self._moments[1].at < since:
            self._moments.popleft()

    def _check_route(self, commit: Commit) -> None:
        """E1: a Service leads to others only when enough of them serve."""
        before = selector_of(commit.old)
        gone = commit.new is None or is_leaving(commit.new)
        after = {} if gone else selector_of(commit.new)
        if before == after or (gone and not self._is_wanted(commit.name)):
            return
        have = self._moments[-1].count(before)
        best = max(moment.count(after) for moment in self._moments)
        if best < min(have, self._floor):
            self.breach(f"E1: Service {commit.name} leads to {best} that serve, not to {have}")

    def _check_end(self, commit: Commit) -> None:
        """E2: a workload goes only when enough others serve in its place."""
        assert commit.old is not None
        uid = commit.old["metadata"]["uid"]
        owners = find_owners(self.truth)
        pods = {p["metadata"]["uid"]: controller_of(p) for p in self.truth.pods()}
        going = frozenset(
            pod["metadata"]["uid"]
            for moment in self._moments
            for pod in moment.pods
            if belongs_to(pod, uid, owners, pods)
        )
        for name, service in self.truth.objects[kinds.SERVICE].items():
            selector = selector_of(service)
            if not selector or not self._is_wanted(name):
                continue
            have = self._moments[-1].count(selector)
            best = max(moment.count(selector, going) for moment in self._moments)
            if best < min(have, self._floor):
                which = f"{commit.kind.name} {commit.name}"
                self.breach(f"E2: {which} goes, and Service {name} leads to {best} others")

    def _check_replicas(self, commit: Commit) -> None:
        """E3: only the user and an autoscaler lower replicas."""
        assert commit.old is not None and commit.new is not None
        before, after = (obj["spec"].get("replicas", 1) for obj in (commit.old, commit.new))
        if after < before:
            which = f"{commit.kind.name} {commit.name}"
            self.breach(f"E3: the operator lowers {which} from {before} replicas to {after}")

    def _check_calm(self) -> None:
        """E1, where nothing takes a pod: from the first answer on, a pod always answers."""
        root = self.truth.workload
        if root is None or is_leaving(root):
            self._has_served = False
            return
        found = self.truth.objects[kinds.SERVICE].get(NAME)
        count = self._now().count(selector_of(found))
        if self._has_served and count < self._floor:
            self.breach(f"E1: Service {NAME} leads to {count} that serve")
        self._has_served = self._has_served or count >= self._floor

    def _now(self) -> ReadyPods:
        return note_ready(self.truth, self.scene.now())

    def _is_wanted(self, name: str) -> bool:
        """Whether the service has such a Service: its own, or that of a component."""
        spec = (self.truth.workload or {}).get("spec") or {}
        return name in {NAME, *(f"{NAME}-{each}" for each in list_components(spec))}
