"""
The HorizontalPodAutoscaler controller: it scales targets by metrics from annotations.

It reconciles an autoscaler every fifteen seconds of the cluster's clock, when it is changed and
when its target comes or goes; not when the target is scaled, or one reconcile would cause the next.
Recent proposals and changes are kept in memory and not stored, as in a real controller manager. It
writes no status that is unchanged, and emits no event again for a failure that it has reported.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kohort.apiserver.resources.builtin import KINDS, SCALED
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.conditions import put
from kohort.cluster.errors import BadRequest, ClusterError, Conflict
from kohort.cluster.kinds import AUTOSCALER, DEFINITION, POD
from kohort.cluster.objects import Kind, Object
from kohort.cluster.selectors import parse_label_selector
from kohort.simulator.builtins.autoscalers.decision import (
    Condition,
    Decision,
    History,
    decide,
    read_tolerance,
)
from kohort.simulator.builtins.autoscalers.proposals import Situation
from kohort.simulator.builtins.autoscalers.targets import (
    NoTarget,
    Target,
    find_target,
    read_pod,
    split_group,
)
from kohort.simulator.builtins.ownership import reference
from kohort.simulator.component import (
    ComponentAction,
    EventRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)

LOOK_SECONDS = 15.0
_SOURCE = "horizontal-pod-autoscaler"
_GOT_SCALE = Condition(
    "AbleToScale",
    True,
    "SucceededGetScale",
    "the HPA controller was able to get the target's current scale",
)
_BUILTIN = frozenset(row.kind for row in KINDS)
_ALWAYS = (AUTOSCALER, POD, DEFINITION, *SCALED)


class Autoscalers:
    """The HorizontalPodAutoscaler controller as a component."""

    name = "autoscalers"
    manager = "kube-controller-manager"

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = _ALWAYS
        self._histories: dict[str, History] = {}
        self._before: dict[str, History] = {}  # of the step that is being carried out
        self._refused: dict[str, str] = {}  # why a target could not be scaled

    def watch_kinds(self, kinds: Iterable[Kind]) -> None:
        """Watch the custom kinds among these, which may have a scale subresource."""
        self.kinds = (*_ALWAYS, *(kind for kind in kinds if kind not in _BUILTIN))

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The key of a changed autoscaler, or of those whose target came or went."""
        entry = new or old
        assert entry is not None
        if kind == AUTOSCALER:
            key = f"{entry.namespace}/{entry.name}"
            if new is None:
                self._forget(key)
                return ()
            return () if old is not None and _asks_for_the_same(old, new) else (key,)
        if kind in (POD, DEFINITION) or (old is not None and new is not None):
            return ()
        return [
            f"{one.namespace}/{one.name}"
            for one in view.all(AUTOSCALER, entry.namespace)
            if _refers_to(one, kind, entry.name)
        ]

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Compute the replicas, scale the target, and write the status."""
        namespace, _, name = key.partition("/")
        entry = view.find(AUTOSCALER, namespace, name)
        if entry is None or entry.facts.is_leaving:
            self._forget(key)
            return Step()
        visit = _Visit(entry, entry.decode(), moment, self._refused.pop(key, ""))
        target = visit.find_target(self.kinds, view)
        if target is not None:
            history = self._histories.get(key, History())
            decision = visit.decide(target, history, self._find_rivals(entry, view), view)
            self._before[key] = history
            self._histories[key] = history if visit.trouble else decision.history
            visit.scale(target, decision)
        visit.report()
        return Step(tuple(visit.actions), LOOK_SECONDS)

    def _find_rivals(self, entry: StoredObject, view: View) -> list[tuple[str, str]]:
        """The other autoscalers of the namespace, each with the selector of its target."""
        found = []
        for other in view.all(AUTOSCALER, entry.namespace):
            if other.name == entry.name:
                continue
            spec = other.decode()["spec"]
            try:
                target = find_target(spec["scaleTargetRef"], entry.namespace, self.kinds, view)
            except NoTarget:
                continue
            found.append((other.name, target.counts.selector))
        return found

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Forget a refused scale; keep the reason for an event if it cannot succeed later."""
        if isinstance(action, MergeRequest) and action.subresource == "scale":
            if key in self._before:
                self._histories[key] = self._before[key]
            if not isinstance(error, Conflict):
                self._refused[key] = error.message

    def _forget(self, key: str) -> None:
        for kept in (self._histories, self._before, self._refused):
            kept.pop(key, None)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why the pods of a target are unknown."""

    event: str
    reason: str
    message: str
    told: str = ""  # the event's message, where it differs


@dataclass(slots=True)
class _Visit:
    """One reconcile of one autoscaler."""

    entry: StoredObject
    autoscaler: Object
    moment: Moment
    trouble: str = ""  # why the target could not be scaled the last time
    actions: list[ComponentAction] = field(default_factory=list)
    status: Object = field(init=False)
    _warnings: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.status = dict(self.autoscaler.get("status") or {})

    @property
    def _spec(self) -> Object:
        spec: Object = self.autoscaler["spec"]
        return spec

    def find_target(self, known: Iterable[Kind], view: View) -> Target | None:
        """The scale target; sets a condition if there is none."""
        try:
            target = find_target(self._spec["scaleTargetRef"], self.entry.namespace, known, view)
        except NoTarget as error:
            why = f"the HPA controller was unable to get the target's current scale: {error}"
            self._say(Condition("AbleToScale", False, "FailedGetScale", why))
            self._warnings.append(("FailedGetScale", str(error)))
            return None
        self._say(_GOT_SCALE)
        return target

    def decide(
        self, target: Target, history: History, rivals: list[tuple[str, str]], view: View
    ) -> Decision:
        """The replicas that the target should have."""
        pods, trouble = _select_pods(target.counts.selector, self.entry.namespace, view)
        situation = Situation(
            target.counts.wanted or 0,
            target.counts.found,
            [read_pod(pod.decode(), self.moment) for pod in pods],
            self.autoscaler["metadata"].get("annotations") or {},
            read_tolerance(self._spec),
        )
        decision = decide(self._spec, situation, history, self.moment.elapsed)
        if decision.metrics is None:
            return decision
        if trouble is None:
            trouble = self._find_ambiguity(target.counts.selector, pods, rivals)
        if trouble is None:
            return decision
        condition = Condition("ScalingActive", False, trouble.reason, trouble.message)
        told = trouble.told or trouble.message
        warnings = ((trouble.event, told), ("FailedComputeMetricsReplicas", told))
        return Decision(conditions=(condition,), warnings=warnings, is_known=False, history=history)

    def _find_ambiguity(
        self, selector: str, pods: list[StoredObject], rivals: list[tuple[str, str]]
    ) -> "_Trouble | None":
        both = [name for name, other in rivals if _share_pods(other, pods)]
        if not both:
            return None
        names = sorted([*both, self.entry.name])
        keys = " ".join(f"{self.entry.namespace}/{name}" for name in names)
        why = f"pods by selector {selector} are controlled by multiple HPAs: [{keys}]"
        return _Trouble("AmbiguousSelector", "AmbiguousSelector", why)

    def scale(self, target: Target, decision: Decision) -> None:
        """Scale the target if its replicas should change, and update the status."""
        current, replicas = target.counts.wanted or 0, decision.replicas
        for condition in decision.conditions:
            self._say(condition)
        self._warnings += decision.warnings
        self.status["currentReplicas"] = current
        self.status["currentMetrics"] = decision.metrics
        if not decision.is_known:
            return
        self.status["desiredReplicas"] = current if replicas is None else replicas
        if replicas is None:
            return
        if self.trouble:
            why = f"the HPA controller was unable to update the target scale: {self.trouble}"
            self._say(Condition("AbleToScale", False, "FailedUpdateScale", why))
            told = f"New size: {replicas}; reason: {decision.reason}; error: {self.trouble}"
            self._warnings.append(("FailedRescale", told))
            return
        patch = {
            "metadata": {"resourceVersion": str(target.entry.rv)},
            "spec": {"replicas": replicas},
        }
        self.actions.append(MergeRequest(target.kind, *target.entry.key, patch, "scale"))
        why = f"the HPA controller was able to update the target scale to {replicas}"
        self._say(Condition("AbleToScale", True, "SucceededRescale", why))
        self.status["lastScaleTime"] = self.moment.stamp
        self._emit(
            "Normal", "SuccessfulRescale", f"New size: {replicas}; reason: {decision.reason}"
        )

    def _say(self, said: Condition) -> None:
        """Set a condition; its transition time changes only with its status."""
        status = "True" if said.is_true else "False"
        new = {
            "type": said.type,
            "status": status,
            "lastTransitionTime": "",  # the field has its place here
            "reason": said.reason,
            "message": said.message,
        }
        held: list[Object] = self.status.get("conditions") or []
        self.status["conditions"] = put(held, new, self.moment.stamp)

    def report(self) -> None:
        """Write the status if it changed, with warning events for new failures."""
        old = self.autoscaler.get("status") or {}
        if _normal(self.status) == _normal(old):
            return
        patch = {**{name: None for name in old if name not in self.status}, **self.status}
        self.actions.append(
            MergeRequest(AUTOSCALER, *self.entry.key, {"status": patch}, "status", self.entry.uid)
        )
        if _complaints(self.status) != _complaints(old):
            for reason, message in self._warnings:
                self._emit("Warning", reason, message)

    def _emit(self, kind: str, reason: str, message: str) -> None:
        about = reference(AUTOSCALER, self.entry)
        self.actions.append(EventRequest(about, kind, reason, message, _SOURCE))


def _normal(status: Object) -> Object:
    """The status without empty fields."""
    return {name: value for name, value in status.items() if value not in (None, 0, [])}


def _complaints(status: Object) -> list[tuple[str, str]]:
    """The failures in conditions, and the unknown metrics, as events."""
    found = [
        (condition["reason"], condition["message"])
        for condition in status.get("conditions") or ()
        if condition["status"] == "False" and condition["type"] != "ScalingLimited"
    ]
    metrics = status.get("currentMetrics") or ()
    unknown = [("", str(at)) for at, metric in enumerate(metrics) if not metric.get("type")]
    return found + unknown


def _asks_for_the_same(old: StoredObject, new: StoredObject) -> bool:
    before, after = old.decode(), new.decode()
    notes = (obj["metadata"].get("annotations") for obj in (before, after))
    return bool(before["spec"] == after["spec"] and next(notes) == next(notes))


def _refers_to(entry: StoredObject, kind: Kind, name: str) -> bool:
    target = entry.decode()["spec"]["scaleTargetRef"]
    return bool(target.get("name") == name and split_group(target) == (kind.group, kind.name))


def _select_pods(
    selector: str, namespace: str, view: View
) -> tuple[list[StoredObject], _Trouble | None]:
    """The pods that a selector selects, sorted by name."""
    if not selector:
        why = "the HPA target's scale is missing a selector"
        return [], _Trouble("SelectorRequired", "InvalidSelector", why, "selector is required")
    try:
        parsed = parse_label_selector(selector)
    except BadRequest as error:
        why = "couldn't convert selector into a corresponding internal selector object"
        return [], _Trouble("InvalidSelector", "InvalidSelector", f"{why}: {error}")
    pods = [pod for pod in view.all(POD, namespace) if parsed.matches(pod.labels)]
    return sorted(pods, key=lambda pod: pod.name), None


def _share_pods(selector: str, pods: Iterable[StoredObject]) -> bool:
    try:
        parsed = parse_label_selector(selector) if selector else None
    except BadRequest:
        return False
    return parsed is not None and any(parsed.matches(pod.labels) for pod in pods)
