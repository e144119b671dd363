"""
A8, A9 and G9 for lines whose units the operator makes and deletes one by one.

Another unit may be given up only for units that have been ready for the seconds that the spec asks
for, and for units of a new template only after one of them has been ready for some seconds (A8). No
unit that serves is given up while one of the new template has failed and not lasted since (A9). A
unit that fails again is made anew no sooner than its backoff allows (G9). All are judged at the
first delete of a unit, by the state that the operator had seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.trust import (
    BLINDING,
    GRAIN_SECONDS,
    QUIET_SECONDS,
    TRIAL_SECONDS,
    backoff_seconds,
)
from kohort.simulation.checkers.truth import Commit, Group, is_ready, restarts_of
from kohort.simulation.simulated_api import LineView, Policy


@dataclass(slots=True)
class _Past:
    """How often a unit was made anew in a row because it had failed."""

    revision: str
    count: int
    at: float


@dataclass(slots=True)
class _Watched:
    """One line over time; units by their incarnation."""

    view: LineView
    policies: list[tuple[float, Policy]] = field(default_factory=list)
    made: dict[str, float] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)  # ready from then on
    lost: dict[str, tuple[float, float]] = field(default_factory=dict)  # ready from, until
    failed: dict[str, float] = field(default_factory=dict)  # when a container had started again
    past: dict[int, _Past] = field(default_factory=dict)  # by ordinal

    def find_since(self, uid: str, seen: float) -> float | None:
        """Since when a unit is ready, in the state that the operator had seen."""
        since, gone = self.lost.get(uid, (0.0, -1.0))
        return since if gone >= seen else self.since.get(uid)

    def list_lasted(self, until: float, seen: float) -> set[str]:
        """Units that are ready since a time; losses that the operator has not seen do not count."""
        lasted = {uid for uid, since in self.since.items() if since <= until}
        unseen = {u for u, (since, gone) in self.lost.items() if since <= until and gone >= seen}
        return lasted | unseen


class LineTrust(Checker):
    """The promises about units that are ready and do not last."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._is_blind = scene.scenario.has(*BLINDING)
        self._lines: dict[str, _Watched] = {}
        self._uid = ""
        self._wishes: list[tuple[float, Object]] = []
        self._disturbed: set[str] = set()  # pods of units that lost a member to others
        self._given: set[tuple[str, str]] = set()  # lines, and pods of units that were judged
        self._unwanted: set[str] = set()  # pods of units of which the operator wants no pod
        self._apart: dict[str, float] = {}  # pods that became ready while there was no workload

    def commit(self, commit: Commit) -> None:
        """Compare the units that the operator gives up with those that stayed ready."""
        if commit.kind == self.simulated.kind:
            self._learn(commit)
        elif commit.kind != kinds.POD:
            return
        if commit.kind == kinds.POD and is_taken(commit):
            self._judge(commit)
        if self.truth.workload is None:
            # Another workload of that name may adopt what serves then, and reads since when.
            if commit.kind == kinds.POD and commit.new is not None and _becomes_ready(commit):
                self._apart[commit.new["metadata"]["uid"]] = commit.at
            return
        views = {view.name: view for view in self.truth.lines()}
        for name, watched in self._lines.items():
            if name not in views:
                # A unit that is alone in its line is missing while it is made anew.
                self._follow(watched, replace(watched.view, units=()))
        for name, view in views.items():
            self._follow(self._lines.setdefault(name, _Watched(view)), view)
        self._apart.clear()

    def _learn(self, commit: Commit) -> None:
        uid = commit.new["metadata"]["uid"] if commit.new else ""
        if uid != self._uid:
            self._uid = uid
            self._wishes.clear()
            for watched in self._lines.values():
                watched.policies.clear()
                watched.past.clear()
        if commit.new is not None and (not self._wishes or _is_changed(commit)):
            self._wishes.append((commit.at, commit.new))

    def _follow(self, watched: _Watched, view: LineView) -> None:
        now, watched.view = self.scene.now(), view
        if not watched.policies or watched.policies[-1][1] != view.policy:
            watched.policies.append((now, view.policy))
        ready = {unit.uid: unit for unit in view.units if unit.is_ready}
        for unit in view.units:
            watched.made.setdefault(unit.uid, now)
            if any(map(restarts_of, unit.members)):
                watched.failed.setdefault(unit.uid, now)
        for uid in [uid for uid in watched.since if uid not in ready]:
            watched.lost[uid] = watched.since.pop(uid), now
        for uid, unit in ready.items():
            pods = (pod["metadata"]["uid"] for pod in unit.members)
            apart = [self._apart[pod] for pod in pods if pod in self._apart]
            if apart or uid not in watched.since:
                watched.since[uid] = max(apart, default=now)

    # Judging the deletion of a pod.

    def _judge(self, commit: Commit) -> None:
        """Hold the promises against the units that a deleted pod was a member of."""
        assert commit.old is not None
        units = list(self._units_of(commit.old))
        if not commit.writer:
            members = [pod for _, unit in units for pod in unit.members]
            self._disturbed |= {pod["metadata"]["uid"] for pod in members}
            return
        if self._is_blind or self.scene.scenario.may_roll_alike or not self._wishes:
            return
        seen = self.truth.find_seen(commit.writer)
        if any(at >= seen for at, _ in self._wishes[1:]):
            return  # the operator had seen another spec
        serving = {(v.name, u.uid) for v in self.truth.lines() for u in v.units if u.is_ready}
        unwanted = [u for w, u in units if self._is_surplus(w, u, seen) or self._is_old(u)]
        # The pod that was edited may go first, and the others of its unit all the same.
        self._unwanted |= {pod["metadata"]["uid"] for unit in unwanted for pod in unit.members}
        is_unwanted = commit.old["metadata"]["uid"] in self._unwanted
        # Instances go with their group, where it does.
        goes = any(not w.view.is_inner and self._is_surplus(w, u, seen) for w, u in units)
        units = [(w, u) for w, u in units if not (goes and w.view.is_inner)]
        for watched, unit in units:
            name = watched.view.name
            pods = {(name, pod["metadata"]["uid"]) for pod in unit.members}
            # A group serves on when one of its roles wants fewer instances.
            if self._given & pods or (name, unit.uid) in serving:
                continue
            if watched.view.rolls and watched.since.get(unit.uid, seen) < seen:
                self._given |= pods
                self._check_payment(watched, unit, seen)
            elif watched.view.recovers and not unit.is_ready and not is_unwanted:
                self._given |= pods
                self._check_backoff(watched, unit)

    def _units_of(self, pod: Object) -> Iterator[tuple[_Watched, Group]]:
        uid = pod["metadata"]["uid"]
        for watched in self._lines.values():
            for unit in watched.view.units:
                if any(each["metadata"]["uid"] == uid for each in unit.members):
                    yield watched, unit

    def _is_old(self, unit: Group) -> bool:
        return unit.is_edited or self.simulated.is_old(unit, self._wishes[-1][1]["spec"])

    def _is_surplus(self, watched: _Watched, unit: Group, seen: float) -> bool:
        wanted = min(policy.wanted for policy in _recent(watched.policies, seen))
        is_extra = watched.view.policy.surge > 0 and unit.ordinal >= wanted
        return is_extra or len(watched.view.units) > wanted

    def _check_payment(self, watched: _Watched, unit: Group, seen: float) -> None:
        """A8, A9: a unit that serves is given up."""
        least = min(policy.fewest for policy in _recent(watched.policies, seen))
        asked = self.simulated.find_min_ready(self._wishes[-1][1])
        until = self.scene.now() - asked + GRAIN_SECONDS
        lasted = watched.list_lasted(until, seen) - {unit.uid}
        name = f"{watched.view.name}: unit {unit.ordinal}"
        if asked and len(lasted) < least:
            text = f"{len(lasted)} have lasted for {asked} s and {least} are promised"
            self.breach(f"A8: {name} given up, {text}")
        if not self._is_old(unit) or self._is_surplus(watched, unit, seen):
            return
        new = [each for each in watched.view.units if each is not unit and not self._is_old(each)]
        untried = self._find_untried(watched, new, seen)
        if untried and len(lasted - untried) < least:
            self.breach(f"A8: {name} given up, and no unit of the new template has lasted")
        for each in new:
            for line, part in self._list_parts(each):
                if trouble := self._find_trouble(line, part, seen):
                    text = f"{line.view.name}: unit {part.ordinal} {trouble}"
                    self.breach(f"A9: {name} given up, but {text}")

    def _list_parts(self, unit: Group) -> Iterator[tuple[_Watched, Group]]:
        """The unit, or the instances in it, that the operator makes anew when a member fails."""
        uids = {pod["metadata"]["uid"] for pod in unit.members}
        for watched in self._lines.values():
            for part in watched.view.units if watched.view.recovers else ():
                if part.uid in uids:
                    yield watched, part

    def _find_untried(self, watched: _Watched, new: list[Group], seen: float) -> set[str]:
        """The units of a template of which the operator had seen none ready for long enough."""
        if not self.scene.has_true_times or any(unit.is_edited for unit in watched.view.units):
            return set()
        until = self.scene.now() - TRIAL_SECONDS + GRAIN_SECONDS
        since = (watched.find_since(unit.uid, seen) for unit in new)
        is_tried = any(at is not None and at <= until for at in since)
        return set() if is_tried else {unit.uid for unit in new}

    def _find_trouble(self, watched: _Watched, unit: Group, seen: float) -> str:
        """Why a unit of the new template is not trusted."""
        failed = watched.failed.get(unit.uid, seen)
        if not unit.is_ready and failed < seen:
            return "has failed"
        past = watched.past.get(unit.ordinal)
        if past is None or past.revision != unit.revision or past.at >= seen:
            return ""
        since = watched.find_since(unit.uid, seen)
        if since is None or watched.made[unit.uid] - past.at > QUIET_SECONDS:
            return ""
        if self.scene.now() - since + GRAIN_SECONDS < backoff_seconds(past.count + 1):
            return f"has not lasted since it failed {past.count} times"
        return ""

    def _check_backoff(self, watched: _Watched, unit: Group) -> None:
        """G9: a unit that failed by itself goes when its wait is over."""
        failed = watched.failed.get(unit.uid)
        uids = {pod["metadata"]["uid"] for pod in unit.members}
        if failed is None or uids & (self._disturbed | self.truth.marks.relabelled):
            return
        past = watched.past.get(unit.ordinal)
        if past is not None and past.revision != unit.revision:
            past = None
        count = 1
        if past is not None and failed - watched.made[unit.uid] < QUIET_SECONDS:
            count = past.count + 1
        watched.past[unit.ordinal] = _Past(unit.revision, count, self.scene.now())
        waited = self.scene.now() - failed + GRAIN_SECONDS
        if waited < backoff_seconds(count):
            text = f"{watched.view.name}: unit {unit.ordinal} was made anew"
            when = f"after {waited - GRAIN_SECONDS:.1f} s"
            self.breach(f"G9: {text} for the {count}. time in a row {when}")


def _becomes_ready(commit: Commit) -> bool:
    """Whether a pod serves now, and did not before."""
    was_ready = commit.old is not None and is_ready(commit.old)
    return commit.new is not None and is_ready(commit.new) and not was_ready


def _is_changed(commit: Commit) -> bool:
    """Whether a user asks for something else now."""
    assert commit.old is not None and commit.new is not None
    notes = annotations_of(commit.old) != annotations_of(commit.new)
    return notes or commit.old["spec"] != commit.new["spec"]


def _recent(policies: list[tuple[float, Policy]], seen: float) -> list[Policy]:
    """The policies of a line that the operator may still take for the newest."""
    later = [policy for at, policy in policies[1:] if at >= seen]
    first = [policy for at, policy in policies if at < seen][-1:] or [policies[0][1]]
    return [*first, *later]
