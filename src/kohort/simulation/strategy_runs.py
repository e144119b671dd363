"""
Rollout strategies side by side: the same scenarios, each run once for every strategy.

A rollout begins when a unit differs from the spec. It ends when all units above the partition have
the spec's template and serve. The fewest serving units are counted during rollouts only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group
from kohort.simulation.economy import simulate_with_economy
from kohort.simulation.run import Outcome
from kohort.simulation.scenario import COMPATIBLE, Scenario
from kohort.simulation.simulated_api import Policy


@dataclass(frozen=True, slots=True)
class ReadyCount:
    """Units that serve, of those that a line wants."""

    ready: int
    wanted: int

    @property
    def share(self) -> float:
        """Which part of them serves."""
        return self.ready / self.wanted if self.wanted else 1.0


@dataclass(frozen=True, slots=True)
class StrategyRun:
    """The breaches, times and writes of a strategy in one scenario."""

    strategy: str
    scenario: str  # its name
    breaches: tuple[str, ...]
    rollout_seconds: float
    least_ready: ReadyCount | None  # None: there was no rollout
    writes: int


@dataclass(frozen=True, slots=True)
class StrategySummary:
    """The breaches, times and writes of a strategy, over all scenarios."""

    strategy: str
    runs: tuple[StrategyRun, ...]

    @property
    def breaches(self) -> int:
        """How many promises were broken, over all runs."""
        return sum(len(run.breaches) for run in self.runs)

    @property
    def rollout_seconds(self) -> float:
        """How long rollouts lasted in a run, on average."""
        return sum(run.rollout_seconds for run in self.runs) / len(self.runs)

    @property
    def writes(self) -> float:
        """How many requests the operator sent in a run, on average."""
        return sum(run.writes for run in self.runs) / len(self.runs)

    @property
    def least_ready(self) -> ReadyCount | None:
        """The smallest share of units that served in any rollout."""
        found = [run.least_ready for run in self.runs if run.least_ready is not None]
        return min(found, key=lambda count: count.share, default=None)


class RolloutMeter(Checker):
    """Measures rollouts; it holds no promise."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.seconds = 0.0
        self.least: ReadyCount | None = None
        self._rolling: dict[str, float] = {}  # lines, and since when they roll
        self._begun: set[str] = set()  # lines that were complete once

    def commit(self, commit: Commit) -> None:
        """Follow each line of units."""
        workload = self.truth.workload
        lines = [] if workload is None else self._list_lines(workload)
        for gone in self._rolling.keys() - {name for name, _, _ in lines}:
            self._end(gone)
        for name, units, policy in lines:
            self._follow(name, units, policy)

    def end(self) -> None:
        """Count a rollout that has not ended."""
        for name in list(self._rolling):
            self._end(name)

    def _list_lines(self, workload: Object) -> list[tuple[str, Sequence[Group], Policy]]:
        views = [view for view in self.truth.lines() if view.rolls]
        if views:
            return [(view.name, view.units, view.policy) for view in views]
        return [("", self.truth.groups(), self.simulated.read_policy(workload))]

    def _follow(self, name: str, units: Sequence[Group], policy: Policy) -> None:
        ready = sum(unit.is_ready for unit in units)
        if name not in self._begun:
            # Until it is complete for the first time, a workload starts and does not roll.
            self._begun |= {name} if ready >= policy.wanted else set()
            return
        if any(self._is_due(place, unit, policy) for place, unit in enumerate(units)):
            self._rolling.setdefault(name, self.scene.now())
        elif ready >= policy.wanted:
            self._end(name)
        if name in self._rolling:
            count = ReadyCount(min(ready, policy.wanted), policy.wanted)
            if self.least is None or count.share < self.least.share:
                self.least = count

    def _is_due(self, place: int, unit: Group, policy: Policy) -> bool:
        """Whether a unit has to be replaced: it is old, and the partition does not keep it."""
        workload = self.truth.workload
        if workload is None or not self.simulated.is_old(unit, workload["spec"]):
            return False
        return (place if self.simulated.is_sparse else unit.ordinal) >= policy.partition

    def _end(self, name: str) -> None:
        since = self._rolling.pop(name, None)
        self.seconds += 0.0 if since is None else self.scene.now() - since


def choose_strategy(scenario: Scenario, strategy: str) -> Scenario:
    """The same scenario with a strategy; upstream's own rollout never ends with a partition."""
    partition = 0 if strategy == COMPATIBLE else scenario.partition
    return replace(scenario, strategy=strategy, partition=partition)


def run_strategy(scenario: Scenario, strategy: str, name: str) -> StrategyRun:
    """Run a scenario with a strategy, and measure its rollouts."""
    meters: list[RolloutMeter] = []

    def measure(scene: Scene) -> RolloutMeter:
        meters.append(RolloutMeter(scene))
        return meters[-1]

    outcome: Outcome = simulate_with_economy(choose_strategy(scenario, strategy), (measure,))
    meter = meters[0]
    return StrategyRun(
        strategy,
        name,
        outcome.breaches,
        round(meter.seconds, 3),
        meter.least,
        outcome.writes,
    )
