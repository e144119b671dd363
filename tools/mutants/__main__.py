"""
Plants one fault at a time in a copy of the source, and sees who notices.

    python -m tools.mutants [--only NAME] [--missing] [--workers N] [--seeds N]
    python -m tools.mutants --measure [--only NAME] [--workers N] [--seeds N | --ask 7,19]
    python -m tools.mutants --report docs/planted-bugs.md
    python -m tools.mutants --check

The first form keeps each outcome as soon as it is known, so a run that was broken off is
taken up with ``--missing``, and writes the page at its end. The second asks seeds alone, see
``seeing``. The third plants nothing and writes the page. The last says whether list, source
and page are in step.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from tools.mutants.entries import LIST, ROOT, Mutant, find_misfits, read_mutants
from tools.mutants.judge import Outcome, drop_false, judge
from tools.mutants.outcomes import read_outcomes, write_outcomes
from tools.mutants.report import write_report
from tools.mutants.sights import (
    SeedRequest,
    Sight,
    is_measured,
    measure,
    read_sights,
    write_sights,
)
from tools.mutants.sights import drop_false as drop_false_sights
from tools.mutants.suites import Noticed, SuiteError, copy_tree

PAGE = ROOT / "docs/planted-bugs.md"


def main() -> int:
    """Judge the faults that are asked for, or write or check the page."""
    arguments = _parse()
    mutants = read_mutants(arguments.list)
    misfits = find_misfits(mutants)
    if misfits:
        sys.exit("\n".join(misfits))
    names = {mutant.name for mutant in mutants}
    outcomes = {name: o for name, o in read_outcomes().items() if name in names}
    if arguments.check:
        return _check(mutants, outcomes)
    is_caught = True
    if arguments.measure:
        chosen = [m for m in mutants if m.simulated and arguments.only in m.name]
        # What no simulation has seen takes all seeds, so it comes last.
        seen = {name for name, outcome in outcomes.items() if outcome.simulation is not None}
        _measure_all(sorted(chosen, key=lambda m: m.name not in seen), arguments)
    elif not arguments.report:
        chosen = [m for m in mutants if arguments.only in m.name]
        if arguments.missing:
            chosen = [m for m in chosen if not _is_judged(m, outcomes)]
        try:
            is_caught = _judge_and_print(chosen, outcomes, arguments)
        except SuiteError as error:
            sys.exit(f"a suite could not be run: {error}")
    (arguments.report or PAGE).write_text(write_report(mutants, outcomes, read_sights()))
    return 0 if is_caught else 1


def _judge_and_print(
    chosen: list[Mutant], outcomes: dict[str, Outcome], arguments: argparse.Namespace
) -> bool:
    begun = time.monotonic()
    _judge_all(chosen, outcomes, arguments.workers, arguments.seeds)
    left = [m.name for m in chosen if not outcomes[m.name].is_caught]
    print(f"\n{len(chosen) - len(left)} of {len(chosen)} caught, {time.monotonic() - begun:.0f} s")
    for name in left:
        print(f"survived: {name}")
    return not left


def _check(mutants: list[Mutant], outcomes: dict[str, Outcome]) -> int:
    if PAGE.read_text() != write_report(mutants, outcomes, read_sights()):
        sys.exit(f"{PAGE.name} is behind: python -m tools.mutants --report docs/{PAGE.name}")
    for mutant in mutants:
        outcome = outcomes.get(mutant.name)
        if outcome and not outcome.is_caught and not mutant.explained:
            sys.exit(f"{mutant.name} survives, and nobody says why")
    print(f"{len(mutants)} faults apply")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.mutants")
    parser.add_argument("--only", default="", help="faults whose name holds this")
    parser.add_argument("--missing", action="store_true", help="faults without an outcome")
    parser.add_argument("--measure", action="store_true", help="ask seeds alone, until one sees it")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--ask", default="", help="measure with these seeds, and no others")
    parser.add_argument("--report", type=Path, help="write the page of all outcomes, only")
    parser.add_argument("--check", action="store_true", help="plant nothing, and write nothing")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of faults")
    return parser.parse_args()


def _is_judged(mutant: Mutant, outcomes: dict[str, Outcome]) -> bool:
    outcome = outcomes.get(mutant.name)
    return outcome is not None and outcome.digest == mutant.digest and outcome.is_caught


def _judge_all(
    chosen: list[Mutant], outcomes: dict[str, Outcome], workers: int, seeds: int
) -> None:
    """Judge each fault in the copy of a worker, and keep what came of it at once."""
    with TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Path(folder) / str(number) for number in range(workers)]
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in copies:
            copy_tree(copy)
            free.put(copy)

        def work(mutant: Mutant) -> Outcome:
            copy = free.get()
            try:
                return judge(copy, mutant, outcomes.get(mutant.name), seeds)
            except SuiteError as error:
                raise SuiteError(f"{mutant.name}: {error}") from error
            finally:
                free.put(copy)

        with ThreadPoolExecutor(workers) as pool:
            for number, mutant, outcome in _numbered(chosen, pool.map(work, chosen)):
                outcomes[mutant.name] = outcome
                write_outcomes(outcomes)
                print(f"{number:3}/{len(chosen)} {_line(mutant, outcome)}", flush=True)
        sound = drop_false(copies[0], {m.name: outcomes[m.name] for m in chosen})
        outcomes.update(sound)
        write_outcomes(outcomes)


def _measure_all(chosen: list[Mutant], arguments: argparse.Namespace) -> None:
    """Ask seeds about each fault, and keep what they said at once."""
    sights = read_sights()
    named = tuple(int(seed) for seed in arguments.ask.split(",") if seed)
    request = SeedRequest(arguments.seeds, named)
    with TemporaryDirectory(prefix="mutants-") as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        for number in range(arguments.workers):
            copy_tree(Path(folder) / str(number))
            free.put(Path(folder) / str(number))

        def work(mutant: Mutant) -> None:
            def keep(sight: Sight) -> None:
                sights[mutant.name] = sight
                write_sights(sights)

            copy = free.get()
            try:
                sight = measure(copy, mutant, sights.get(mutant.name), request, keep)
            except SuiteError as error:
                print(f"{mutant.name}: {error}", flush=True)
                return
            finally:
                free.put(copy)
            seen = f"seed {sight.seed}" if sight.seed is not None else f"none of {sight.asked}"
            print(f"{mutant.name:36} {seen} {sight.words}", flush=True)

        left = [m for m in chosen if not is_measured(m, sights.get(m.name), request)]
        with ThreadPoolExecutor(arguments.workers) as pool:
            list(pool.map(work, left))
        write_sights(drop_false_sights(Path(folder) / "0", read_mutants(), sights))


def _numbered(
    chosen: list[Mutant], found: Iterator[Outcome]
) -> Iterator[tuple[int, Mutant, Outcome]]:
    for number, (mutant, outcome) in enumerate(zip(chosen, found, strict=True), 1):
        yield number, mutant, outcome


def _line(mutant: Mutant, outcome: Outcome) -> str:
    by = [_short(noticed) for noticed in (outcome.simulation, outcome.test) if noticed]
    return f"{mutant.name:28} {outcome.seconds:5.0f} s  {'; '.join(by) or 'SURVIVED'}"


def _short(noticed: Noticed) -> str:
    return noticed.by.rpartition("::")[2] or noticed.words


if __name__ == "__main__":
    sys.exit(main())
