"""
Passes: which acts are played in which order, each pass on a control plane that is new.

A pass begins with the floor, before the operator is there. What makes figures comparable
comes first, so that a run which is cut short still says what matters most.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.real.actions import BenchSite
from bench.real.costs import Meter
from bench.real.floor import floor_service, measure_floor
from bench.real.sightings import sight
from bench.real.sites import Site, operator, site

CARRIERS = ("statefulsets", "pods")
LIFE = ("a", "d", "e", "b", "f", "c")
ALL = (*LIFE, "g", "s")
GROWTH = (25, 50, 100, 200, 400)
BURST, FLEET, BIG, SIZE = 100, 100, 250, 4
FLOORS = {"a": BURST * SIZE, "b": FLEET * 2 * SIZE, "c": BIG * SIZE}
_CLEANING_SECONDS = 4.0  # until nobody works on pods that were deleted
Keep = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Pass:
    """One carrier on one fresh control plane."""

    run: int
    readiness: str
    carrier: str
    acts: tuple[str, ...]

    @property
    def head(self) -> dict[str, Any]:
        """What all figures of the pass have in common."""
        return {"run": self.run, "readiness": self.readiness, "carrier": self.carrier}


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be measured."""

    only: tuple[str, ...] = ALL
    carriers: tuple[str, ...] = CARRIERS
    readiness: tuple[str, ...] = ("instant", "slow")
    runs: int = 3
    growth: tuple[int, ...] = GROWTH
    rest_seconds: float = 60.0
    seconds_max: float = 300.0
    profile: Path | None = field(default=None)


def list_passes(choice: Choice) -> Iterator[Pass]:
    """The passes in their order; carriers take turns in being first."""
    wanted = set(choice.only)
    if wanted & {"d", "e"}:
        wanted.add("a")
    for readiness in choice.readiness:
        for run in range(1, choice.runs + 1):
            carriers = choice.carriers if run % 2 else choice.carriers[::-1]
            for carrier in carriers:
                # A rest is the same each time, and lasts a minute.
                once = set() if run == 1 and readiness == "instant" else {"f"}
                acts = tuple(action for action in LIFE if action in wanted - once)
                if acts:
                    yield Pass(run, readiness, carrier, acts)
    if "g" in wanted:
        for carrier in choice.carriers:
            yield Pass(1, "instant", carrier, ("g",))
    if "s" in wanted:
        yield Pass(1, "instant", choice.carriers[0], ("s",))


async def run_pass(one: Pass, choice: Choice, folder: Path, keep: Keep) -> None:
    """Play one pass, and hand out the figures of each act as soon as they are there."""

    def record(action: str, figures: dict[str, Any]) -> None:
        line = {**one.head, "act": action, **figures}
        print(describe(line), file=sys.stderr, flush=True)
        keep(line)

    async with site(folder, one.readiness) as place:
        if "s" in one.acts:
            await _run_service(place, choice.runs, record)
            return
        for action, pods in FLOORS.items():
            # Where pods take their time it is that time which counts, not the floor.
            if action in one.acts and (action == "a" or one.readiness == "instant"):
                record("floor", {"of": action, **await measure_floor(place, pods)})
        async with operator(place, choice.profile) as pid, sight(place.server, SIZE) as seen:
            stage = BenchSite(
                place.server, seen, Meter(place, pid), one.carrier, choice.rest_seconds
            )
            stage.seconds_max = choice.seconds_max
            await stage.settle()
            for action in one.acts:
                if action == "g":
                    for groups in choice.growth:
                        record("g", await stage.create([f"grow{groups}"], groups))
                else:
                    record(action, await _run_action(stage, action))


async def _run_service(place: Site, runs: int, record: Callable[..., None]) -> None:
    """What the Service of a workload costs the control plane: the floor without and with one."""
    pods = FLOORS["c"]
    for _ in range(runs):
        record("floor", {"of": "", **await measure_floor(place, pods)})
        await asyncio.sleep(_CLEANING_SECONDS)
        async with floor_service(place):
            record("s", await measure_floor(place, pods))
            await asyncio.sleep(_CLEANING_SECONDS)


async def _run_action(stage: BenchSite, action: str) -> dict[str, Any]:
    burst = ("bench-burst", "burst")
    match action:
        case "a":
            return await stage.create(["burst"], BURST)
        case "b":
            return await stage.create([f"fleet{n:03}" for n in range(FLEET)], 2)
        case "c":
            return await stage.create(["big"], BIG)
        case "d":
            return await stage.roll_out(burst, BURST)
        case "e":
            return await stage.recover(burst, BURST)
        case _:
            return await stage.rest()


def describe(line: dict[str, Any]) -> str:
    """One line about an act, for those who wait."""
    shown = ("of", "groups", "posted_s", "created_s", "ready_s", "status_s", "fewest_ready")
    costs = ("cpu_s", "peak_mib", "writes", "events", "webhook_calls", "simulations", "refused")
    words = [time.strftime("%H:%M:%S"), f"{line['readiness']} run {line['run']}"]
    words += [line["carrier"] if line["act"] != "floor" else "", line["act"]]
    words += [
        f"{name}={line[name]}" for name in (*shown, *costs) if line.get(name) not in (None, {})
    ]
    if not line.get("done", True):
        words.append("NOT DONE")
    return " ".join(filter(None, words))
