"""
From a play that fails to a short one that still fails: fewer faults, a plainer run.

Faults are left out in halves, then one by one, and what remains is made simpler,
as long as a promise of the same name is broken. The number of runs is bounded.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from kohort.rehearsal.play import STATEFULSETS, Play
from kohort.rehearsal.running import Outcome, rehearse

RUNS_MAX = 120


def shrink(failed: Outcome, run: Callable[[Play], Outcome] = rehearse) -> Outcome:
    """The shortest failing play that was found, as it ran."""
    names = names_of(failed)
    best, runs = failed, 0
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for candidate in _shorter(best.play):
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


def _shorter(play: Play) -> Iterator[Play]:
    count = len(play.faults)
    size = count // 2
    while size >= 1:
        for begin in range(0, count, size):
            yield play.without(set(range(begin, min(begin + size, count))))
        size //= 2
    yield from _plainer(play)


def _plainer(play: Play) -> Iterator[Play]:
    if play.is_mixed:
        yield replace(play, is_mixed=False)
    if play.latency:
        yield replace(play, latency=0.0)
    if play.replicas > 1:
        yield replace(play, replicas=1)
    if play.size > 1:
        yield replace(play, size=1)
    if play.is_gated:
        yield replace(play, is_gated=False)
    if play.carrier != STATEFULSETS:
        yield replace(play, carrier=STATEFULSETS)
    yield from _plainer_gangs(play)
    for place, fault in enumerate(play.faults):
        if fault.span > 1:
            plain = replace(fault, span=1)
            yield replace(play, faults=(*play.faults[:place], plain, *play.faults[place + 1 :]))


def _plainer_gangs(play: Play) -> Iterator[Play]:
    if play.gang:
        yield replace(
            play, gang="", topology="", names_scheduler=True, is_exclusive=False, part=0, gpus=0
        )
    if play.gang not in ("", "volcano"):
        yield replace(play, gang="volcano")
    if play.topology and play.names_scheduler:
        yield replace(play, topology="")
    if play.is_exclusive:
        yield replace(play, is_exclusive=False)
    if play.part:
        yield replace(play, part=0)
    if play.gpus:
        yield replace(play, gpus=0)
