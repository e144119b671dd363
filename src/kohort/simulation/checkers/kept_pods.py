"""
G10: an instance keeps its pods if it can be updated in place, or if its policy says it must be.

The operator deletes no pod of such an instance only because its template is old. Other reasons are
allowed: the instance is surplus, failed, or was edited by a user.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, has_ended, restarts_of
from kohort.simulation.simulated_api import LineView


class KeptPods(Checker):
    """The promises about instances that are updated in place."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._views: list[LineView] = []
        self._wishes: list[tuple[float, Object, list[LineView]]] = []  # and until when they held

    def commit(self, commit: Commit) -> None:
        """Check each pod that the operator deletes."""
        if commit.kind == self.simulated.kind and commit.old is not None:
            self._wishes.append((commit.at, commit.old["spec"], self._views))
        unit_kinds = (kinds.POD, *self.simulated.unit_kinds)
        if commit.kind in unit_kinds and commit.writer and is_taken(commit):
            self._check_deletion(commit)
        if commit.kind in (self.simulated.kind, *unit_kinds):
            self._views = [view for view in self.truth.lines() if view.carried is None]

    def _check_deletion(self, commit: Commit) -> None:
        workload, old = self.truth.workload, commit.old
        assert old is not None
        if workload is None or is_leaving(workload):
            return
        for view in self._views:
            for unit in view.units:
                pods = {pod["metadata"]["uid"] for pod in (unit.leader, *unit.workers)}
                if old["metadata"]["uid"] in {unit.uid, *pods}:
                    self._check_unit(commit, view, unit, workload)

    def _check_unit(self, commit: Commit, view: LineView, unit: Group, workload: Object) -> None:
        seen = self.truth.find_seen(commit.writer)
        past = [(spec, views) for until, spec, views in self._wishes if until >= seen]
        wanted = [v.policy.wanted for _, views in past for v in views if v.name == view.name]
        if len(view.units) > min(view.policy.wanted, *wanted, view.policy.wanted):
            return
        pods = (unit.leader, *unit.workers)
        has_failed = any(restarts_of(pod) or has_ended(pod) or is_leaving(pod) for pod in pods)
        is_extra = unit.ordinal >= min(view.policy.wanted, *wanted, view.policy.wanted)
        is_extra = is_extra and not view.is_stateless
        if has_failed or unit.is_edited or is_extra or len(unit.members) != unit.size:
            return
        specs = [workload["spec"], *(spec for spec, _ in past)]
        if all(self.simulated.can_follow(unit, spec) for spec in specs):
            self.breach(f"G10: {commit.name} was deleted, and could have changed as it ran")
        if all(self.simulated.is_kept_old(unit, spec) for spec in specs):
            self.breach(f"G10: {commit.name} was deleted, and its policy forbids making it anew")
