"""
A1 to A4: how many groups may exist, how many must serve, and which the operator may give up.

Groups that the operator did not take down are not held against it (A2). A decision is
judged by the state of the cluster at the moment of the operator's write (A3). Changes that the
operator cannot have seen yet, since they are younger than its patience, are left out; so is an
edit by a user after the operator's last reconcile.
"""

from collections import deque

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, controller_of
from kohort.simulation.scenario import COMPATIBLE, PODS
from kohort.simulation.simulated_api import Policy, Step

_WATCHED = (kinds.POD, kinds.STATEFUL_SET, kinds.CONTROLLER_REVISION)


class Budget(Checker):
    """The promises about the number of groups."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._policies: deque[tuple[float, Policy]] = deque()
        self._uid = ""
        self._is_armed = False
        self._most = 0
        self._promised = 0  # groups that must serve; raised when more of them serve
        self._ready: set[int] = set()
        self._since: dict[int, float] = {}  # groups that serve, and from when on
        self._ours: set[int] = set()  # given up by the operator, and not back yet
        self._lost: dict[int, float] = {}  # gone by themselves, and when
        self._gone: dict[int, float] = {}  # the same, as long as they are not back
        self._was_there: dict[int, Group] = {}
        self._edited: dict[int, float] = {}  # groups that a user edited, and until when
        self._edited_since: dict[str, float] = {}  # the same by incarnation, and since when
        self._adopted: set[str] = set()  # entries that got another controller than they had
        self._step: Step | None = None  # partition, count, target
        self._free: set[str] = set()  # leaders that did not serve when they were released
        self._deleted: dict[str, bool] = {}  # leaders that the operator deleted, and if hurt
        names = {fault.name for fault in scene.scenario.faults}
        self._is_meddled = "scale-child" in names
        # Upstream's own rollout is known to give up more groups than the budget allows.
        self._keeps_budget = scene.scenario.strategy != COMPATIBLE

    def commit(self, commit: Commit) -> None:
        """Compare the groups that exist and serve with the promised numbers."""
        if commit.kind == self.simulated.kind:
            self._learn(commit)
        if not self._policies or commit.kind not in _WATCHED:
            return
        if commit.kind != kinds.POD:
            self._check_step(commit)
        if commit.kind == kinds.POD and commit.writer and is_taken(commit):
            self._check_deletion(commit)
        if commit.kind == kinds.POD and commit.old and commit.new:
            self._note_adoption(commit.old, commit.new)
        self._follow()
        self._check_counts()

    def _note_adoption(self, old: Object, new: Object) -> None:
        if controller_of(old) != controller_of(new):
            self._adopted.add(new["metadata"]["uid"])

    def _learn(self, commit: Commit) -> None:
        if commit.new is None:
            self._policies.clear()
            self._is_armed = False
            self._step = None
            return
        uid = commit.new["metadata"]["uid"]
        if uid != self._uid:
            self._uid = uid
            self._is_armed = False
            self._policies.clear()
            self._ours.clear()
        policy = self.simulated.read_policy(commit.new)
        if not self._policies or self._policies[-1][1] != policy:
            self._policies.append((self.scene.now(), policy))
            self._most = max(self._most, policy.most)

    def _recent(self) -> list[Policy]:
        """The policies of the workload that the operator may still take for the newest."""
        since = self.scene.now() - self.scene.patience
        while len(self._policies) > 1 and self._policies[1][0] < since:
            self._policies.popleft()
        return [policy for _, policy in self._policies]

    # Which groups the operator gave up, and which were lost without it.

    def _follow(self) -> None:
        groups = {group.ordinal: group for group in self.truth.groups()}
        ready = {ordinal for ordinal, group in groups.items() if group.is_ready}
        for ordinal in self._ready - ready:
            if self._is_given_up(self._was_there[ordinal]):
                self._ours.add(ordinal)
            else:
                self._lost[ordinal] = self._gone[ordinal] = self.scene.now()
        for ordinal in ready:
            self._ours.discard(ordinal)
            self._lost.pop(ordinal, None)
            self._gone.pop(ordinal, None)
        self._since = {o: self._since.get(o, self.scene.now()) for o in ready}
        for ordinal, group in (*self._was_there.items(), *groups.items()):
            if group.is_edited:
                self._edited[ordinal] = self.scene.now()
                self._edited_since.setdefault(group.uid, self.scene.now())
        self._ready, self._was_there = ready, groups
        policy = self._policies[-1][1]
        if all(ordinal in ready for ordinal in range(policy.wanted)):
            self._is_armed = True
            if not self._is_under_way(groups):
                self._lost = {o: at for o, at in self._lost.items() if o < policy.wanted}
            self._ours.clear()

    def _is_under_way(self, groups: dict[int, Group]) -> bool:
        """Whether serving groups will still go, as was decided before other groups were lost."""
        step = self._step
        released = step is not None and any(
            groups[ordinal].is_ready and is_released(groups[ordinal], step) for ordinal in groups
        )
        # A StatefulSet goes on with a group that was released to it. Where the operator deletes
        # groups itself, only losses that it has not seen excuse it.
        latest = max(self._lost.values(), default=0.0)
        return released and (self.scene.scenario.carrier != PODS or latest >= self._seen())

    def _seen(self) -> float:
        """The time up to which every process of the operator had seen all changes."""
        return min(map(self.truth.find_seen, self.truth.views), default=0.0)

    def _is_given_up(self, group: Group) -> bool:
        if group.uid in self._free:
            return False
        if group.uid in self._deleted:
            return not self._deleted[group.uid]
        step = self._step
        # Only the operator takes an edited group down; its containers start anew by themselves.
        if step is None or group.uid in self.truth.hurt or group.is_edited:
            return False
        partition, count, target = step
        return partition <= group.ordinal < count and group.revision != target

    def _check_counts(self) -> None:
        policy = self._policies[-1][1]
        groups = self.truth.groups()
        count = len(groups)
        # A group that is made anew is missing for a moment and comes back. Scaling down is not
        # over while a group exists that has to go.
        is_settled = self._step is None or self._step[1] <= policy.most
        is_settled &= all(group.ordinal < policy.most for group in groups)
        if count <= policy.most and is_settled:
            self._most = policy.most
        # Groups of an earlier, larger count may still be on their way.
        most = max([self._most, *(p.most for p in self._recent())])
        if count > most and not self._is_meddled:
            self.breach(f"A1: {count} groups exist, {most} are allowed")
        if not self._is_armed or not self._keeps_budget:
            return
        if len(self._ready) >= policy.fewest:
            self._promised = policy.fewest
        missing = {o for o in range(policy.wanted) if o not in self._ready}
        excused = len(missing - self._ours) + sum(o >= policy.wanted for o in self._lost)
        least = min(self._promised, *(p.fewest for p in self._recent()))
        if len(self._ready) < least - excused:
            text = f"{len(self._ready)} groups serve, {least} are promised, {excused} excused"
            self.breach(f"A2: {text}")

    # Decisions of the operator: steps of the carrier, and deletions.

    def _check_step(self, commit: Commit) -> None:
        before, self._step = (
            self._step,
            self.simulated.read_step(self.truth, self.scene.scenario.carrier),
        )
        after = self._step
        if not commit.writer or before is None or after is None or before == after:
            return
        partition, count, target = after
        # A group that has to go may stand for a while, but no other has to go because of that.
        most = max(p.most for p in self._recent())
        if count > max(before[1], most):
            self.breach(f"A1: {count} groups are asked for instead of {before[1]}, {most} allowed")
        if partition < before[0] and partition < min(p.partition for p in self._recent()):
            self.breach(f"A4: the partition goes down to {partition}, below the user's")
        highest = max(p.partition for p in self._recent())
        is_same = target == before[2] and not self.scene.scenario.may_roll_alike
        seen = self.truth.find_seen(commit.writer)
        # The operator may raise the partition to keep groups that a user edited while they served.
        edited = {ordinal for ordinal, at in self._edited.items() if at >= seen}
        edited |= {group.ordinal for group in self.truth.groups() if group.is_edited}
        # Old groups without an owner are found when they are adopted, after the first step.
        groups = self.truth.groups()
        old = [group for group in groups if group.revision != target]
        edited |= {g.ordinal for g in old if g.uid in self._adopted or not self._is_stored(g)}
        highest = max([highest, *(ordinal + 1 for ordinal in edited)])
        if is_same and partition > max(before[0], highest):
            self.breach(f"A4: the partition rises from {before[0]} to {partition}")
        given = {g.ordinal for g in groups if self._is_given(g, after, seen)}
        known = {g.ordinal for g in groups if self._is_given(g, before, seen)}
        new = given - known
        # A group that does not serve when it is released costs nothing of the budget.
        self._free |= {g.uid for g in groups if g.ordinal in new - self._known_ready(seen)}
        what = f"{before[:2]} to {after[:2]}"
        self._check_decision(given, new, what, seen)
        self._check_webhook({ordinal for ordinal in new if ordinal < count}, what, seen)

    def _is_stored(self, group: Group) -> bool:
        """Whether the revision of a group is stored; else its pods do not show their template."""
        if self.scene.scenario.carrier != PODS:
            return True  # the StatefulSet controller labels them
        stored = self.truth.objects[kinds.CONTROLLER_REVISION].values()
        return group.revision in map(self.simulated.labels.revision_of, stored)

    def _is_given(self, group: Group, step: Step, seen: float) -> bool:
        """Whether a step gives this group up, in the state that the operator had seen."""
        is_unseen = self._edited_since.get(group.uid, 0.0) >= seen
        revision = self.truth.marks.origin_of(group.leader) if is_unseen else group.revision
        return is_released(group, step, revision)

    def _check_deletion(self, commit: Commit) -> None:
        assert commit.old is not None
        uid = commit.old["metadata"]["uid"]
        group = next((g for g in self._was_there.values() if g.uid == uid), None)
        if group is None:
            return
        self._deleted[uid] = is_hurt = uid in self.truth.hurt
        seen = self.truth.find_seen(commit.writer)
        if self.scene.scenario.may_roll_alike and group.ordinal not in self._known_ready(seen):
            # Old and new have one revision, so we cannot know when the group was released.
            self._free.add(uid)
        policies = self._recent()
        step = self._step
        if is_hurt or group.ordinal not in self._ready:
            return
        if step is not None and is_released(group, step):
            # A StatefulSet deletes released groups; an operator that deletes them itself must
            # judge the budget again.
            is_own = self.scene.scenario.carrier == PODS or group.is_edited
            if is_own and group.ordinal < step[1]:
                self._check_own_deletion(group.ordinal, seen)
            return
        if group.ordinal < min(min(p.partition, p.wanted) for p in policies):
            self.breach(f"A4: group {group.ordinal} is below the partition and was deleted")
        if group.ordinal < min(p.wanted for p in policies):
            self._check_own_deletion(group.ordinal, seen)

    def _check_own_deletion(self, ordinal: int, seen: float) -> None:
        what = f"delete {ordinal}"
        self._check_decision({ordinal}, {ordinal}, what, seen)
        self._check_webhook({ordinal}, what, seen)

    def _check_decision(self, given: set[int], new: set[int], what: str, seen: float) -> None:
        """A3: enough groups serve without those given up; unseen losses count as serving."""
        serving = self._ready | {ordinal for ordinal, at in self._gone.items() if at >= seen}
        left = len(serving - given)
        least = min(p.fewest for p in self._recent())
        if self._keeps_budget and new & self._known_ready(seen) and left < least:
            self.breach(f"A3: {what} leaves {left} groups that serve, {least} are promised")

    def _check_webhook(self, new: set[int], what: str, seen: float) -> None:
        """
        Nothing that serves is given up while the server lets no set make it again.

        Where we make pods ourselves, no webhook is asked.
        """
        since = self.scene.silent_since()
        if since is None or self.scene.scenario.carrier == PODS:
            return
        if since > self.scene.now() - self.scene.patience:
            return
        if new & self._known_ready(seen):
            self.breach(
                f"A3: {what} gives groups up, and our webhook is silent since {since:.2f} s"
            )

    def _known_ready(self, seen: float) -> set[int]:
        """The groups that serve now, and did in the state that the operator had seen."""
        return {ordinal for ordinal in self._ready if self._since[ordinal] < seen}


def is_released(group: Group, step: Step, revision: str | None = None) -> bool:
    """Whether a step gives this group up, judged by its own revision or by a given one."""
    partition, count, target = step
    held = group.revision if revision is None else revision
    return group.ordinal >= count or (group.ordinal >= partition and held != target)


def is_taken(commit: Commit) -> bool:
    """Whether this write began the end of an object."""
    if commit.old is None or is_leaving(commit.old):
        return False
    return commit.new is None or is_leaving(commit.new)
