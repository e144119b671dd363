"""
Planning: what one look at a workload costs, from the caches to rendered actions.

The workload is at rest and one pod of it changes, back and forth: the commonest
look there is. Nothing is written. Times are CPU times, the median of several.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.events import run
from bench.figures import Figure
from bench.processes import pin
from bench.snapshots import Shelf, make_children, make_controller, make_ready, make_workload, stamp
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.objects import Object
from kohort.controller.api_controller import ApiController
from kohort.model.observed import Observed
from kohort.planning.plan import plan

SIZE = 8
ROUNDS = 15
KEY = ("default", "serve")


def measure(quick: bool) -> list[Figure]:
    """Look at a large workload, and at one a tenth as large."""
    pin(0)
    return run(measure_looks(200 if quick else 1_000))


async def measure_looks(groups: int) -> list[Figure]:
    """Look at so many groups, and at a tenth of them, with each carrier."""
    figures: list[Figure] = []
    for carrier in ("statefulsets", "pods"):
        large, small = _reconcile(groups, carrier), _reconcile(groups // 10, carrier)
        rolling = large.pop("rolling")
        del small["rolling"]
        size = f"{carrier}: {groups:,} groups x {SIZE}"
        whole = sum(large.values())
        figures += [
            Figure(f"{size}: observed to plan", large["plan"] * 1e3, "ms", at_most=20),
            Figure(f"{size}: in a rollout", rolling * 1e3, "ms", at_most=20),
            Figure(
                f"{size}: whole look",
                whole * 1e3,
                "ms",
                note=", ".join(f"{part} {value * 1e3:.1f}" for part, value in large.items()),
            ),
            Figure(
                f"{carrier}: a group of {groups:,} against one of {groups // 10}",
                whole / 10 / sum(small.values()),
                "times",
                at_most=2,
                note="1 is flat",
            ),
        ]
    return figures


def _reconcile(groups: int, carrier: str) -> dict[str, float]:
    controller, shelf = make_controller()
    lws = stamp(make_workload(KEY[1], groups, SIZE, carrier))
    shelf.put(lws)
    members = []
    for child in make_children(lws, groups, SIZE, carrier):
        shelf.put(child)
        if child["kind"] == "Pod":
            members.append(child)
    _check(controller)
    found: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        pod = stamp(make_ready(members[number // 2 * 37 % len(members)], is_ready=number % 2 == 1))
        for part, seconds in _time_look(controller, shelf, pod).items():
            found.setdefault(part, []).append(seconds)
    return {part: statistics.median(times) for part, times in found.items()}


def _check(controller: ApiController) -> None:
    """What is measured is a workload at rest."""
    root = controller.roots.find(KEY)
    assert root is not None
    snapshot = controller.gather(KEY, root)
    reading = LEADER_WORKER_SET.read(snapshot)
    decided = plan(reading.workload, reading.observed, 0.0)
    assert decided.report.is_done, decided.report
    assert not LEADER_WORKER_SET.render(snapshot, reading, decided)


def _time_look(controller: ApiController, shelf: Shelf, pod: Object) -> dict[str, float]:
    api, found = LEADER_WORKER_SET, {}

    def timed(part: str, act: Callable[..., Any], *arguments: Any) -> Any:
        began = time.thread_time()
        answer = act(*arguments)
        found[part] = time.thread_time() - began
        return answer

    timed("change", shelf.put, pod)
    snapshot = timed("snapshot", controller.gather, KEY, controller.roots.find(KEY))
    reading = timed("read", api.read, snapshot)
    decided = timed("plan", plan, reading.workload, reading.observed, 0.0)
    timed("render", api.render, snapshot, reading, decided)
    timed("status", api.write_status, snapshot, reading, decided, "2026-01-01T00:00:00Z")
    timed("rolling", plan, reading.workload, _age(reading.observed), 0.0)
    return found


def _age(observed: Observed) -> Observed:
    """The same in the middle of a rollout: half of the groups are old."""
    half = len(observed.groups) // 2
    old = tuple(replace(group, revision="old") for group in observed.groups[:half])
    assert observed.progress is not None
    progress = replace(observed.progress, boundary=half)
    return replace(observed, groups=old + observed.groups[half:], progress=progress)
