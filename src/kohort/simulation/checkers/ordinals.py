"""
A4 and A6: which groups a partition keeps, and which go first when a workload is scaled down.

A4: groups below the user's partition stay, and a lost one comes back with its old revision. A
rollout may have given a group up before the partition rose above it. Once operator and carrier
have had time to see the partition, neither takes a group below it down for being old, and one that
failed or was deleted is made from the revision that it had.

A6: the groups with the highest ordinals go first. A group that is not wanted any more may go in
any order with those above it, as long as these go too: after the operator's patience, none of them
may be left. A process that was killed in the middle of it leaves the rest to the next one.
"""

from collections import deque

from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.groups import DELETING
from kohort.simulation.checkers.truth import Commit, Group
from kohort.simulation.scenario import COMPATIBLE, NAME
from kohort.simulation.simulated_api import Policy


class Partition(Checker):
    """The promises about groups below the partition."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        scenario = scene.scenario
        # In these scenarios other clients delete pods, or revisions and templates get new names.
        self._is_blind = (
            scenario.has(*DELETING, "upgrade")
            or scenario.may_roll_alike
            or scenario.strategy == COMPATIBLE
        )
        self._policies: deque[tuple[float, Policy]] = deque()
        self._before: dict[int, Group] = {}
        self._revisions: dict[int, str] = {}  # of the last group in each place

    def commit(self, commit: Commit) -> None:
        """Check each deleted and each created pod of a group below the partition."""
        if self._is_blind:
            return
        if commit.kind == self.simulated.kind and commit.new is not None:
            self._policies.append((commit.at, self.simulated.read_policy(commit.new)))
        if commit.kind != kinds.POD or not self._policies:
            return
        if is_taken(commit) and not commit.is_user:
            self._check_departure(commit)
        self._before = {group.ordinal: group for group in self.truth.groups()}
        if commit.old is None and commit.new is not None:
            self._check_return(commit.new)
        self._revisions |= {o: g.revision for o, g in self._before.items()}

    def _count_kept(self) -> int:
        """The groups that the partition has kept for long enough: those below this number."""
        since = self.scene.now() - self.scene.patience_with_parts
        while len(self._policies) > 1 and self._policies[1][0] < since:
            self._policies.popleft()
        return min(min(policy.partition, policy.wanted) for _, policy in self._policies)

    def _check_departure(self, commit: Commit) -> None:
        assert commit.old is not None
        uid = commit.old["metadata"]["uid"]
        group = next((g for g in self._before.values() if g.uid == uid), None)
        step = self.simulated.read_step(self.truth, self.scene.scenario.carrier)
        if group is None or step is None or uid in self.truth.hurt or not group.revision:
            return
        if group.revision != step[2] and group.ordinal < self._count_kept():
            self.breach(f"A4: group {group.ordinal} is old, and the partition keeps it")

    def _check_return(self, pod: Object) -> None:
        group = self._find_group(pod)
        if group is None or self.simulated.has_gone_back(self.truth, self.scene.scenario.carrier):
            return
        known = self._revisions.get(group.ordinal)
        if known and known != group.revision and group.ordinal < self._count_kept():
            self.breach(
                f"A4: group {group.ordinal} is below the partition and came back as another"
            )

    def _find_group(self, pod: Object) -> Group | None:
        ordinal = pod["metadata"]["name"].removeprefix(f"{NAME}-")
        return self._before.get(int(ordinal)) if ordinal.isdigit() else None


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
        self._judge(commit.at - self.scene.patience_with_parts - self.scene.absence)

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
