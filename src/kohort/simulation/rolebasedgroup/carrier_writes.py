"""
R4 and G3 of what carries a role: the operator neither writes it without end nor gives it up.

Each write of a partition is a new generation, for which the controller that makes the pods counts
nothing at first. An operator that takes that for progress lost raises the partition again, and
then lowers it, for ever. So for one version of a role it goes up only where the user wants it,
by a partition or a pause, or where more units are asked for.
"""

from collections import defaultdict, deque

from kohort.cluster.objects import Object, is_leaving, labels_of
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, controller_of
from kohort.simulation.rolebasedgroup.carried import (
    has_template,
    read_partition,
    templates_of,
)
from kohort.simulation.rolebasedgroup.wishes import find_role
from kohort.simulation.scenario import NAME

# Four templates for three units within a minute, with a scale and a partition between them.
WRITES_PER_MINUTE_MAX = 30


class CarrierWrites(Checker):
    """The promises about writes to StatefulSets and their like."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self._versions: dict[str, Object] = {}  # of the role that a carrier has
        self._asked: deque[tuple[float, dict[str, int]]] = deque()  # users' partitions, by role

    def commit(self, commit: Commit) -> None:
        """Judge the specs that the operator writes, and check that it deletes no carrier."""
        owner, old, new = self.truth.workload, commit.old, commit.new
        if commit.kind == self.simulated.kind and owner is not None:
            self._note_partitions(commit.at)
        if commit.kind not in self.simulated.carriers or not commit.writer or old is None:
            return
        if owner is None or controller_of(old) != owner["metadata"]["uid"] or is_leaving(owner):
            return
        name = f"{commit.kind.name} {commit.name}"
        if is_taken(commit):
            self.breach(f"G3: {name} was deleted without a reason")
        elif new is not None and new["spec"] != old["spec"]:
            self._count(name, commit.at)
            self._check_partition(name, old, new)

    def _note_partitions(self, now: float) -> None:
        views = self.truth.lines()
        self._asked.append((now, {view.role: view.policy.partition for view in views}))
        since = now - self.scene.patience_with_parts
        while len(self._asked) > 1 and self._asked[1][0] < since:
            self._asked.popleft()

    def _count(self, name: str, now: float) -> None:
        times = self._times[name]
        times.append(now)
        while times[0] < now - 60:
            times.popleft()
        if len(times) == WRITES_PER_MINUTE_MAX:
            self.breach(f"R4: {name} was changed {WRITES_PER_MINUTE_MAX} times in a minute")

    def _check_partition(self, name: str, old: Object, new: Object) -> None:
        role = find_role((self.truth.workload or {})["spec"], name.rpartition(f" {NAME}-")[2])
        if role is None or not has_template(new, role):
            return  # the partition is for a version that another role holds back
        before, now = read_partition(old), read_partition(new)
        # With a new version of its role, which a label names, the operator decides anew.
        version = {key: value for key, value in role.items() if key != "replicas"}
        is_same = labels_of(old) == labels_of(new) and templates_of(old) == templates_of(new)
        if not is_same or name not in self._versions:
            self._versions[name] = version
        is_same = is_same and self._versions[name] == version
        is_same = is_same and old["spec"].get("replicas") == new["spec"].get("replicas")
        asked = max((held.get(role["name"], 0) for _, held in self._asked), default=0)
        if is_same and now > max(before, asked):
            self.breach(f"R4: the partition of {name} went back from {before} to {now}")
