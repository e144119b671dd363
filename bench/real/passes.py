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
from bench.workloads import (
    SIZE,
    BenchApi,
    leader_worker_sets,
    model_servings,
    role_based_groups,
)

WORKLOADS: dict[str, BenchApi] = {
    "statefulsets": leader_worker_sets("statefulsets"),
    "pods": leader_worker_sets("pods"),
    "modelservings": model_servings(),
    "rolebasedgroups": role_based_groups(),
}
LIFE = ("a", "d", "e", "b", "f", "c")
ALL = (*LIFE, "g", "s")
GROWTH = (25, 50, 100, 200, 400)
_CLEANING_SECONDS = 4.0  # until no controller works on pods that were deleted
Keep = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Pass:
    """One workload on one fresh control plane."""

    run: int
    readiness: str
    workload: str
    acts: tuple[str, ...]

    @property
    def head(self) -> dict[str, Any]:
        """What all figures of the pass have in common."""
        return {"run": self.run, "readiness": self.readiness, "workload": self.workload}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is made: groups of one object, objects of two groups, groups of a large object."""

    burst: int = 100
    fleet: int = 100
    big: int = 250

    @property
    def floors(self) -> dict[str, int]:
        """The pods of each act that makes some."""
        groups = {"a": self.burst, "b": self.fleet * 2, "c": self.big}
        return {action: number * SIZE for action, number in groups.items()}


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be measured."""

    only: tuple[str, ...] = ALL
    workloads: tuple[str, ...] = tuple(WORKLOADS)
    readiness: tuple[str, ...] = ("instant", "slow")
    runs: int = 3
    growth: tuple[int, ...] = GROWTH
    rest_seconds: float = 60.0
    seconds_max: float = 300.0
    profile: Path | None = field(default=None)
    sizes: Sizes = field(default_factory=Sizes)


def list_passes(choice: Choice) -> Iterator[Pass]:
    """The passes in their order; workloads take turns in being first."""
    wanted = set(choice.only)
    if wanted & {"d", "e"}:
        wanted.add("a")
    for readiness in choice.readiness:
        for run in range(1, choice.runs + 1):
            workloads = choice.workloads if run % 2 else choice.workloads[::-1]
            for workload in workloads:
                # A rest is the same each time, and lasts a minute.
                once = set() if run == 1 and readiness == "instant" else {"f"}
                acts = tuple(action for action in LIFE if action in wanted - once)
                if acts:
                    yield Pass(run, readiness, workload, acts)
    if "g" in wanted:
        for workload in choice.workloads:
            yield Pass(1, "instant", workload, ("g",))
    if "s" in wanted:
        yield Pass(1, "instant", choice.workloads[0], ("s",))


async def run_pass(one: Pass, choice: Choice, folder: Path, keep: Keep) -> None:
    """Play one pass, and hand out the figures of each act as soon as they are there."""

    def record(action: str, figures: dict[str, Any]) -> None:
        line = {**one.head, "act": action, **figures}
        print(describe(line), file=sys.stderr, flush=True)
        keep(line)

    async with site(folder, one.readiness) as place:
        if "s" in one.acts:
            await _run_service(place, choice, record)
            return
        for action, pods in choice.sizes.floors.items():
            # Where pods take their time it is that time which counts, not the floor.
            if action in one.acts and (action == "a" or one.readiness == "instant"):
                record("floor", {"of": action, **await measure_floor(place, pods)})
        api = WORKLOADS[one.workload]
        async with (
            operator(place, choice.profile, api.served_name) as pid,
            sight(place.server, api) as seen,
        ):
            stage = BenchSite(place.server, seen, Meter(place, pid), api, choice.rest_seconds)
            stage.seconds_max = choice.seconds_max
            await stage.settle()
            await stage.settle_server()
            for action in one.acts:
                if action == "g":
                    for groups in choice.growth:
                        record("g", await stage.create([f"grow{groups}"], groups))
                else:
                    record(action, await _run_action(stage, action, choice.sizes))


async def _run_service(place: Site, choice: Choice, record: Callable[..., None]) -> None:
    """What the Service of a workload costs the control plane: the floor without and with one."""
    pods = choice.sizes.floors["c"]
    for _ in range(choice.runs):
        record("floor", {"of": "", **await measure_floor(place, pods)})
        await asyncio.sleep(_CLEANING_SECONDS)
        async with floor_service(place):
            record("s", await measure_floor(place, pods))
            await asyncio.sleep(_CLEANING_SECONDS)


async def _run_action(stage: BenchSite, action: str, sizes: Sizes) -> dict[str, Any]:
    burst = ("bench-burst", "burst")
    match action:
        case "a":
            return await stage.create(["burst"], sizes.burst)
        case "b":
            return await stage.create([f"fleet{n:03}" for n in range(sizes.fleet)], 2)
        case "c":
            return await stage.create(["big"], sizes.big)
        case "d":
            return await stage.roll_out(burst, sizes.burst)
        case "e":
            return await stage.recover(burst, sizes.burst)
        case _:
            return await stage.rest()


def describe(line: dict[str, Any]) -> str:
    """One line about an act, for those who wait."""
    shown = ("of", "groups", "posted_s", "created_s", "ready_s", "status_s", "fewest_ready")
    costs = ("cpu_s", "peak_mib", "writes", "events", "webhook_calls", "simulations", "refused")
    words = [time.strftime("%H:%M:%S"), f"{line['readiness']} run {line['run']}"]
    words += [line["workload"] if line["act"] != "floor" else "", line["act"]]
    words += [
        f"{name}={line[name]}" for name in (*shown, *costs) if line.get(name) not in (None, {})
    ]
    if not line.get("done", True):
        words.append("NOT DONE")
    return " ".join(filter(None, words))
