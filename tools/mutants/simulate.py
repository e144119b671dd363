"""
Simulates what it is told in one process, and names the first run that breaks a promise.

    python -m tools.mutants.simulate [--api ms] [--seeds N] [lws:7 | corpus:NAME ...]

With ``--seeds`` the corpus of an API and that many of its seeds come after the runs that are named.
A run that takes too much processor time has noticed too.
"""

import argparse
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from kohort.simulation.known import SIMULATED
from kohort.simulation.run import Outcome, simulate
from kohort.simulation.scenario import Scenario
from kohort.simulation.scenario_files import load_scenario

CORPUS = Path("tests/simulation/corpus")
RUN_SECONDS_MAX = 20


class _TooLong(BaseException):
    pass


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _TooLong


def _perform(run: str) -> Outcome:
    kind, _, name = run.partition(":")
    if kind in SIMULATED:
        return simulate(SIMULATED[kind].draw(int(name)))
    return simulate(_load(name))


def _load(name: str) -> Scenario:
    return load_scenario(CORPUS / f"{name}.yaml").scenario


def _runs(named: list[str], seeds: int, api: str) -> Iterator[str]:
    yield from named
    if seeds:
        names = [path.stem for path in sorted(CORPUS.glob("*.yaml"))]
        yield from (f"corpus:{name}" for name in names if _load(name).api == api)
        yield from (f"{api}:{seed}" for seed in range(seeds))


def find_complaint(run: str) -> str:
    """The first promise that the run broke; empty if it kept all."""
    signal.setitimer(signal.ITIMER_PROF, RUN_SECONDS_MAX)
    try:
        breaches = _perform(run).breaches
    except _TooLong:
        return f"it did not end within {RUN_SECONDS_MAX} s"
    except Exception as error:  # A fault may break anything, in any way.
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return breaches[0] if breaches else ""


def main() -> int:
    """Print the first run that complains, and its words."""
    parser = argparse.ArgumentParser(prog="tools.mutants.simulate")
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--api", choices=tuple(SIMULATED), default="lws")
    arguments = parser.parse_args()
    signal.signal(signal.SIGPROF, _give_up)
    for run in _runs(arguments.runs, arguments.seeds, arguments.api):
        complaint = find_complaint(run)
        if complaint:
            print(f"{run} {' '.join(complaint.split())}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
