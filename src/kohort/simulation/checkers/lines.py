"""
A1 to A4 and A6 for lines whose units the operator makes and deletes one by one.

A line is the groups of a workload, or the instances of one role in one group. No object records how
far a rollout has come, so each deletion is a decision of its own: it is judged by the state that
the operator had seen at that moment. Where another controller makes and takes down the units of a
line, their number is that controller's promise, and is not judged here.
"""

from collections import deque
from dataclasses import dataclass, field

from kohort.cluster import kinds
from kohort.cluster.objects import annotations_of
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, has_crashed, restarts_of
from kohort.simulation.simulated_api import LineView, Policy

COST = "controller.kubernetes.io/pod-deletion-cost"


@dataclass(slots=True)
class _Watched:
    """One line over time."""

    view: LineView
    policies: deque[tuple[float, Policy]] = field(default_factory=deque)
    most: int = 0
    promised: int = 0  # units that must serve; raised when more of them serve
    since: dict[str, float] = field(default_factory=dict)  # units that serve, and from when on
    lost: dict[int, float] = field(default_factory=dict)  # gone by themselves, and when
    unknown: set[int] = field(default_factory=set)  # given up before they were seen to serve
    doomed: deque[tuple[float, int, tuple[str, ...]]] = field(default_factory=deque)

    @property
    def ready(self) -> dict[int, Group]:
        """The units that serve."""
        return {unit.ordinal: unit for unit in self.view.units if unit.is_ready}


class LineBudget(Checker):
    """The promises about the number of units of each line."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._lines: dict[str, _Watched] = {}
        self._away: dict[str, deque[tuple[float, Policy]]] = {}  # policies of lines without a view
        self._uid = ""
        self._is_group_surplus = False  # instances go with their group then
        self._served: set[str] = set()  # pods of units that served at some time
        self._due: set[str] = set()  # those of them in which a container crashed since

    def commit(self, commit: Commit) -> None:
        """Compare the units of each line with the promised numbers."""
        if commit.kind == self.simulated.kind:
            self._learn(commit)
        elif commit.kind != kinds.POD and commit.kind not in self.simulated.unit_kinds:
            return
        self._note_crash(commit)
        self._is_group_surplus = any(
            len(watched.view.units) > min(policy.wanted for _, policy in watched.policies)
            for watched in self._lines.values()
            if not watched.view.is_inner
        )
        views = {view.name: view for view in self.truth.lines() if view.carried is None}
        for name in [name for name in self._lines if name not in views]:
            # A group of which nothing is left has no lines, and comes back by an older spec.
            self._away[name] = self._lines.pop(name).policies
        for name, view in views.items():
            if name not in self._lines:
                self._lines[name] = _Watched(view, self._away.pop(name, deque()))
            watched = self._lines[name]
            self._follow_policy(watched, view)
            self._follow(watched, view, commit)
            self._check_counts(watched)
            self._check_victims(watched)

    def _learn(self, commit: Commit) -> None:
        uid = commit.new["metadata"]["uid"] if commit.new else ""
        if uid != self._uid:
            self._uid = uid
            self._lines.clear()
            self._away.clear()

    def _note_crash(self, commit: Commit) -> None:
        """A crash from which a unit recovers before it serves has no consequence."""
        old, new = commit.old, commit.new
        if commit.kind == kinds.POD and old is not None and new is not None:
            uid = new["metadata"]["uid"]
            if uid in self._served and restarts_of(new) > restarts_of(old) and has_crashed(new):
                self._due.add(uid)

    def _is_to_restart(self, view: LineView, unit: Group) -> bool:
        """Whether a unit has to restart since a container crashed; all its pods may be ready."""
        return view.recovers and any(pod["metadata"]["uid"] in self._due for pod in unit.members)

    def _follow_policy(self, watched: _Watched, view: LineView) -> None:
        policies = watched.policies
        if not policies:
            # What another object of that name left is taken over, and goes if it is too much.
            watched.most = len(view.units)
        if not policies or policies[-1][1] != view.policy:
            policies.append((self.scene.now(), view.policy))
            watched.most = max(watched.most, view.policy.most)
            watched.doomed.clear()
        since = self.scene.now() - self.scene.patience
        while len(policies) > 1 and policies[1][0] < since:
            policies.popleft()

    def _follow(self, watched: _Watched, view: LineView, commit: Commit) -> None:
        """Note which units stopped serving, and whether the operator gave them up."""
        before, watched.view = watched.view, view
        was_ready = {unit.ordinal: unit for unit in before.units if unit.is_ready}
        ready, now = watched.ready, self.scene.now()
        for ordinal, unit in was_ready.items():
            if ordinal in ready and ready[ordinal].uid == unit.uid:
                continue
            is_ours = bool(commit.writer) and self._is_decided(unit, commit)
            is_with_group = view.is_inner and self._is_group_surplus
            if not is_ours or is_with_group or self._is_to_restart(before, unit):
                watched.lost[ordinal] = now
            elif self._is_known(watched, unit, commit):
                self._check_decision(watched, before, unit, commit)
            else:
                watched.unknown.add(ordinal)
        self._served |= {pod["metadata"]["uid"] for u in ready.values() for pod in u.members}
        for ordinal in ready:
            watched.lost.pop(ordinal, None)
            watched.unknown.discard(ordinal)
        watched.since = {unit.uid: watched.since.get(unit.uid, now) for unit in ready.values()}
        if len(ready) >= view.policy.wanted:
            watched.lost.clear()
            watched.unknown.clear()

    def _is_known(self, watched: _Watched, unit: Group, commit: Commit) -> bool:
        """Whether the process that gave a unit up had seen that it serves."""
        seen = self.truth.find_seen(commit.writer)
        return watched.since.get(unit.uid, seen) < seen

    def _is_decided(self, unit: Group, commit: Commit) -> bool:
        """Whether this write is what made a unit stop serving."""
        if self.simulated.unit_kinds:
            # A write to a readiness gate or to the object of a unit can end its service as well.
            return commit.kind != self.simulated.kind
        return is_taken(commit) and _has(unit, commit)

    def _check_decision(
        self, watched: _Watched, before: LineView, unit: Group, commit: Commit
    ) -> None:
        """A3, A4: judge what a deletion leaves by the state that the operator had seen."""
        seen = self.truth.find_seen(commit.writer)
        policies = [policy for _, policy in watched.policies]
        wanted = min(policy.wanted for policy in policies)
        if self._is_leaving():
            return
        unseen = sum(at >= seen for at in watched.lost.values())
        left = len(watched.ready) + unseen
        least = min(policy.fewest for policy in policies)
        name = f"{before.name}: unit {unit.ordinal}"
        if before.rolls and left < least:
            self.breach(f"A3: {name} given up leaves {left} that serve, {least} are promised")
        is_surplus = len(before.units) > wanted
        partition = min(p.partition for p in policies)
        if before.rolls and not is_surplus and self._is_held(before, unit, partition):
            self.breach(f"A4: {name} is below the partition and was deleted")
        is_extra = before.policy.surge > 0 and unit.ordinal >= wanted
        is_replaced = unit.is_edited or self._is_old(unit)
        if is_surplus and not is_extra and not is_replaced:
            self._doom(watched, before, unit, seen)

    def _is_held(self, before: LineView, unit: Group, partition: int) -> bool:
        """Whether the partition keeps a unit as it is."""
        if not before.is_stateless:
            return _places_of(before).index(unit.ordinal) < partition
        # The partition keeps a number of old units, whichever they are.
        old = sum(self._is_old(each) for each in before.units)
        return self._is_old(unit) and not unit.is_edited and old <= partition

    def _is_leaving(self) -> bool:
        workload = self.truth.workload
        return workload is None or "deletionTimestamp" in workload["metadata"]

    def _is_old(self, unit: Group) -> bool:
        workload = self.truth.workload
        return workload is None or self.simulated.is_old(unit, workload["spec"])

    # A6: which unit goes first.

    def _doom(self, watched: _Watched, before: LineView, unit: Group, seen: float) -> None:
        """Note the units that should go before this one, by what the operator had seen."""
        if max(policy.partition for _, policy in watched.policies):
            return
        others = [each for each in before.units if each is not unit]
        if before.is_stateless:
            # Timestamps have whole seconds, so of two units that serve neither may be the newer.
            others = [each for each in others if not each.is_ready]
        cost = _cost_of(unit)
        if not self.simulated.is_sparse and not before.is_stateless:
            others = [each for each in others if each.ordinal > unit.ordinal]
        first = [
            each.uid
            for each in others
            if watched.since.get(each.uid, 0.0) < seen
            and (not each.is_ready or (_cost_of(each), -each.ordinal) < (cost, -unit.ordinal))
            and not self._is_old(each)
        ]
        # Readiness may have changed unseen, so they are judged only after the operator's patience,
        # and a process that was killed leaves the rest to the next one.
        watched.doomed.append((self.scene.now(), unit.ordinal, tuple(first)))

    def _check_victims(self, watched: _Watched) -> None:
        until = self.scene.now() - self.scene.patience_with_parts - self.scene.absence
        held = {unit.uid: unit for unit in watched.view.units}
        while watched.doomed and watched.doomed[0][0] < until:
            _, ordinal, first = watched.doomed.popleft()
            left = [held[uid].ordinal for uid in first if uid in held]
            if left and len(watched.view.units) <= watched.view.policy.wanted:
                name = watched.view.name
                self.breach(f"A6: {name}: unit {ordinal} was given up, and {left} stayed")

    # How many there are.

    def _check_counts(self, watched: _Watched) -> None:
        policy, count = watched.view.policy, len(watched.view.units)
        if count <= policy.most:
            watched.most = policy.most
        most = max(watched.most, *(p.most for _, p in watched.policies))
        name = watched.view.name
        if count > most:
            self.breach(f"A1: {name}: {count} exist, {most} are allowed")
        if not watched.view.rolls:
            return
        ready = len(watched.ready)
        if ready >= policy.fewest:
            watched.promised = policy.fewest
        least = min(watched.promised, *(p.fewest for _, p in watched.policies))
        excused = len(watched.lost.keys() | watched.unknown)
        if ready < least - excused:
            text = f"{ready} serve, {least} are promised, {excused} excused"
            self.breach(f"A2: {name}: {text}")


def _has(unit: Group, commit: Commit) -> bool:
    """Whether a pod that was deleted is a member of a unit."""
    assert commit.old is not None
    uid = commit.old["metadata"]["uid"]
    return any(pod["metadata"]["uid"] == uid for pod in unit.members)


def _cost_of(unit: Group) -> int:
    return sum(int(annotations_of(pod).get(COST, "0")) for pod in unit.members)


def _places_of(view: LineView) -> list[int]:
    """The ordinals of a line, with the lowest free ones for what is missing."""
    missing = view.policy.wanted - len(view.ordinals)
    free = [o for o in range(view.policy.wanted) if o not in view.ordinals]
    return sorted({*view.ordinals, *free[: max(0, missing)]})
