"""
The metrics of workloads, made from what their reconciles read and decided.

At rest they cost nothing and stay true: a workload that was not reconciled has not changed. Its
units are counted when metrics are scraped. When a workload is deleted, its series are dropped,
whether metrics are scraped or not. A
rollout that ran already when this process first saw the workload is shown, but its time is not
measured, since its begin is not known.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from kohort.apis.api import Key
from kohort.controller.process.pod_starts import PodStarts
from kohort.controller.process.recoveries import Recoveries
from kohort.controller.reconcile import ReconcileResult
from kohort.model.observed import Observed, RoleInstances
from kohort.model.plans import Plan, Report
from kohort.model.units import Level, Phase
from kohort.model.workload import Workload
from kohort.observability import catalogue
from kohort.observability.metrics import Gauge, Metric, Registry


@dataclass(slots=True)
class _Seen:
    """The facts from the last reconcile of a workload."""

    observed: Observed | None = None
    workload: Workload | None = None
    report: Report | None = None
    strategy: str = ""
    blocked: dict[str, float] = field(default_factory=dict)  # since when, by the verdict's reason
    waiting: dict[str, float] = field(default_factory=dict)  # since when, by the blocker's reason
    rolling_since: float | None = None
    is_begin_known: bool = False  # whether this process saw the running rollout begin
    starts: PodStarts = field(default_factory=PodStarts)
    recoveries: Recoveries = field(default_factory=Recoveries)


class WorkloadSeries:
    """The series of all workloads of a process."""

    def __init__(self, registry: Registry) -> None:
        self._seen: dict[tuple[str, Key], _Seen] = {}
        self._rollouts = registry.histogram(catalogue.ROLLOUT_SECONDS)
        self._starts = registry.histogram(catalogue.START_SECONDS)
        self._recoveries = registry.counter(catalogue.RECOVERIES)
        self._recovery_times = registry.histogram(catalogue.RECOVERY_SECONDS)

    def __len__(self) -> int:
        return len(self._seen)

    def note(self, kind: str, key: Key, result: ReconcileResult, now: float) -> None:
        """Take the facts of one reconcile."""
        seen = self._seen.setdefault((kind, key), _Seen())
        if result.observed is not None:
            seen.observed = result.observed
            seen.strategy = result.strategy
            seen.waiting = {reason: seen.waiting.get(reason, now) for reason in result.blocked}
            for phases in seen.starts.note(result.observed, result.members):
                for phase, seconds in phases.items():
                    self._starts.observe(seconds, kind, key[0], phase)
            if result.workload is not None and result.decided is not None:
                self._note_recoveries(kind, key, seen, result.decided, now)
                report = result.decided.report
                is_rolling = _is_rolling(result.workload, report, seen.rolling_since is not None)
                self._note_rollout(kind, key, seen, is_rolling, now)
                seen.workload, seen.report = result.workload, report
        if result.health is not None:
            blocked = (result.health.reason,) if result.health.word.needs_help else ()
            seen.blocked = {reason: seen.blocked.get(reason, now) for reason in blocked}

    def _note_recoveries(self, kind: str, key: Key, seen: _Seen, decided: Plan, now: float) -> None:
        assert seen.observed is not None
        for level, seconds in seen.recoveries.end(decided, seen.observed, now):
            self._recovery_times.observe(seconds, kind, key[0], level)
        for begun in seen.recoveries.begin(decided, seen.observed, now):
            self._recoveries.count(kind, *key, begun.level, begun.cause)

    def _note_rollout(self, kind: str, key: Key, seen: _Seen, is_rolling: bool, now: float) -> None:
        if is_rolling and seen.rolling_since is None:
            seen.rolling_since, seen.is_begin_known = now, seen.report is not None
        elif not is_rolling and seen.rolling_since is not None:
            if seen.is_begin_known:
                self._rollouts.observe(now - seen.rolling_since, kind, key[0])
            seen.rolling_since = None

    def drop(self, kind: str, key: Key) -> None:
        """Forget a workload that does not exist any more."""
        if self._seen.pop((kind, key), None) is not None:
            self._recoveries.drop(lambda labels: (labels[0], labels[1:3]) == (kind, key))

    def drop_gone(self, is_gone: Callable[[str, Key], bool]) -> None:
        """Forget the workloads that do not exist any more."""
        for workload in [workload for workload in self._seen if is_gone(*workload)]:
            del self._seen[workload]
        self._recoveries.drop(lambda labels: (labels[0], labels[1:3]) not in self._seen)

    def measure(self, now: float) -> Iterable[Metric]:
        """The gauges of all workloads."""
        units, wanted = Gauge(catalogue.UNITS), Gauge(catalogue.UNITS_DESIRED)
        blocked, waiting = Gauge(catalogue.BLOCKED), Gauge(catalogue.WAITING)
        progress = Gauge(catalogue.ROLLOUT_PROGRESS)
        strategies = Gauge(catalogue.STRATEGY_WORKLOADS)
        for (kind, key), seen in self._seen.items():
            for (level, phase, role), number in _count_units(seen.observed).items():
                units.set(float(number), kind, *key, level, phase, role)
            if seen.workload is not None and seen.report is not None:
                for level, role, number in _count_wanted(seen.workload, seen.report):
                    wanted.set(float(number), kind, *key, level, role)
                is_rolling = seen.rolling_since is not None
                done = measure_progress(seen.workload, seen.report) if is_rolling else 1.0
                progress.set(done, kind, *key)
            for reason, since in seen.blocked.items():
                blocked.set(round(now - since, 3), kind, *key, reason)
            for reason, since in seen.waiting.items():
                waiting.set(round(now - since, 3), kind, *key, reason)
            if seen.strategy:
                strategies.add(1.0, kind, key[0], seen.strategy)
        return (units, wanted, blocked, waiting, progress, strategies)


def _is_rolling(workload: Workload, report: Report, is_begun: bool) -> bool:
    """
    Whether a rollout runs: it begins with an old unit, and ends when all are new and ready.

    Groups that are merely not ready are no rollout.
    """
    if report.is_updating or any(role.is_updating for role in report.roles.values()):
        return True
    is_over = report.is_available and measure_progress(workload, report) >= 1.0
    return is_begun and not is_over


def measure_progress(workload: Workload, report: Report) -> float:
    """The share of units above the partition that are updated and ready."""
    own = [role for role in workload.roles if role.rollout and role.name in report.roles]
    done, total = report.rolled_ready, report.wanted - workload.rollout.partition
    if own:
        done = sum(report.roles[role.name].updated_ready for role in own)
        kept = sum(role.rollout.partition for role in own if role.rollout) * workload.groups
        total = sum(report.roles[role.name].wanted for role in own) - kept
    return round(min(done / total, 1.0), 4) if total > 0 else 1.0


def _count_wanted(workload: Workload, report: Report) -> Iterator[tuple[str, str, int]]:
    """Level, role and number of the units that the user wants."""
    yield Level.GROUP, "", report.wanted
    named = [(role, report.roles[role.name]) for role in workload.roles if role.name]
    for role, counts in named:
        yield Level.INSTANCE, role.name, counts.wanted
    if named:
        yield Level.MEMBER, "", sum(counts.wanted * role.size for role, counts in named)
    else:
        yield Level.MEMBER, "", report.wanted * workload.group_size


def _count_units(observed: Observed | None) -> dict[tuple[str, str, str], int]:
    """How many units are in each phase, by level and role; phases without units are 0."""
    if observed is None:
        return {}
    found = {(level, p, ""): 0 for level in (Level.GROUP, Level.MEMBER) for p in Phase}
    for group in observed.groups:
        found[Level.GROUP, group.phase, ""] += 1
        for member in group.members:
            found[Level.MEMBER, member.phase, ""] += 1
        for held in group.roles:
            if held.role:
                _add_instances(found, held)
    return {(str(level), str(phase), role): n for (level, phase, role), n in found.items()}


def _add_instances(found: dict[tuple[Level, Phase, str], int], held: RoleInstances) -> None:
    for phase in Phase:
        found.setdefault((Level.INSTANCE, phase, held.role), 0)
    for instance in held.instances:
        found[Level.INSTANCE, instance.phase, held.role] += 1
    if held.tally is not None:
        found[Level.INSTANCE, Phase.READY, held.role] += held.tally.ready
        unready = max(held.tally.exist - held.tally.ready, 0)
        found[Level.INSTANCE, Phase.STARTING, held.role] += unready
