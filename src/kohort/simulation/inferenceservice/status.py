"""
E5, T1, T4 and T6: the status of a service says nothing that was not true at some moment.

A service is not said to be ready while one of its components has no pod that serves; a component
that crashes has none. The time of a condition changes when something else in it does.
"""

from collections import deque

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.status import SLACK_SECONDS, Status, is_true
from kohort.simulation.checkers.truth import Commit, is_leaving
from kohort.simulation.inferenceservice.forms import ReadyPods, note_ready
from kohort.simulation.inferenceservice.manifests import list_components


class ServiceStatus(Status):
    """The promises about the status of a service."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._ready: deque[ReadyPods] = deque([ReadyPods(0.0)])

    def commit(self, commit: Commit) -> None:
        """Compare the conditions and counts of a written status with the true ones."""
        if commit.kind == kinds.POD:
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
            told = sorted(claim for claim in claims if is_true(status, claim))
            if told and not any(name in moment.components() for moment in self._ready):
                self.breach(f"E5: {told[0]} is said, and no pod of {name} serves")

    def end(self) -> None:
        """A service has no scale of its own."""


def _without_time(condition: Object) -> Object:
    return {key: value for key, value in condition.items() if key != "lastTransitionTime"}
