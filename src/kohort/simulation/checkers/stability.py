"""
O2, O3 and O5: after the faults, workload and children reach the state of the spec, and rest there.

What counts is the last spec, not the way to it: which groups exist, from which
template, what the status says, and that the operator writes no more.
"""

from kohort.cluster import kinds
from kohort.cluster.kinds import LEASE
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit

# The fields that decide which pods a Service selects.
ROUTES = ("selector", "publishNotReadyAddresses", "clusterIP")


class Stability(Checker):
    """Convergence and silence."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.last_write = 0.0
        self.last: Commit | None = None
        self._services: dict[str, Object] = {}  # as the operator made them

    def commit(self, commit: Commit) -> None:
        """Remember when something was last written."""
        if commit.kind != LEASE:
            self.last_write = commit.at
            self.last = commit
        if commit.kind == kinds.SERVICE and commit.writer and commit.old is None and commit.new:
            self._services[commit.name] = commit.new["spec"]

    def find_trouble(self) -> str:
        """The first difference between the objects and the spec; empty if there is none."""
        if self.truth.workload is None:
            return "the workload does not exist"
        trouble = self.simulated.find_trouble(self.scene)
        if trouble or not self.simulated.has_fixed_routes:
            return trouble
        return self._find_in_services()

    def _find_in_services(self) -> str:
        for name, held in self.truth.objects[kinds.SERVICE].items():
            made = self._services.get(name, {})
            if any(held["spec"].get(key) != made.get(key) for key in ROUTES):
                return f"service {name} does not lead where it was made to lead"
        return ""
