"""
This is where ``kohort sim run --compare`` runs the same scenarios with several rollout strategies.

It ends with 1 if the strategy of ``--strategy`` breaks a promise; those that it is compared with
may break theirs.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parser import suggest
from kohort.cli.render.lines import BLOCKED, align, count
from kohort.cli.render.values import write_value
from kohort.cli.terminal import show
from kohort.model.policies import list_strategies
from kohort.planning.rollout import find_strategy
from kohort.simulation.known import find_simulated
from kohort.simulation.scenario import Scenario
from kohort.simulation.strategy_runs import StrategyRun, StrategySummary, run_strategy

_SHOWN = 3  # breaches of each strategy
_HEAD = ("STRATEGY", "RUNS", "BREACHES", "ROLLOUT", "LEAST READY", "WRITES")
Scenarios = Sequence[tuple[str, Scenario]]


def expect_strategies(arguments: argparse.Namespace, scenarios: Scenarios) -> None:
    """Refuse strategies that do not exist or do not load, and APIs that have no rollouts."""
    known = list_strategies()
    for name in filter(None, (arguments.strategy, *arguments.compare)):
        if name not in known:
            raise UsageError(
                f"unknown rollout strategy {name!r}{suggest(name, known)}; known: "
                f"{', '.join(known)}; see 'kohort plugins list'"
            )
        try:
            find_strategy(name)
        except Exception as error:  # whatever a stranger's module raises
            raise Failure(
                f"rollout strategy {name} does not load: {type(error).__name__}: {error}; see "
                f"'kohort plugins list'"
            ) from error
    apis = {*arguments.apis} if not arguments.files else {each.api for _, each in scenarios}
    for api in sorted(apis):
        if not find_simulated(api).has_rollouts:
            raise UsageError(f"{api} has no rollout strategies: its workloads roll themselves")


def compare(arguments: argparse.Namespace, scenarios: Scenarios) -> int:
    """Run all scenarios with each strategy, and show what each did."""
    chosen = arguments.strategy or list_strategies()[0]
    names = tuple(dict.fromkeys((chosen, *arguments.compare)))
    tasks = [(each, name, label) for name in names for label, each in scenarios]
    runs = list(_run_all(tasks, arguments.workers))
    found = [
        StrategySummary(name, tuple(run for run in runs if run.strategy == name)) for name in names
    ]
    if arguments.output == "json":
        print(write_value([_as_json(summary) for summary in found], "json"))
    else:
        show(*align([_HEAD, *map(_write_row, found)]), *_list_breaches(found))
    return Exit.FAILED if found[0].breaches else Exit.DONE


def _run_all(tasks: list[tuple[Scenario, str, str]], workers: int | None) -> Iterator[StrategyRun]:
    count = min(workers or os.cpu_count() or 1, len(tasks))
    if count == 1:
        yield from map(_run_one, tasks)
        return
    with ProcessPoolExecutor(count) as pool:
        yield from pool.map(_run_one, tasks)


def _run_one(task: tuple[Scenario, str, str]) -> StrategyRun:
    return run_strategy(*task)


def _write_row(summary: StrategySummary) -> tuple[str, ...]:
    least = summary.least_ready
    return (
        summary.strategy,
        str(len(summary.runs)),
        str(summary.breaches),
        f"{summary.rollout_seconds:.1f} s",
        "-" if least is None else f"{least.ready}/{least.wanted}",
        f"{summary.writes:.1f}",
    )


def _list_breaches(found: Sequence[StrategySummary]) -> Iterator[str]:
    for summary in found:
        broken = [run for run in summary.runs if run.breaches]
        for run in broken[:_SHOWN]:
            yield f"{BLOCKED} {summary.strategy}, {run.scenario}: {run.breaches[0]}"
        if len(broken) > _SHOWN:
            yield f"  and {count(len(broken) - _SHOWN, 'run')} more of {summary.strategy}"


def _as_json(summary: StrategySummary) -> dict[str, object]:
    return {
        "strategy": summary.strategy,
        "breaches": summary.breaches,
        "rolloutSeconds": round(summary.rollout_seconds, 3),
        "leastReady": summary.least_ready,
        "writes": round(summary.writes, 3),
        "runs": summary.runs,
    }
