"""
Multiplying: many small workloads at once, compared with a few of them made alone.

The cost of each must not grow with the number of the others.
"""

import asyncio
from functools import partial

from bench.events import run
from bench.figures import Figure
from bench.operators import Costs, scene
from bench.scenarios.operating import SPEED, list_figures, list_requests
from bench.workloads import SIZE, BenchApi, leader_worker_sets
from kohort.apis.leaderworkerset import labels


def measure(quick: bool) -> list[Figure]:
    """Make some one after the other, then many at once."""
    return run(compare(leader_worker_sets(labels.STATEFULSETS), 20 if quick else 100))


async def compare(api: BenchApi, objects: int) -> list[Figure]:
    """What each of many costs, and one alone."""
    async with scene(api, nodes=64, speed=SPEED) as running:
        await running.warm()
        alone, few = Costs(), 5
        for number in range(few):
            name = f"alone-{number}"
            before = running.operator.costs()
            await running.make(name, 2)
            costs = await running.timed(partial(running.are_done, name), before)
            alone.cpu += costs.cpu
            alone.requests += costs.requests
        before = running.operator.costs()
        names = [f"many-{number}" for number in range(objects)]
        await asyncio.gather(*(running.make(name, 2) for name in names))
        many = await running.timed(lambda: running.are_done(*names), before)
    what = f"{objects} objects of 2 x {SIZE}"
    one = alone.cpu / few
    return [
        *list_figures(f"{what}: all ready", many),
        Figure(f"{what}: operator CPU for each", many.cpu / objects * 1e3, "ms"),
        Figure(
            "one object alone: operator CPU",
            one * 1e3,
            "ms",
            note=list_requests(alone.requests, few),
        ),
        Figure("each of many against one alone", many.cpu / objects / one, "times", at_most=1.5),
    ]
