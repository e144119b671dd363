"""
RoleBasedGroups: what roles, instances and pods cost the operator, and an update in place.

Each measurement has a cluster of its own. The large group begins with the floor: as many pods as it
has, posted by a bare client, until all are ready. An update in place is compared with one that
recreates: writes, seconds, and for how long instances did not serve.
"""

import asyncio
from dataclasses import dataclass
from math import ceil

from bench.events import run
from bench.figures import Figure
from bench.operators import Costs, Scene, scene
from bench.scenarios.modelservings import count_writes, measure_floor
from bench.scenarios.operating import (
    LEASE,
    REST_SECONDS,
    SPEED,
    create,
    list_figures,
    list_requests,
    rest,
    roll_out,
)
from bench.workloads import SIZE, role_based_groups

FLOORS_MAX = 1.5  # upstream: 5.7, where the floor was 4.6 s
PODS_PER_SECOND_MIN = 50
WRITES_PER_POD_MAX = 5  # RoleInstances and every status included; upstream: 8 to 10
GROWTH_MAX = 1.5  # of what a group costs among a tenth as many


def measure(quick: bool) -> list[Figure]:
    """One large group, both ways of an update, and many small groups."""
    instances, few = (25, 10) if quick else (100, 50)
    figures = run(_live(instances))
    figures += run(_compare_updates(instances))
    figures += run(_multiply(few, few * 10))
    return figures


async def _live(instances: int) -> list[Figure]:
    """One group of one role, made and left alone."""
    pods = instances * SIZE
    async with scene(role_based_groups(), nodes=64, speed=SPEED) as running:
        await running.warm()
        floor = await measure_floor(running, pods)
        made = await create(running, instances)
        idle = await rest(running)
    what = f"1 x {instances} x {SIZE}"
    requests = sum(n for asked, n in idle.requests.items() if asked not in LEASE)
    written = count_writes(made, pods)
    return [
        Figure(f"{what}, the floor", floor, "s"),
        *list_figures(f"{what}, all ready", made),
        Figure(f"{what}, all ready", made.seconds / floor, "floors", at_most=FLOORS_MAX),
        Figure("pods ready", pods / made.seconds, "/s", at_least=PODS_PER_SECOND_MIN),
        Figure("all ready: writes for each pod", written, "", at_most=WRITES_PER_POD_MAX),
        Figure(f"requests in {REST_SECONDS} s of rest", requests, "", at_most=0),
    ]


@dataclass
class Update:
    """What an update of all instances took."""

    costs: Costs
    fewest: int
    lost_seconds: float  # in which an instance did not serve, over all instances


async def _compare_updates(instances: int) -> list[Figure]:
    """The same update in running pods, and with new pods."""
    found = {}
    for type_ in ("InPlaceIfPossible", "RecreatePod"):
        async with scene(role_based_groups(type_), nodes=64, speed=SPEED) as running:
            await running.warm()
            await create(running, instances)
            found[type_] = await _update(running, instances)
    own, other = found["InPlaceIfPossible"], found["RecreatePod"]
    figures = []
    for name, each in (("in place", own), ("recreated", other)):
        what = f"{instances} instances updated {name}"
        figures += list_figures(what, each.costs)
        figures += [
            Figure(f"{what}: writes for each", count_writes(each.costs, instances), ""),
            Figure(f"{what}: not serving, each", each.lost_seconds / instances * 1e3, "ms"),
            Figure(f"{what}: fewest", each.fewest, "", at_least=instances - ceil(instances / 10)),
        ]
    times = own.costs.seconds / other.costs.seconds
    # No goal: pulling, scheduling and volumes, which an update in place saves, take no time here.
    return [*figures, Figure("in place against recreated", times, "times")]


async def _update(running: Scene, instances: int) -> Update:
    running.groups.begin()
    costs, fewest = await roll_out(running, instances)
    return Update(costs, fewest, running.groups.end())


async def _multiply(few: int, many: int) -> list[Figure]:
    """Groups of two roles, few and then ten times as many, all of them at once."""
    each: list[Costs] = []
    for number in (few, many):
        async with scene(role_based_groups(), nodes=64, speed=SPEED) as running:
            await running.warm()
            each.append(await _make_pairs(running, number))
    costs = [costs.cpu / n * 1e3 for costs, n in zip(each, (few, many), strict=True)]
    writes = [count_writes(c, n) for c, n in zip(each, (few, many), strict=True)]
    notes = [list_requests(c.requests, n) for c, n in zip(each, (few, many), strict=True)]
    return [
        *list_figures(f"{many} groups of 2 roles, all ready", each[1]),
        Figure(f"{few} groups of 2 roles: operator CPU for each", costs[0], "ms"),
        Figure(f"{many} groups of 2 roles: operator CPU for each", costs[1], "ms"),
        Figure("of many against few: CPU", costs[1] / costs[0], "times", at_most=GROWTH_MAX),
        Figure(f"{few} groups of 2 roles: writes for each", writes[0], "", note=notes[0]),
        Figure(f"{many} groups of 2 roles: writes for each", writes[1], "", note=notes[1]),
        Figure("of many against few: writes", writes[1] / writes[0], "times", at_most=1.1),
    ]


async def _make_pairs(running: Scene, number: int) -> Costs:
    names = [f"pair-{index}" for index in range(number)]
    before = running.operator.costs()
    await asyncio.gather(*(running.make(name, 0) for name in names))
    return await running.timed(lambda: running.are_done(*names), before)
