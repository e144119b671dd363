"""
How soon seeds alone see each fault: what ``make sim`` would tell of it.

The corpus keeps what seeds have found before, so it says nothing about what fresh seeds
find. Here each fault that a simulation can see is planted, and seeds are run from 0 on until
one of them breaks a promise. What was found is kept with the number of seeds that were
asked, so that a measure that was broken off goes on where it stopped.

A fault that few scenarios can meet (a policy, a fault and a kind of object together) would
cost hours. For such a one the seeds whose scenarios have it all can be named instead.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tools.mutants.entries import Mutant, Planted
from tools.mutants.suites import run_simulations

FILE = Path(__file__).with_name("seeds.json")
AT_ONCE = 25


@dataclass(frozen=True)
class Sight:
    """A seed that sees one fault, and how many were asked for it."""

    digest: str
    asked: int = 0
    seed: int | None = None  # None: none of them
    words: str = ""


def read_sights() -> dict[str, Sight]:
    """What was measured, by the name of the fault."""
    if not FILE.exists():
        return {}
    return {name: Sight(**entry) for name, entry in json.loads(FILE.read_text()).items()}


def write_sights(sights: dict[str, Sight]) -> None:
    """Keep what was measured."""
    entries = {name: asdict(sight) for name, sight in sorted(sights.items())}
    FILE.write_text(json.dumps(entries, indent=1) + "\n")


def is_measured(mutant: Mutant, sight: Sight | None, request: "SeedRequest") -> bool:
    """Whether there is nothing more to ask."""
    if sight is None or sight.digest != mutant.digest:
        return False
    return sight.seed is not None or (not request.named and sight.asked >= request.count)


@dataclass(frozen=True)
class SeedRequest:
    """Which seeds are asked: all from 0 on, or those that are named."""

    count: int = 100
    named: tuple[int, ...] = ()


def measure(
    copy: Path,
    mutant: Mutant,
    before: Sight | None,
    request: SeedRequest,
    keep: Callable[[Sight], None],
) -> Sight:
    """Plant the fault in the copy, and ask seeds until one sees it."""
    known = before if before and before.digest == mutant.digest else Sight(mutant.digest)
    with Planted(copy, mutant):
        if request.named:
            known = _ask_named(copy, mutant, known, request.named)
            keep(known)
            return known
        while known.seed is None and known.asked < request.count:
            end = min(known.asked + AT_ONCE, request.count)
            noticed = run_simulations(copy, [mutant.name_run(n) for n in range(known.asked, end)])
            if noticed is None or not noticed.by:
                known = replace(known, asked=end)
            else:
                seed = int(noticed.by.partition(":")[2])
                known = Sight(mutant.digest, seed + 1, seed, noticed.words)
            keep(known)
    return known


def _ask_named(copy: Path, mutant: Mutant, known: Sight, named: tuple[int, ...]) -> Sight:
    noticed = run_simulations(copy, [mutant.name_run(seed) for seed in named])
    if noticed is None or not noticed.by:
        return replace(known, asked=known.asked + len(named))
    seed = int(noticed.by.partition(":")[2])
    asked = known.asked + named.index(seed) + 1
    return Sight(known.digest, asked, seed, noticed.words)


def drop_false(copy: Path, mutants: list[Mutant], sights: dict[str, Sight]) -> dict[str, Sight]:
    """What was measured, without the seeds that complain of the sound source as well."""
    runs = {
        m.name: m.name_run(sights[m.name].seed or 0)
        for m in mutants
        if m.name in sights and sights[m.name].seed is not None
    }
    false: set[str] = set()
    while noticed := run_simulations(copy, sorted(set(runs.values()) - false)):
        false.add(noticed.by)
    return {
        name: replace(sight, seed=None, words="") if runs.get(name) in false else sight
        for name, sight in sights.items()
    }
