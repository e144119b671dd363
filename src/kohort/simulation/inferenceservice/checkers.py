"""
What must hold of an InferenceService at every committed write, beside what holds of every API.

E1 to E3: a service is served without a gap while it changes its form, or what stands in front.
What counts is which pods its Services select, and which of these are ready. A write is judged by
the best moment that the operator may have seen. Pods that a fault, an edit or another controller
takes are not held against it.

E4: an edit of a model or runtime changes no serving workload of a service that refers to it. A
template may change after the user edited the service, after another client edited the workload,
or while no pod of the service serves. Each write must follow from a spec that the user had
written and that the operator may still have seen.

E5, T1, T4 and T6: the status of a service says nothing that was not true at some moment. A
service is not said to be ready while one of its components has no pod that serves. The time of a
condition changes when something else in it does.

E6: a service is not said to be ready while a pod of it crashes, even where others serve; where no
fault is about the operator, a status that says so is written in time, too. A pod crashes from a
failed end of a container until it has been ready for a while, also while the container runs.
"""

from collections import deque
from dataclasses import dataclass, replace

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, is_leaving, labels_of
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.status import SLACK_SECONDS, Status, says_true
from kohort.simulation.checkers.truth import (
    Commit,
    controller_of,
    has_crashed,
    has_ended,
    is_ready,
)
from kohort.simulation.faults.catalogue import HARMLESS
from kohort.simulation.inferenceservice.forms import (
    ReadyPods,
    belongs_to,
    find_owners,
    least_of,
    note_ready,
    selector_of,
)
from kohort.simulation.inferenceservice.labels import COMPONENT, FOLLOWS, FORMS, LEADERS, WORKLOAD
from kohort.simulation.inferenceservice.scenarios import list_components
from kohort.simulation.scenario import NAME

_CRASHED = "CrashLoopBackOff"
_WELL_SECONDS = 5.0  # a pod that crashed and is ready for less may crash again

# Edits that replace no pod of a form that stays. After an edit of the runtime or the model, the
# next edit of the service may change its pods.
_GENTLE = {"switch", "reshape"}
_GENTLE_ONCE = ["edit-shared", "switch"]
# Faults that neither stop the operator nor keep a change or a write from it.
_ELSEWHERE = {*_GENTLE, "edit-shared", "crash-loop", "roll", "bad-roll", "fleeting-roll", "evict"}
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


class SharedEdits(Checker):
    """The promise that no pods restart for the edit of a runtime or a model."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._wishes: list[float] = []  # when the user asked for something else
        self._made_from: dict[str, set[int]] = {}  # which wishes a workload may be of, by uid
        self._edited: set[str] = set()  # workloads that others changed since
        self._idle: deque[float] = deque()  # moments in which no pod served

    def commit(self, commit: Commit) -> None:
        """Check that an edit by a user explains the change of a workload."""
        if commit.kind == WORKLOAD and _read_wish(commit.old) != _read_wish(commit.new):
            self._wishes.append(commit.at)
        if commit.kind == kinds.POD and not any(map(is_ready, self.truth.pods())):
            self._idle.append(commit.at)
        held = commit.old or commit.new
        if commit.kind not in FORMS or held is None:
            return
        uid = held["metadata"]["uid"]
        is_changed = is_taken(commit) or _read_templates(commit.old) != _read_templates(commit.new)
        if is_changed and not commit.writer:
            self._edited.add(uid)
        elif is_changed:
            self._check(commit, uid)

    def _check(self, commit: Commit, uid: str) -> None:
        before, now = self._made_from.get(uid), self._find_wishes(commit.at)
        is_edited = uid in self._edited
        self._made_from[uid] = now
        self._edited.discard(uid)
        if before is None or is_edited or len(before | now) > 1 or self._may_be_idle(commit.at):
            return
        root = self.truth.workload
        if root is not None and annotations_of(root).get(FOLLOWS) != "true":
            which = f"{commit.kind.name} {commit.name}"
            self.breach(f"E4: {which} changes, and no user edited the service")

    def _find_wishes(self, at: float) -> set[int]:
        """The wishes, by their places, that stood within the operator's patience."""
        since = at - self.scene.patience
        last = sum(asked < since for asked in self._wishes)
        return set(range(max(0, last - 1), len(self._wishes)))

    def _may_be_idle(self, at: float) -> bool:
        recent = at - self.scene.patience_with_parts
        is_idle = not any(map(is_ready, self.truth.pods()))
        return is_idle or any(moment >= recent for moment in self._idle)


def _read_wish(service: Object | None) -> object:
    if service is None:
        return None
    return service["metadata"]["uid"], service["spec"], labels_of(service), annotations_of(service)


def _read_templates(workload: Object | None) -> Object:
    """What of a workload restarts pods when it changes."""
    spec = {k: v for k, v in ((workload or {}).get("spec") or {}).items() if k != "replicas"}
    if "roles" in spec:
        roles = spec["roles"]
        spec["roles"] = [{k: v for k, v in role.items() if k != "replicas"} for role in roles]
    return spec


@dataclass(frozen=True, slots=True)
class _Crash:
    """A pod that crashes since a moment, and since when it is ready again; None if it is not."""

    pod: str
    component: str
    at: float
    images: tuple[str, ...]
    ready_at: float | None = None


class ServiceStatus(Status):
    """The promises about the status of a service."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._ready: deque[ReadyPods] = deque([ReadyPods(0.0)])
        self._crashes: dict[str, _Crash] = {}  # by the uids of pods
        names = {fault.name for fault in scene.scenario.faults}
        self._is_heard = names <= _ELSEWHERE

    def commit(self, commit: Commit) -> None:
        """Compare the conditions and counts of a written status with the true ones."""
        if commit.kind == kinds.POD:
            if self._is_heard and self.truth.workload is not None:
                self._check_crashes(self.truth.workload)
            self._note(commit)
        if commit.kind != self.simulated.kind or not commit.writer or commit.new is None:
            return
        self._check_change(commit)
        self._check_claims(commit.new)

    def _note(self, commit: Commit) -> None:
        self._ready.append(note_ready(self.truth, commit.at))
        since = commit.at - self.scene.patience_with_parts - SLACK_SECONDS
        while len(self._ready) > 1 and self._ready[1].at < since:
            self._ready.popleft()
        self._note_crash(commit)

    def _note_crash(self, commit: Commit) -> None:
        pod = commit.new or commit.old
        assert pod is not None
        uid, held = pod["metadata"]["uid"], self._crashes.pop(pod["metadata"]["uid"], None)
        if commit.new is None or is_leaving(pod) or has_ended(pod):
            return
        images = tuple(each["image"] for each in pod["spec"]["containers"])
        if _is_crashing(pod):
            found = _Crash(commit.name, labels_of(pod).get(COMPONENT, ""), commit.at, images)
            self._crashes[uid] = replace(held, ready_at=None) if held else found
        elif held is not None and is_ready(pod) and images == held.images:
            # With other images, as after an update in place, it is over as with another pod.
            ready_at = commit.at if held.ready_at is None else held.ready_at
            self._crashes[uid] = replace(held, ready_at=ready_at)

    def _check_change(self, commit: Commit) -> None:
        old = (commit.old or {}).get("status") or {}
        new = (commit.new or {}).get("status") or {}
        is_other = (commit.old or {}).get("metadata", {}).get("finalizers") != (
            (commit.new or {}).get("metadata", {}).get("finalizers")
        )
        if old == new and not is_other:
            self.breach("T6: a status was written that says the same")
        before = {c["type"]: c for c in old.get("conditions") or ()}
        for condition in new.get("conditions") or ():
            known = before.get(condition["type"])
            if known and known != condition and _without_time(known) == _without_time(condition):
                self.breach(f"T4: {condition['type']} has a new time and says the same")

    def _check_claims(self, workload: Object) -> None:
        status = workload.get("status") or {}
        generation = workload["metadata"]["generation"]
        if status.get("observedGeneration", 0) > generation:
            self.breach("T1: the status has seen a generation that does not exist")
        is_seen = status.get("observedGeneration") == generation and not is_leaving(workload)
        for name in list_components(workload["spec"]) if is_seen else ():
            claims = {"Ready", f"{name.capitalize()}Ready"}
            told = sorted(claim for claim in claims if says_true(status, claim))
            if told and not any(name in moment.components() for moment in self._ready):
                self.breach(f"E5: {told[0]} is said, and no pod of {name} serves")
        self._check_crashes(workload)

    def _check_crashes(self, workload: Object) -> None:
        """E6: of a status that is written, and of one that should have been written by now."""
        status = workload.get("status") or {}
        for name in list_components(workload["spec"]):
            claims = ("Ready", f"{name.capitalize()}Ready")
            told = next((claim for claim in claims if says_true(status, claim)), "")
            pod = self._find_crashing(name) if told else ""
            if pod:
                self.breach(f"E6: {told} is said, and pod {pod} of {name} crashes")

    def _find_crashing(self, component: str) -> str:
        """A pod that has crashed for so long that the operator knows it."""
        now = self.scene.now()
        since = now - self.scene.patience_with_parts - SLACK_SECONDS
        well = 0.0 if self.scene.scenario.has("clock-jump") else _WELL_SECONDS
        for crash in self._crashes.values():
            is_over = crash.ready_at is not None and now - crash.ready_at >= well
            if crash.component == component and crash.at < since and not is_over:
                return crash.pod
        return ""

    def end(self) -> None:
        """A service has no scale of its own."""


def _is_crashing(pod: Object) -> bool:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = ((status.get("state") or {}).values() for status in statuses)
    is_down = any(s.get("exitCode") or s.get("reason") == _CRASHED for held in states for s in held)
    return not is_ready(pod) and (is_down or has_crashed(pod))


def _without_time(condition: Object) -> Object:
    return {key: value for key, value in condition.items() if key != "lastTransitionTime"}
