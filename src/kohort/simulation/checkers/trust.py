"""
A8, A9 and G9: ready for a moment is not ready, and a group that fails again waits longer.

Another group may be given up only for groups that have been ready for the seconds that the spec
asks for, and for groups of a new revision only after one of them has been ready for some seconds
(A8). No serving group is given up while a group of the new revision has failed and not lasted since
(A9). A group that fails again is recreated no sooner than its backoff allows (G9). All by the clock
of the run: timestamps of pods have whole seconds, so one second is forgiven.
"""

from dataclasses import dataclass

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.budget import is_released, is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, image_of, is_ready, restarts_of
from kohort.simulation.scenario import COMPATIBLE, FOREIGN_IMAGE, KEEP, RECREATE
from kohort.simulation.simulated_api import Step

GRAIN_SECONDS = 1.0
QUIET_SECONDS = 600.0
TRIAL_SECONDS = 3.0  # at least, before a revision is trusted for the first time
# Faults that remove the records of failures, rename revisions, or set the operator's clock.
BLINDING = ("clock-jump", "delete-child", "recreate", "upgrade", "strip-label")


def backoff_seconds(count: int) -> float:
    """How long a group waits after its n-th failure in a row."""
    return 0.0 if count <= 1 else min(10.0 * 2.0 ** (count - 2), 300.0)


@dataclass(slots=True)
class _Past:
    """How often a group was recreated in a row because it had failed."""

    revision: str
    count: int
    at: float


class Lasting(Checker):
    """The promises about groups that are ready and do not last."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._is_blind = scene.scenario.has(*BLINDING)
        self._step: Step | None = None
        self._before: dict[str, Group] = {}
        self._made: dict[str, float] = {}  # by incarnation, as all that follows
        self._since: dict[str, float] = {}  # ready from then on
        self._failed: dict[str, float] = {}  # when a container had started again
        self._disturbed: set[str] = set()  # a member was deleted: not the engine's fault
        self._lost: dict[str, tuple[float, float]] = {}  # ready from then until then
        self._moved: dict[str, tuple[float, str]] = {}  # since when ready, and whose labels changed
        self._past: dict[int, _Past] = {}
        self._wishes: list[tuple[float, Object]] = []

    def commit(self, commit: Commit) -> None:
        """Compare the groups that the operator gives up with those that stayed ready."""
        if commit.kind == self.simulated.kind and commit.new is not None:
            self._wishes.append((commit.at, commit.new))
        if commit.kind == kinds.POD:
            if commit.writer and is_taken(commit):
                self._check_recreation(commit)
            self._follow(commit)
        elif commit.kind in (kinds.STATEFUL_SET, kinds.CONTROLLER_REVISION):
            self._check_step(commit)

    def _follow(self, commit: Commit) -> None:
        old, new = commit.old, commit.new
        for group in self._before.values():
            is_worker = any(pod is old for pod in group.workers)
            if is_worker and (new is None or is_leaving(new)):
                self._disturbed.add(group.uid)
        groups = {group.uid: group for group in self.truth.groups()}
        for uid, group in groups.items():
            self._made.setdefault(uid, commit.at)
            if any(restarts_of(pod) for pod in (group.leader, *group.workers)):
                self._failed.setdefault(uid, commit.at)
            if group.is_ready:
                since, _ = self._moved.pop(uid, (commit.at, ""))
                self._since.setdefault(uid, since)
        for uid in [uid for uid in self._since if uid not in groups or not groups[uid].is_ready]:
            self._lost[uid] = self._since.pop(uid), commit.at
            if new is not None and new["metadata"]["uid"] in self.truth.marks.moved:
                self._moved[uid] = self._lost[uid][0], commit.name
        self._moved = {u: m for u, m in self._moved.items() if self._serves(groups.get(u), m[1])}
        self._before = groups

    def _serves(self, group: Group | None, name: str) -> bool:
        """Whether all pods of a group are ready, the one too whose labels name another place."""
        pod = self.truth.objects[kinds.POD].get(name)
        return group is not None and all(
            p is not None and is_ready(p) for p in (*group.members, pod)
        )

    def _check_recreation(self, commit: Commit) -> None:
        """G9: a group that failed by itself is deleted when its wait is over."""
        assert commit.old is not None
        group = self._before.get(commit.old["metadata"]["uid"])
        if group is None or group.uid not in self._failed or self.scene.scenario.restart == KEEP:
            return
        past = self._past.get(group.ordinal)
        if past is not None and past.revision != group.revision:
            # Of each group the newest failure is remembered, of whichever revision it was.
            past = None
            del self._past[group.ordinal]
        # An edited group is replaced because of the edit, as the budget allows; and so is a group
        # that a StatefulSet made from a template which another client had edited.
        is_foreign = group.is_edited or image_of(group.leader) == FOREIGN_IMAGE
        if self._step is None or is_released(group, self._step) or is_foreign:
            return
        if group.revision != self._step[2] and self.simulated.has_gone_back(
            self.truth, self.scene.scenario.carrier
        ):
            return
        lived = self._failed[group.uid] - self._made[group.uid]
        count = 1
        if past is not None and lived < QUIET_SECONDS:
            count = past.count + 1
        self._past[group.ordinal] = _Past(group.revision, count, commit.at)
        waited = commit.at - self._failed[group.uid] + GRAIN_SECONDS
        if waited < backoff_seconds(count) and not self._is_excused(group):
            text = f"group {group.ordinal} was recreated for the {count}. time in a row"
            self.breach(f"G9: {text} after {waited - GRAIN_SECONDS:.1f} s")

    def _is_excused(self, group: Group) -> bool:
        # Failures are recorded by revision, and the operator reads a group's revision from a label.
        relabelled = self.truth.marks.relabelled
        if any(pod["metadata"]["uid"] in relabelled for pod in group.members):
            return True
        wanted = min(self.simulated.read_policy(wish).wanted for wish in self._recent(0.0))
        return self._is_blind or group.uid in self._disturbed or group.ordinal >= wanted

    def _check_step(self, commit: Commit) -> None:
        before, self._step = (
            self._step,
            self.simulated.read_step(self.truth, self.scene.scenario.carrier),
        )
        after, writer = self._step, commit.writer
        if not writer or before is None or after is None or before[2] != after[2]:
            return
        if self._is_blind or self.scene.scenario.may_roll_alike or before == after:
            return
        groups, seen = self.truth.groups(), self.truth.find_seen(writer)
        given = {g.uid for g in groups if is_released(g, after)}
        known = {uid for uid, since in self._since.items() if since < seen}
        new = [g for g in groups if g.uid in given & known and not is_released(g, before)]
        if new:
            self._check_availability(given, new, after[2], seen)
            self._check_hold(groups, new, after, seen)

    def _check_availability(
        self, given: set[str], new: list[Group], target: str, seen: float
    ) -> None:
        if self.scene.scenario.strategy == COMPATIBLE:
            return
        recent = self._recent(seen)
        asked = min(self.simulated.find_min_ready(wish) for wish in recent)
        # The operator's clock runs on, however late its watches are.
        until = self.scene.now() - asked + GRAIN_SECONDS
        lasted = {uid for uid, since in self._since.items() if since <= until}
        # Groups whose loss the operator had not seen yet counted as ready.
        lasted |= {u for u, (since, gone) in self._lost.items() if since <= until and gone >= seen}
        least = min(self.simulated.read_policy(wish).fewest for wish in recent)
        if asked and len(lasted - given) < least:
            text = f"{[g.ordinal for g in new]} given up, {len(lasted - given)} have lasted"
            self.breach(f"A8: groups {text} for {asked} s and {least} are promised")
        untried = self._find_untried(target)
        stale = [
            g.ordinal
            for g in new
            if g.ordinal < min(self.simulated.read_policy(w).wanted for w in recent)
        ]
        if untried and stale and len(lasted - given - untried) < least:
            self.breach(f"A8: groups {stale} given up, and no group of {target} has lasted")

    def _find_untried(self, target: str) -> set[str]:
        """The groups of a revision of which none has been ready for long enough."""
        if not self.scene.has_true_times:
            return set()
        until = self.scene.now() - TRIAL_SECONDS + GRAIN_SECONDS
        found = {g.uid for g in self._before.values() if g.revision == target}
        is_tried = any(self._since.get(uid, until + 1) <= until for uid in found)
        return set() if is_tried else found

    def _check_hold(self, groups: list[Group], new: list[Group], step: Step, seen: float) -> None:
        if self.scene.scenario.restart != RECREATE:
            return
        surplus = min(self.simulated.read_policy(wish).most for wish in self._recent(seen))
        for group in groups:
            if group.revision != step[2] or group.ordinal >= step[1]:
                continue
            trouble = self._find_reason(group, seen)
            # Groups that the user wants no more go whatever happens.
            stale = [g.ordinal for g in new if g.ordinal < surplus]
            if trouble and stale:
                self.breach(f"A9: groups {stale} given up, but group {group.ordinal} {trouble}")

    def _find_reason(self, group: Group, seen: float) -> str:
        if self._failed.get(group.uid, seen) < seen:
            return "has failed"
        past = self._past.get(group.ordinal)
        if past is None or past.revision != group.revision or past.at >= seen:
            return ""
        since, trust = self._find_since(group.uid, seen), backoff_seconds(past.count + 1)
        if self._made[group.uid] - past.at > QUIET_SECONDS:
            return ""
        if since is not None and self.scene.now() - since + GRAIN_SECONDS < trust:
            return f"has not lasted since it failed {past.count} times"
        return ""

    def _find_since(self, uid: str, seen: float) -> float | None:
        """Since when a group is ready, in the state that the operator had seen."""
        since, gone = self._lost.get(uid, (0.0, -1.0))
        return since if gone >= seen else self._since.get(uid)

    def _recent(self, seen: float) -> list[Object]:
        """The specs that the operator may still take for the newest."""
        later = [wish for at, wish in self._wishes[1:] if at >= seen]
        first = [wish for at, wish in self._wishes if at < seen][-1:] or [self._wishes[0][1]]
        return [*first, *later]
