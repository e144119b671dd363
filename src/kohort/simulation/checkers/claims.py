"""
C6: claims are kept or go as the user said.

The claims of leaders are looked at: those of workers go with their set on one
carrier and with the workload on the other, as each documents.

The StatefulSet controller gives the claims of a pod that it scales away to that pod. Where there
is no such pod at that moment, because a quota refused it, Kubernetes leaves its claims.
"""

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit
from kohort.simulation.scenario import CLAIMS, NAME, PODS

_PREFIX = f"{CLAIMS}-{NAME}-"


class Claims(Checker):
    """The promises about claims."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._policy = scene.scenario.claims
        self._made: set[str] = set()
        self._most = 0  # groups that were wanted since the last claim went
        self._pods: set[str] = set()  # names of pods with which their claims are to go

    def commit(self, commit: Commit) -> None:
        """Compare the deletion of a PersistentVolumeClaim with the user's retention policy."""
        if commit.kind == self.simulated.kind and commit.new is not None:
            self._most = max(self._most, self.simulated.read_policy(commit.new).wanted)
        if commit.kind == kinds.POD:
            self._pods.add(commit.name)
        if commit.kind == kinds.STATEFUL_SET and commit.name == NAME and commit.old and commit.new:
            scaled_away = range(_replicas(commit.new), _replicas(commit.old))
            names = {f"{NAME}-{ordinal}" for ordinal in scaled_away}
            self._pods -= names - self.truth.objects[kinds.POD].keys()
        if commit.kind != kinds.CLAIM:
            return
        if commit.old is None:
            self._made.add(commit.name)
        elif commit.writer and commit.new is not None:
            lost = _others(commit.old) - _others(commit.new)
            if lost:
                self.breach(f"C3: claim {commit.name} lost an owner that is not ours: {lost}")
        if is_taken(commit) and self._policy == "Retain":
            self.breach(f"C6: claim {commit.name} was deleted, and should have been kept")

    def end(self) -> None:
        """Compare all PersistentVolumeClaims with the user's retention policy."""
        workload = self.truth.workload
        if not self._policy or workload is None:
            return
        held = set(self.truth.objects[kinds.CLAIM])
        wanted = {
            f"{_PREFIX}{ordinal}" for ordinal in range(self.simulated.read_policy(workload).wanted)
        }
        if not wanted <= held:
            self.breach(f"C6: there are no claims {sorted(wanted - held)}")
        # A claim with another owner stays with that one.
        held = {name for name in held if not _others(self.truth.objects[kinds.CLAIM][name])}
        leaders = {name for name in held if name.removeprefix(_PREFIX).isdigit()}
        if self.scene.scenario.carrier != PODS:
            # Kubernetes lets a claim of a set go with its pod: without one it stays.
            leaders = {name for name in leaders if name.removeprefix(f"{CLAIMS}-") in self._pods}
        if self._policy == "Delete" and not leaders <= wanted:
            self.breach(f"C6: claims {sorted(leaders - wanted)} outlived their groups")

    def gone(self) -> None:
        """Claims that the policy deletes are gone, and claims that it retains exist."""
        claims = self.truth.objects[kinds.CLAIM]
        held, ours = set(claims), {name for name, claim in claims.items() if not _others(claim)}
        if self._policy == "Delete" and ours:
            self.breach(f"C6: claims {sorted(ours)} outlived the workload")
        if self._policy == "Retain" and self._made - held:
            self.breach(f"C6: claims {sorted(self._made - held)} went with the workload")


def _replicas(leader_set: Object) -> int:
    return int(leader_set["spec"].get("replicas", 1))


def _others(claim: Object) -> set[str]:
    """The owners of a claim that are none of ours."""
    owners = claim["metadata"].get("ownerReferences") or ()
    return {owner["name"] for owner in owners if owner["kind"] == "ConfigMap"}
