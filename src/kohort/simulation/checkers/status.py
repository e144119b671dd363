"""
T1 to T8: the status is never ahead of the truth, and says what autoscalers need.

It was computed from a view, so it may be as old as the operator's patience; but there
must have been one moment, not longer ago, in which it was true.
"""

from collections import Counter, deque
from dataclasses import dataclass

import orjson

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit
from kohort.simulation.faulty_cluster import Request
from kohort.simulation.scenario import NAME, NAMESPACE

_MAKERS = (kinds.POD, kinds.STATEFUL_SET)
SLACK_SECONDS = 1.5  # a status that keeps changing is written once a second


@dataclass(frozen=True, slots=True)
class _Moment:
    """How many groups served from a time on, and whether all did and had the new template."""

    at: float
    ready: dict[str, int]  # by role, or all under one name
    is_whole: bool  # every wanted group served
    is_mixed: bool  # a group that should have the new template had another


class Status(Checker):
    """The promises about the status."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._moments: deque[_Moment] = deque()
        self._uid = ""
        self._asked: dict[str, int] = {}  # who writes a status, and the version before
        self._has_jumped = any(fault.name == "clock-jump" for fault in scene.scenario.faults)

    def commit(self, commit: Commit) -> None:
        """Compare the counts and conditions of a written status with the true ones."""
        if commit.kind in (self.simulated.kind, *_MAKERS, *self.simulated.unit_kinds):
            self._note(commit)
        if commit.kind != self.simulated.kind or not commit.writer or commit.new is None:
            return
        self._check_change(commit)
        self._check_claims(commit.new)

    def request(self, request: Request) -> None:
        """Remember on which version a status is written by a process that has seen it."""
        workload = self.truth.workload
        self._asked.pop(request.writer, None)
        kind = self.simulated.kind
        if workload is None or (request.verb, request.kind) != ("patch/status", kind):
            return
        version = int(workload["metadata"]["resourceVersion"])
        if self.truth.views.get(request.writer, {}).get(kind, 0) >= version:
            self._asked[request.writer] = version

    def answer(self, request: Request, version: int) -> None:
        """T6: the operator does not send a status that the object has already."""
        if self._asked.pop(request.writer, None) == version:
            self.breach("T6: a status was sent that changes nothing")

    def _note(self, commit: Commit) -> None:
        workload = self.truth.workload
        if workload is None:
            return
        policy = self.simulated.read_policy(workload)
        ready = self.truth.ready()
        is_whole = all(ordinal in ready for ordinal in range(policy.wanted))
        groups = {group.ordinal: group for group in self.truth.groups()}
        if self.simulated.is_sparse:
            is_whole = len(ready) >= policy.wanted
            groups = dict(enumerate(groups.values()))
        is_mixed = any(
            policy.partition <= place < policy.wanted
            and self.simulated.has_old_image(group, workload["spec"])
            for place, group in groups.items()
        )
        fields = self.simulated.status
        count_all = fields.count_by_role or (lambda truth: {"": fields.count_ready(truth)})
        count = count_all(self.truth)
        self._moments.append(_Moment(commit.at, count, is_whole, is_mixed))
        # Where other controllers count units, the operator passes on what they say.
        is_passed_on = bool(self.simulated.carriers)
        lags = self.scene.patience_with_parts if is_passed_on else 0.0
        patience = self.scene.patience + lags
        since = commit.at - patience - SLACK_SECONDS
        while len(self._moments) > 1 and self._moments[1].at < since:
            self._moments.popleft()

    def _check_change(self, commit: Commit) -> None:
        assert commit.new is not None
        old = (commit.old or {}).get("status") or {}
        new = commit.new.get("status") or {}
        is_spec = commit.old is not None and commit.old["spec"] != commit.new["spec"]
        if old == new and not is_spec:
            self.breach("T6: a status was written that says the same")
        before = {c["type"]: c for c in old.get("conditions") or ()}
        for condition in new.get("conditions") or ():
            known = before.get(condition["type"])
            if known is None:
                continue
            is_changed = known["status"] != condition["status"]
            is_moved = known["lastTransitionTime"] != condition["lastTransitionTime"]
            if is_moved and not is_changed:
                self.breach(f"T4: {condition['type']} has a new time and the same status")
            is_back = condition["lastTransitionTime"] < known["lastTransitionTime"]
            if is_back and not self._has_jumped:
                self.breach(f"T4: the time of {condition['type']} goes back")

    def _find_most(self) -> int:
        """The most units that a status may say to be ready: of each role the most of its time."""
        counted = Counter[str]()
        for moment in self._moments:
            counted |= Counter(moment.ready)
        return counted.total()

    def _check_claims(self, workload: Object) -> None:
        status = workload.get("status") or {}
        generation = workload["metadata"]["generation"]
        if status.get("observedGeneration", 0) > generation:
            self.breach("T1: the status has seen a generation that does not exist")
        most = self._find_most()
        fields = self.simulated.status
        said = fields.read_ready(status)
        if said > most:
            self.breach(f"T2: {said} groups are said to be ready of {most}")
        if fields.selector and (not status.get(fields.selector) or "replicas" not in status):
            self.breach("T7: the status does not say what an autoscaler needs")
        if status.get("observedGeneration") != generation or is_leaving(workload):
            return
        if says_true(status, fields.available) and not any(
            moment.is_whole for moment in self._moments
        ):
            self.breach("T3: it is said to be available, and not all groups serve")
        is_over = self.simulated.status.says_over(status)
        if is_over and all(moment.is_mixed for moment in self._moments):
            self.breach("T5: the rollout is said to be over while a group is old")

    def end(self) -> None:
        """T8: the scale subresource has the counts and the selector of the workload."""
        workload = self.truth.workload
        if workload is None or not self.simulated.status.selector:
            return
        api = self.truth.api
        answer = api.read(api.target(self.simulated.kind, NAMESPACE, NAME, "scale"))
        scale = orjson.loads(answer.raw)
        said = (scale["spec"]["replicas"], scale["status"]["replicas"], scale["status"]["selector"])
        status = workload.get("status") or {}
        replicas = workload["spec"]["replicas"]
        if said != (replicas, status.get("replicas"), status.get(self.simulated.status.selector)):
            self.breach(f"T8: the scale says {said}")


def says_true(status: Object, condition: str) -> bool:
    """Whether a status says that a condition is true."""
    claims = {c["type"]: c["status"] for c in status.get("conditions") or ()}
    return claims.get(condition) == "True"


def is_available(status: Object) -> bool:
    """Whether a status says that all is available."""
    return says_true(status, "Available")
