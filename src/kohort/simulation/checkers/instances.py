"""
G1, G2, G3, G6, G7, G9, A5: instances of roles live and die as one; none goes without a reason.

The operator may delete a pod for these reasons: its group or its instance does not match the spec,
there are too many, or a member failed and the policy restarts the instance or the whole group.
Changes that the operator cannot have seen yet are not held against it. Units that another
controller makes and takes down are that controller's.
"""

from collections.abc import Iterator

from kohort.cluster import kinds
from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.budget import is_taken
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group, controller_of, has_ended, restarts_of
from kohort.simulation.scenario import BAD_IMAGE
from kohort.simulation.simulated_api import LineView, Policy

GRAIN_SECONDS = 1.0  # timestamps of pods have whole seconds
BACKOFF_SECONDS_MAX = 8.0  # that simulations ask for


class Instances(Checker):
    """The promises about instances and their members."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._remembers = scene.has_one_process
        self._views: list[LineView] = []
        self._wishes: list[tuple[float, Object]] = []  # specs, and until when they held
        self._policies: list[tuple[float, str, Policy]] = []  # the same for each line
        self._since: dict[tuple[str, str], float] = {}  # units that serve, and from when on
        self._hurt: set[str] = set()  # pods of units in which a member failed
        self._crashed: dict[str, float] = {}  # pods of units in which a container failed, and when
        self._served: set[str] = set()  # pods of units that served at some time
        self._due: dict[str, float] = {}  # those of them in which a container crashed, and when
        self._lost: set[str] = set()  # pods of units that lost a member to others
        self._given: set[str] = set()  # pods of units that were given up for a reason
        # Units that were given up for being old, each line and uid, and when.
        self._replaced: dict[tuple[str, str], float] = {}

    def commit(self, commit: Commit) -> None:
        """Check the revisions, the restarts and the deletion of instances that a write concerns."""
        if commit.kind == self.simulated.kind and commit.old is not None:
            self._wishes.append((commit.at, commit.old["spec"]))
            self._policies += [(commit.at, view.name, view.policy) for view in self._views]
        unit_kinds = (kinds.POD, *self.simulated.unit_kinds)
        if commit.kind == kinds.POD:
            self._note_failure(commit)
        if commit.kind in unit_kinds and commit.writer and is_taken(commit):
            self._check_deletion(commit)
        if commit.kind in (self.simulated.kind, *unit_kinds):
            self._views = [view for view in self.truth.lines() if view.carried is None]
            self._check_units(commit.at)

    def _units_of(self, pod: Object) -> Iterator[tuple[LineView, Group]]:
        """The units that a pod was a member of: an instance, and a group."""
        uid = pod["metadata"]["uid"]
        for view in self._views:
            for unit in view.units:
                held = (unit.leader, *unit.workers)
                if uid == unit.uid or any(each["metadata"]["uid"] == uid for each in held):
                    yield view, unit

    def _note_failure(self, commit: Commit) -> None:
        """A member that is leaving, gone, ended or restarted has failed its unit."""
        old, new = commit.old, commit.new
        if old is None or is_leaving(old):
            return
        is_lost = new is None or is_leaving(new)
        if is_lost and self._is_of_another(old):
            return
        has_failed = new is not None and (restarts_of(new) > restarts_of(old) or has_ended(new))
        if has_failed and old["metadata"]["uid"] in self._served:
            self._due[old["metadata"]["uid"]] = commit.at
        for view, unit in self._units_of(old) if is_lost or has_failed else ():
            if view.recovers:
                members = {pod["metadata"]["uid"] for pod in unit.members}
                self._hurt |= members
                is_others = is_lost and not commit.writer and not view.spares_lost
                self._lost |= members if is_others else set()
                for uid in members if not is_lost else ():
                    self._crashed.setdefault(uid, commit.at)

    def _is_of_another(self, pod: Object) -> bool:
        """Whether a pod was made for an object of this name that had gone before it came."""
        workload, owner = self.truth.workload, controller_of(pod)
        return workload is not None and bool(owner) and owner not in self._owners(workload)

    def _check_units(self, now: float) -> None:
        since: dict[tuple[str, str], float] = {}
        for view in self._views:
            for unit in view.units:
                key = view.name, unit.uid
                if unit.is_ready:
                    since[key] = self._since.get(key, now)
                    self._served |= {pod["metadata"]["uid"] for pod in unit.members}
                if view.is_uniform and len(unit.revisions) > 1:
                    self.breach(f"G1: {view.name}: unit {unit.ordinal} has two revisions")
                self._check_places(unit)
        self._since = since

    def _check_places(self, unit: Group) -> None:
        moved = self.truth.marks.moved
        for pod in unit.members:
            if pod["metadata"]["uid"] not in moved and not self.simulated.is_in_place(pod):
                self.breach(f"G6: labels of {pod['metadata']['name']} name another place")

    def _check_deletion(self, commit: Commit) -> None:
        """G3, G7: no instance goes without a reason."""
        assert commit.old is not None
        workload, units = self.truth.workload, list(self._units_of(commit.old))
        if workload is None or is_leaving(workload) or not units or has_ended(commit.old):
            return
        if controller_of(commit.old) not in self._owners(workload):
            return
        seen = self.truth.find_seen(commit.writer)
        specs = [workload["spec"], *(spec for until, spec in self._wishes if until >= seen)]
        # A unit that is old or surplus may go, however recently it crashed.
        whole = [u for view, u in units if self._is_unwanted(view, u, specs, seen)]
        for view, unit in units:
            if self._is_old(view, unit, specs):
                self._replaced.setdefault((view.name, unit.uid), commit.at)
        whole = whole or [u for view, u in units if self._is_recovered(view, u, seen)]
        self._given |= {pod["metadata"]["uid"] for unit in whole for pod in unit.members}
        if not whole and commit.old["metadata"]["uid"] not in self._given:
            where = ", ".join(f"{view.name}: unit {unit.ordinal}" for view, unit in units)
            promise = "G7" if self._has_hurt_other(units) else "G3"
            promise = "A5" if self._has_gone_back(units) else promise
            self.breach(f"{promise}: {commit.name} was deleted without a reason ({where})")

    def _has_gone_back(self, units: list[tuple[LineView, Group]]) -> bool:
        """Whether the user has gone back from a template that never served to that of a unit."""
        bad = [spec for _, spec in self._wishes if BAD_IMAGE in str(spec)]
        return bool(bad) and any(unit.is_ready for _, unit in units)

    def _owners(self, workload: Object) -> set[str]:
        """The uids of the objects that own pods and units of the workload."""
        parts = [*self.simulated.children] if self.simulated.unit_kinds else []
        held = [workload, *(o for kind in parts for o in self.truth.objects[kind].values())]
        return {obj["metadata"]["uid"] for obj in held}

    def _has_hurt_other(self, units: list[tuple[LineView, Group]]) -> bool:
        """Whether another instance failed whose restart takes none of these pods along."""
        own = {unit.uid for _, unit in units}
        others = [u for view in self._views if view.is_inner and view.recovers for u in view.units]
        return any(
            pod["metadata"]["uid"] in self._hurt
            for unit in others
            if unit.uid not in own
            for pod in unit.members
        )

    def _is_recovered(self, view: LineView, unit: Group, seen: float) -> bool:
        is_serving = self._since.get((view.name, unit.uid), seen) < seen
        is_hurt = any(pod["metadata"]["uid"] in self._hurt for pod in unit.members)
        if not view.recovers or not is_hurt or (is_serving and not self._is_due(unit)):
            return False
        self._check_grace(view, unit)
        return True

    def _is_due(self, unit: Group) -> bool:
        """Whether a crash after it served leads to a restart later, though it serves again."""
        since = self.scene.now() - BACKOFF_SECONDS_MAX - self.scene.patience_with_parts
        return any(self._due.get(pod["metadata"]["uid"], since) > since for pod in unit.members)

    def _is_unwanted(self, view: LineView, unit: Group, specs: list[Object], seen: float) -> bool:
        policies = [p for until, name, p in self._policies if until >= seen and name == view.name]
        wanted = min(policy.wanted for policy in (view.policy, *policies))
        # An extra unit stands in for others, and goes when it is not needed; and where ordinals
        # are addresses, one beyond the count is not needed however many there are.
        may_be_extra = view.policy.surge > 0 or not self.simulated.is_sparse
        is_extra = may_be_extra and unit.ordinal >= wanted and not view.is_stateless
        # One plan may replace a unit and scale another away: what is replaced comes back.
        standing = {(view.name, held.uid) for held in view.units}
        coming = {key for key, at in self._replaced.items() if key[0] == view.name and at >= seen}
        is_extra = is_extra or len(standing | coming) > wanted
        return unit.is_edited or is_extra or self._is_old(view, unit, specs)

    def _is_old(self, view: LineView, unit: Group, specs: list[Object]) -> bool:
        if not view.rolls:
            return False
        return self.is_forgotten(unit) or any(self.simulated.is_old(unit, s) for s in specs)

    def _check_grace(self, view: LineView, unit: Group) -> None:
        """G9: a member that crashed gets its grace period, unless another member was lost."""
        uids = {pod["metadata"]["uid"] for pod in unit.members}
        crashed = [self._crashed[uid] for uid in uids if uid in self._crashed]
        if not crashed or uids & (self._lost | self._given) or len(uids) < unit.size:
            return
        waited = self.scene.now() - min(crashed) + GRAIN_SECONDS
        if waited < self.scene.scenario.grace and not self.scene.scenario.has("clock-jump"):
            text = f"{view.name}: unit {unit.ordinal} was made anew before its grace was over"
            self.breach(f"G9: {text}, after {waited - GRAIN_SECONDS:.1f} s")

    def end(self) -> None:
        """G2: no unit keeps running after it lost a member, unless its policy says so."""
        for name, pod in self.truth.objects[kinds.POD].items():
            if self._remembers and pod["metadata"]["uid"] in self._lost:
                self.breach(f"G2: {name} lives on after a member of its unit was lost")
