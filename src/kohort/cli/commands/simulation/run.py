"""
This is where ``kohort sim run`` simulates the operator from seeds and scenario files.

``--compare`` runs the same scenarios with several rollout strategies. It ends with 1 if the
strategy of ``--strategy`` breaks a promise; those that it is compared with may break theirs.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from kohort.cli.exits import Exit, Failure, UsageError
from kohort.cli.parser import Parser, add_output, suggest, whole
from kohort.cli.render.lines import BLOCKED, align, count
from kohort.cli.render.values import write_value
from kohort.cli.table import Command
from kohort.cli.terminal import control, join_lines, show
from kohort.model.policies import list_strategies
from kohort.planning.rollout import find_strategy
from kohort.simulation.economy import simulate_with_economy
from kohort.simulation.known import SIMULATED, find_simulated
from kohort.simulation.run import Outcome
from kohort.simulation.scenario import Scenario
from kohort.simulation.scenario_files import ScenarioFile, load_scenario, write_scenario
from kohort.simulation.shrink import shrink
from kohort.simulation.strategy_runs import (
    StrategyRun,
    StrategySummary,
    choose_strategy,
    run_strategy,
)

SEEDS_DEFAULT = 100
COMPARED_DEFAULT = 20  # seeds, from 0 on: a comparison that is made again is the same
API_DEFAULT = Scenario().api
PROGRESS_SECONDS = 1.0
BREACHES_MAX = 5
_RETURN = control("\r")
Drawn = tuple[str, int, str | None]  # the API, the seed, and the strategy if one is given


def _make_parser(prog: str) -> Parser:
    summary = (
        "simulate the operator under faults, in virtual time; each seed is one run, and the same "
        "seed is the same run"
    )
    parser = Parser(
        prog,
        summary,
        (
            "--seeds 1000",
            "--seed 4711",
            "--apis lws,ms",
            "scenario.yaml",
            "--seeds 20 --strategy rack-by-rack --compare budgeted",
        ),
    )
    most = 2**31 - 1
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", type=Path, help="scenario files to run")
    add("--seed", type=whole(0, most), help="run this one seed")
    add("--seeds", type=whole(1, most), help=f"run so many (default: {SEEDS_DEFAULT})")
    add("--first", type=whole(0, most), help="the first seed (default: by the clock)")
    add(
        "--apis",
        type=_read_apis,
        default=(API_DEFAULT,),
        metavar="NAMES",
        help=f"whose workloads; each seed is one run for each (of {', '.join(SIMULATED)}; "
        f"default: {API_DEFAULT})",
    )
    add("--strategy", metavar="NAME", help="a rollout strategy for all runs")
    add(
        "--compare",
        action="append",
        default=[],
        metavar="NAME",
        help="run the same with this strategy, and print a table of both; may be repeated",
    )
    add("--workers", type=whole(1, 512), help="processes (default: one for each core)")
    add("--save", type=Path, metavar="FILE", help="a file for a failing run, after it was shrunk")
    add("--log", action="store_true", help="print every write of the run")
    add_output(parser)
    return parser


def _read_apis(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in names if name not in SIMULATED]
    if unknown:
        known = ", ".join(SIMULATED)
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} cannot be simulated; there are: {known}")
    return names


def _run(arguments: argparse.Namespace) -> int:
    if arguments.files and (arguments.seed is not None or arguments.seeds is not None):
        raise UsageError("give files or seeds, not both")
    scenarios = _list_scenarios(arguments)
    if arguments.strategy is not None or arguments.compare:
        expect_strategies(arguments, scenarios)
    if arguments.compare:
        return compare(arguments, scenarios)
    if not arguments.files and arguments.seed is None:
        return _run_many(arguments)
    chosen = [_choose(scenario, arguments.strategy) for _, scenario in scenarios]
    outcomes = [simulate_with_economy(scenario) for scenario in chosen]
    return _report(outcomes, arguments, [name for name, _ in scenarios])


def _list_scenarios(arguments: argparse.Namespace) -> list[tuple[str, Scenario]]:
    """The scenarios of files or of one seed, or those that are compared, each with its name."""
    if arguments.files:
        return [(str(path), load_scenario(path).scenario) for path in arguments.files]
    if arguments.seed is not None:
        seeds = range(arguments.seed, arguments.seed + 1)
    elif arguments.compare:
        first = arguments.first or 0
        seeds = range(first, first + (arguments.seeds or COMPARED_DEFAULT))
    else:
        seeds = range(0)
    drawn = [SIMULATED[name].draw(seed) for seed in seeds for name in arguments.apis]
    return [(_name_seed(scenario), scenario) for scenario in drawn]


def _choose(scenario: Scenario, strategy: str | None) -> Scenario:
    return scenario if strategy is None else choose_strategy(scenario, strategy)


def _report(outcomes: list[Outcome], arguments: argparse.Namespace, names: list[str]) -> int:
    failed = [outcome for outcome in outcomes if not outcome.is_good]
    for name, outcome in zip(names, outcomes, strict=True):
        if arguments.log:
            show(*outcome.log)
        if arguments.output == "json":
            print(json.dumps(_as_json(name, outcome)))
        else:
            print(_describe(name, outcome))
    if failed:
        _explain(failed[0], arguments)
    return Exit.FAILED if failed else Exit.DONE


def _as_json(name: str, outcome: Outcome) -> dict[str, object]:
    return {
        "name": name,
        "isGood": outcome.is_good,
        "breaches": list(outcome.breaches),
        "play": asdict(outcome.scenario),
        "digest": outcome.digest,
        "writes": outcome.writes,
        "virtualSeconds": round(outcome.virtual_seconds, 3),
    }


def _describe(name: str, outcome: Outcome) -> str:
    verdict = "kept every promise" if outcome.is_good else "failed"
    facts = f"{outcome.virtual_seconds:.0f} virtual seconds, {outcome.writes} requests"
    lines = [f"{name}: {verdict}   {facts}   {outcome.digest[:12]}"]
    lines += [f"  {breach}" for breach in outcome.breaches[:BREACHES_MAX]]
    return join_lines(lines)


def _run_many(arguments: argparse.Namespace) -> int:
    count = arguments.seeds or SEEDS_DEFAULT
    first = int(time.time()) if arguments.first is None else arguments.first
    print(f"seeds {first} to {first + count - 1}", flush=True)
    begun = shown = time.monotonic()
    failed: list[Outcome] = []
    done, used = 0, 0.0
    seeds = range(first, first + count)
    drawn = [(name, seed, arguments.strategy) for seed in seeds for name in arguments.apis]
    for outcome in _simulate_all(drawn, arguments.workers):
        done += 1
        used += outcome.cpu_seconds
        if not outcome.is_good:
            failed.append(outcome)
            _print_failure(outcome, arguments.strategy)
        if time.monotonic() - shown >= PROGRESS_SECONDS:
            shown = time.monotonic()
            rate = done / (shown - begun)
            progress = (
                f"{_RETURN}{done}/{len(drawn)}   {rate:.1f} per second   {len(failed)} failed "
            )
            print(progress, end="", file=sys.stderr, flush=True)
    rate = done / max(time.monotonic() - begun, 1e-9)
    each = done / max(used, 1e-9)
    rates = f"{rate:.1f} per second   {each:.1f} per second of a core"
    print(f"{_RETURN}{done} schedules   {rates}   {len(failed)} failed", flush=True)
    if failed:
        _explain(failed[0], arguments)
    return Exit.FAILED if failed else Exit.DONE


def _simulate_all(drawn: Iterable[Drawn], workers: int | None) -> Iterator[Outcome]:
    count = workers or os.cpu_count() or 1
    if count == 1:
        yield from map(_simulate_briefly, drawn)
        return
    with ProcessPoolExecutor(count) as pool:
        yield from pool.map(_simulate_briefly, drawn, chunksize=4)


def _simulate_briefly(drawn: Drawn) -> Outcome:
    """The outcome of a seed without its log, which is shown only where one scenario is run."""
    name, seed, strategy = drawn
    return simulate_with_economy(_choose(SIMULATED[name].draw(seed), strategy)).without_log()


def _name_seed(scenario: Scenario) -> str:
    """A seed, with the API that it was drawn for unless that is the default one."""
    own = "" if scenario.api == API_DEFAULT else f" of {scenario.api}"
    return f"seed {scenario.seed}{own}"


def _print_failure(outcome: Outcome, strategy: str | None) -> None:
    scenario = outcome.scenario
    show(f"{_RETURN}{_name_seed(scenario)}: {outcome.breaches[0]}")
    flag = "" if scenario.api == API_DEFAULT else f"--apis {scenario.api} "
    flag += "" if strategy is None else f"--strategy {strategy} "
    print(f"  replay: kohort sim run {flag}--seed {scenario.seed}", flush=True)


def _explain(failed: Outcome, arguments: argparse.Namespace) -> None:
    """Shrink the scenario of the first failure, and show or save the smaller one."""
    shrunk = shrink(failed, simulate_with_economy)
    about = f"found by {_name_seed(failed.scenario)}: {shrunk.breaches[0]}"
    text = write_scenario(ScenarioFile(about, shrunk.scenario))
    if arguments.save is not None:
        arguments.save.write_text(text)
        print(f"shrunk to {len(shrunk.scenario.faults)} faults: kohort sim run {arguments.save}")
    elif arguments.output != "json":
        print(f"\nshrunk to {len(shrunk.scenario.faults)} faults:\n\n{text}", end="")


RUN = Command(_make_parser, _run)


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
        except Exception as error:  # a plugin's module may raise anything
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
        print(write_value([_summary_as_json(summary) for summary in found], "json"))
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


def _summary_as_json(summary: StrategySummary) -> dict[str, object]:
    return {
        "strategy": summary.strategy,
        "breaches": summary.breaches,
        "rolloutSeconds": round(summary.rollout_seconds, 3),
        "leastReady": summary.least_ready,
        "writes": round(summary.writes, 3),
        "runs": summary.runs,
    }
