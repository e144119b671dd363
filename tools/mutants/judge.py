"""
What notices one fault: a simulation, a test, or neither.

Simulations and the tests that the fault names are both asked, so that the report can say
what each of them finds. The one that noticed the last time is asked first. Only where both are
silent all other tests are asked.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from tools.mutants.entries import Mutant, Planted
from tools.mutants.suites import (
    ALL,
    ALL_SECONDS_MAX,
    NAMED_SECONDS_MAX,
    Noticed,
    SuiteError,
    run_simulations,
    run_tests,
)


@dataclass(frozen=True)
class Outcome:
    """What became of one fault."""

    digest: str
    simulation: Noticed | None
    test: Noticed | None
    seconds: float = 0.0

    @property
    def is_caught(self) -> bool:
        """Whether a simulation or a test noticed."""
        return self.simulation is not None or self.test is not None


def judge(copy: Path, mutant: Mutant, before: Outcome | None, seeds: int) -> Outcome:
    """Plant the fault in the copy, and ask."""
    begun = time.monotonic()
    with Planted(copy, mutant):
        test = _ask_again(copy, before) or _ask_named(copy, mutant)
        simulation = _ask_simulations(copy, mutant, before, seeds) if mutant.simulated else None
        if test is None and simulation is None:
            test = run_tests(copy, list(ALL), ALL_SECONDS_MAX)
    return Outcome(mutant.digest, simulation, test, round(time.monotonic() - begun, 1))


def _ask_simulations(
    copy: Path, mutant: Mutant, before: Outcome | None, seeds: int
) -> Noticed | None:
    known = before.simulation if before else None
    runs = [known.by] if known and known.by else []
    return run_simulations(copy, runs, seeds, mutant.api)


def _ask_again(copy: Path, before: Outcome | None) -> Noticed | None:
    if before is None or before.test is None:
        return None
    try:
        return run_tests(copy, [before.test.by], NAMED_SECONDS_MAX)
    except SuiteError:
        # The test has another name by now.
        return None


def _ask_named(copy: Path, mutant: Mutant) -> Noticed | None:
    suites = list(mutant.suites)
    return run_tests(copy, suites, NAMED_SECONDS_MAX) if suites else None


def drop_false(copy: Path, outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes without those who complain of the sound source as well."""
    false = _false_tests(copy, outcomes) | _false_simulations(copy, outcomes)
    return {name: _without(outcome, false) for name, outcome in outcomes.items()}


def _false_tests(copy: Path, outcomes: dict[str, Outcome]) -> set[str]:
    tests = sorted({o.test.by for o in outcomes.values() if o.test})
    found: set[str] = set()
    while left := [test for test in tests if test not in found]:
        noticed = run_tests(copy, left, ALL_SECONDS_MAX)
        if noticed is None:
            break
        # A suite that did not end is known by its path, not by a test.
        culprits = {test for test in left if noticed.by.startswith(test)}
        if not culprits:
            raise SuiteError(f"on the sound source: {noticed.by} {noticed.words}")
        found |= culprits
    return found


def _false_simulations(copy: Path, outcomes: dict[str, Outcome]) -> set[str]:
    runs = sorted({o.simulation.by for o in outcomes.values() if o.simulation and o.simulation.by})
    found: set[str] = set()
    while left := [run for run in runs if run not in found]:
        noticed = run_simulations(copy, left)
        if noticed is None:
            break
        found.add(noticed.by)
    return found


def _without(outcome: Outcome, false: set[str]) -> Outcome:
    test, simulation = outcome.test, outcome.simulation
    return replace(
        outcome,
        test=None if test and test.by in false else test,
        simulation=None if simulation and simulation.by in false else simulation,
    )
