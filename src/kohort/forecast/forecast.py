"""
The forecast: plan, apply the plan to a model cluster, plan again, until nothing is left to do.

The planner decides every step; nothing here knows a rule of rollouts. The model cluster is ideal:
pods find nodes, become ready after the time that a start takes, and do not fail. What is broken now
stays broken until it is made anew, so a forecast says where a rollout would stop.

Time passes in the model only, and termination takes none of it, since it is short beside a start.
Where a plan asks for another one later (a trial of a new revision, minReadySeconds, a backoff), the
forecast makes that plan at that time.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kohort.forecast.ideal_cluster import IdealCluster
from kohort.forecast.values import Amount, Counts, Ending, Forecast, ForecastStep, UnitMove
from kohort.model.observed import Group, Observed, RoleInstances
from kohort.model.plans import Plan
from kohort.model.units import Phase, Reach
from kohort.model.workload import Workload
from kohort.planning.plan import plan

STEPS_MAX = 1_000
PASSES_MAX = 20_000
# GPUs of one unit by role and revision; an empty revision stands for all that are not named.
Gpus = Mapping[tuple[str, str], int]
START_SECONDS = 60.0  # where no start was measured; the caller does not show it


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions of a forecast: how long starts take, and which units never become ready."""

    start_seconds: float = START_SECONDS  # from the creation of a unit until it is ready
    stuck: frozenset[str] = frozenset()  # incarnations that do not become ready by themselves
    gpus: Gpus = field(default_factory=dict)
    # How many units never become ready, of roles that another controller carries.
    stuck_units: Mapping[str, int] = field(default_factory=dict)
    is_deleted: bool = False  # the user has deleted the workload: the operator takes no step
    steps_max: int = STEPS_MAX


USUAL = Assumptions()


def forecast(
    workload: Workload, observed: Observed, now: float, assumptions: Assumptions = USUAL
) -> Forecast:
    """What the operator will do about a workload until it is at rest, if nothing fails."""
    base = _find_base(workload, observed)
    seconds = max(assumptions.start_seconds, 0.001)
    cluster = IdealCluster(
        workload,
        observed,
        seconds,
        base,
        assumptions.stuck,
        stuck_units=assumptions.stuck_units,
    )
    course = _Course(cluster, now, assumptions)
    return course.summarise(Ending.DELETED if assumptions.is_deleted else course.run())


def _find_base(workload: Workload, observed: Observed) -> str:
    """The revision from which a StatefulSet makes groups below its partition."""
    progress = observed.progress
    if progress is None or workload.reach is Reach.ANY:
        return ""
    if progress.base or progress.is_base:
        return progress.base or progress.target
    below = [g.revision for g in observed.groups if g.revision not in ("", progress.target)]
    return Counter(below).most_common(1)[0][0] if below else progress.target


@dataclass(slots=True)
class _Record:
    """The step in progress."""

    begins: float
    moves: list[UnitMove] = field(default_factory=list)
    least: dict[str, int] = field(default_factory=dict)
    amount: Amount = field(default_factory=Amount)


class _Course:
    """The state of a forecast between its steps."""

    def __init__(self, cluster: IdealCluster, now: float, assumptions: Assumptions) -> None:
        self._start = self._cluster = cluster
        self._gpus = assumptions.gpus
        self._begun = self._now = now
        self._steps_max = assumptions.steps_max
        self._steps: list[ForecastStep] = []
        self._least = count_ready(cluster)
        self._peak = self._measure(cluster)
        self._record = self._open()
        self._plan: Plan | None = None

    def run(self) -> Ending:
        """Simulate steps until nothing is left to do, or the limit of steps is reached."""
        for _ in range(PASSES_MAX):
            if len(self._steps) >= self._steps_max:
                return Ending.CUT
            self._plan = decided = plan(self._cluster.workload, self._cluster.observed, self._now)
            if decided.rollbacks:
                return Ending.BLOCKED
            after, moves = self._cluster.apply(decided, self._now)
            is_same = after.observed == self._cluster.observed
            if not is_same:
                self._take(after, moves)
                continue
            if (gone := after.drop_leaving()) is not after:
                self._take(gone, ())
                continue
            if not self._wait(decided):
                return self._end(decided)
        return Ending.CUT

    def _take(self, after: IdealCluster, moves: tuple[UnitMove, ...]) -> None:
        self._cluster = after
        if moves and not self._record.moves:
            self._record.begins = self._now
        self._record.moves += moves
        ready = count_ready(after)
        for least in (self._record.least, self._least):
            least |= {name: min(least.get(name, n), n) for name, n in ready.items()}
        self._record.amount = self._record.amount.peak(self._measure(after))
        self._peak = self._peak.peak(self._record.amount)

    def _wait(self, decided: Plan) -> bool:
        """Advance time until a unit is ready, or until the plan's recheck."""
        due, recheck = self._cluster.find_due(self._now), decided.recheck_seconds
        # A recheck that changes nothing must not repeat at the same time for ever.
        again = None if recheck is None else self._now + max(recheck, 0.001)
        moments = [moment for moment in (due, again) if moment is not None]
        if not moments:
            return False
        self._now = min(moments)
        if due is not None and due <= self._now:
            self._cluster = self._cluster.advance(self._now)
            self._close()
        return True

    def _close(self) -> None:
        """End the step in progress, since units have become ready."""
        record = self._record
        if record.moves:
            self._steps.append(
                ForecastStep(
                    number=len(self._steps) + 1,
                    begins=record.begins - self._begun,
                    seconds=self._now - record.begins,
                    moves=tuple(record.moves),
                    least=record.least,
                    after=count_ready(self._cluster),
                    amount=record.amount,
                )
            )
        self._record = self._open()

    def _open(self) -> _Record:
        cluster = self._cluster
        return _Record(self._now, [], count_ready(cluster), self._measure(cluster))

    def _end(self, decided: Plan) -> Ending:
        self._close()
        report = decided.report
        # Where only roles roll, a partition of theirs keeps their group between two revisions.
        is_over = (
            report.is_available
            if has_groups(self._cluster.workload)
            else all(role.is_available for role in report.roles.values())
        )
        return Ending.DONE if is_over else Ending.BLOCKED

    def summarise(self, ending: Ending) -> Forecast:
        """The finished forecast as one value."""
        workload, before = self._cluster.workload, self._start.observed
        return Forecast(
            target=workload.revision,
            former=_find_former(before, workload.revision),
            ending=ending,
            steps=tuple(self._steps),
            before=_count(self._start),
            least=self._least,
            after=_count(self._cluster),
            amount_before=self._measure(self._start),
            amount_peak=self._peak,
            amount_after=self._measure(self._cluster),
            seconds=self._now - self._begun,
            start_seconds=self._cluster.start_seconds,
            blockers=self._plan.report.blockers if self._plan else (),
            kept=_count_kept(self._cluster),
        )

    def _measure(self, cluster: IdealCluster) -> Amount:
        """The members and GPUs of all units that are not terminating."""
        members = gpus = 0
        for role, revision, size, units in _list_sizes(cluster.workload, cluster.observed):
            members += size * units
            gpus += units * self._gpus.get((role, revision), self._gpus.get((role, ""), 0))
        return Amount(members, gpus)


def has_groups(workload: Workload) -> bool:
    """Whether people count groups; else they count the instances of each role."""
    return workload.has_rollout or not any(role.name for role in workload.roles)


def count_ready(cluster: IdealCluster) -> dict[str, int]:
    """Ready units by line: groups under an empty name, or instances of each role."""
    return {name: counts.ready for name, counts in _count(cluster).items()}


def _count(cluster: IdealCluster) -> dict[str, Counts]:
    workload, groups = cluster.workload, cluster.observed.groups
    if has_groups(workload):
        ready = sum(group.phase is Phase.READY for group in groups)
        return {"": Counts(ready, workload.groups)}
    found: dict[str, Counts] = {}
    for role in workload.roles:
        held = [own for group in groups for own in group.roles if own.role == role.name]
        ready = sum(_count_role(own) for own in held)
        found[role.name] = Counts(ready, role.instances * workload.groups)
    return found


def _count_role(role: RoleInstances) -> int:
    if role.tally is not None:
        return role.tally.ready
    return sum(instance.phase is Phase.READY for instance in role.instances)


def _list_sizes(workload: Workload, observed: Observed) -> Iterator[tuple[str, str, int, int]]:
    """Role, revision, size and number of all units that are not terminating."""
    for group in observed.groups:
        if not group.roles and group.phase is not Phase.LEAVING:
            yield "", group.revision, group.size, 1
        for role in group.roles:
            asked = workload.find_role(role.role)
            if role.tally is not None:
                yield role.role, role.revision, asked.size if asked else 1, role.tally.exist
            for instance in role.instances:
                if instance.phase is not Phase.LEAVING:
                    yield role.role, instance.revision, instance.size, 1


def _find_former(observed: Observed, target: str) -> str:
    """The revision that most groups have beside the target; the target if all have it."""
    real = (group for group in observed.groups if _exists(group))
    found = Counter(filter(None, map(_find_carried, real)))
    others = Counter({key: n for key, n in found.items() if key != target})
    chosen = others or found
    return chosen.most_common(1)[0][0] if chosen else ""


def _find_carried(group: Group) -> str:
    """The revision of a group; of an edited one, the revision that all its members carry."""
    carried = {member.revision for member in group.members if member.is_current}
    return group.revision or (carried.pop() if len(carried) == 1 else "")


def _exists(group: Group) -> bool:
    """Whether any member of a group exists."""
    return bool(group.members) or any(role.has_begun for role in group.roles)


def _count_kept(cluster: IdealCluster) -> Mapping[str, int]:
    """The number of units with an old revision at the end."""
    workload, found = cluster.workload, Counter[str]()
    for group in cluster.observed.groups:
        if has_groups(workload):
            found[""] += group.revision != workload.revision
            continue
        for role in group.roles:
            found[role.role] += sum(i.revision != role.revision for i in role.instances)
    return {name: number for name, number in found.items() if number}
