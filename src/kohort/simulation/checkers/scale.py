"""
A6: when a workload is scaled down, the groups with the highest ordinals go first.

A group that is not wanted any more may go in any order with those above it, as long
as these go too: after the operator's patience, none of them may be left.
"""

from collections import deque

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, labels_of


class Scaling(Checker):
    """The promises about scaling down."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._before: dict[str, Group] = {}
        self._doomed: deque[tuple[float, int, tuple[str, ...]]] = deque()
        self._wanted = 0
        self._spec: Object | None = None

    def commit(self, commit: Commit) -> None:
        """Compare the group that goes with those that stay."""
        if commit.kind == self.simulated.kind:
            self._learn(commit)
        if commit.kind != kinds.POD:
            return
        if commit.old is not None and is_taken(commit) and not commit.is_user:
            group = self._before.get(commit.old["metadata"]["uid"])
            if group is not None and self._is_surplus(group):
                above = (g.uid for g in self._before.values() if g.ordinal > group.ordinal)
                self._doomed.append((commit.at, group.ordinal, tuple(above)))
        self._before = {group.uid: group for group in self.truth.groups()}
        self._judge(commit.at - self.scene.patience_with_parts)

    def _is_surplus(self, group: Group) -> bool:
        """Whether nothing is wrong with a group, except that it is not wanted."""
        if self._spec is None or not group.revision or self.simulated.is_old(group, self._spec):
            return False
        if self.scene.scenario.may_roll_alike and self._is_stale(group):
            return False
        return group.uid not in self.truth.hurt and group.ordinal >= self._wanted

    def _is_stale(self, group: Group) -> bool:
        """Whether the set has another template for a leader, although its image is the same."""
        held = self.truth.leader_set
        newest = ((held or {}).get("status") or {}).get("updateRevision")
        return labels_of(group.leader).get("controller-revision-hash") != newest

    def _learn(self, commit: Commit) -> None:
        wanted = 0 if commit.new is None else self.simulated.read_policy(commit.new).wanted
        if wanted != self._wanted:
            self._doomed.clear()
        self._wanted = wanted
        if commit.new is not None:
            self._spec = commit.new["spec"]

    def _judge(self, until: float) -> None:
        while self._doomed and self._doomed[0][0] < until:
            _, ordinal, above = self._doomed.popleft()
            left = [self._before[uid].ordinal for uid in above if uid in self._before]
            if left:
                self.breach(f"A6: group {ordinal} was given up, and groups {left} stayed")
