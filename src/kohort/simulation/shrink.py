"""
From a scenario that fails to a short one that still fails: fewer faults, a plainer run.

Faults are left out in halves, then one by one, and the remaining scenario is made simpler,
as long as a promise of the same name is broken. The number of runs is bounded.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from kohort.simulation.run import Outcome, simulate
from kohort.simulation.scenario import STATEFULSETS, Scenario

RUNS_MAX = 120


def shrink(failed: Outcome, run: Callable[[Scenario], Outcome] = simulate) -> Outcome:
    """The shortest failing scenario that was found, as it ran."""
    names = names_of(failed)
    best, runs = failed, 0
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for candidate in _shorter(best.scenario):
            if runs >= RUNS_MAX:
                return best
            runs += 1
            tried = run(candidate)
            if names & names_of(tried):
                best, is_shorter = tried, True
                break
    return best


def names_of(outcome: Outcome) -> set[str]:
    """Which promises were broken."""
    return {breach.partition(":")[0] for breach in outcome.breaches}


def _shorter(scenario: Scenario) -> Iterator[Scenario]:
    count = len(scenario.faults)
    size = count // 2
    while size >= 1:
        for begin in range(0, count, size):
            yield scenario.without(set(range(begin, min(begin + size, count))))
        size //= 2
    yield from _plainer(scenario)


def _plainer(scenario: Scenario) -> Iterator[Scenario]:
    if scenario.is_mixed:
        yield replace(scenario, is_mixed=False)
    if scenario.latency:
        yield replace(scenario, latency=0.0)
    if scenario.replicas > 1:
        yield replace(scenario, replicas=1)
    if "," in scenario.roles:
        yield replace(scenario, roles=scenario.roles.split(",", 1)[0])
    if scenario.size > 1:
        yield replace(scenario, size=1)
    if scenario.is_gated:
        yield replace(scenario, is_gated=False)
    if scenario.carrier != STATEFULSETS and not scenario.roles:
        yield replace(scenario, carrier=STATEFULSETS)
    yield from _plainer_gangs(scenario)
    for place, fault in enumerate(scenario.faults):
        if fault.span > 1:
            plain = replace(fault, span=1)
            yield replace(
                scenario, faults=(*scenario.faults[:place], plain, *scenario.faults[place + 1 :])
            )


def _plainer_gangs(scenario: Scenario) -> Iterator[Scenario]:
    if scenario.gang:
        yield replace(
            scenario, gang="", topology="", names_scheduler=True, is_exclusive=False, part=0, gpus=0
        )
    if scenario.gang not in ("", "volcano"):
        yield replace(scenario, gang="volcano")
    if scenario.topology and scenario.names_scheduler:
        yield replace(scenario, topology="")
    if scenario.is_exclusive:
        yield replace(scenario, is_exclusive=False)
    if scenario.part:
        yield replace(scenario, part=0)
    if scenario.gpus:
        yield replace(scenario, gpus=0)
