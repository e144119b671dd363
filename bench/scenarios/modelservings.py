"""
ModelServings: what groups of one role cost the operator, compared with LeaderWorkerSets on pods.

Each measurement has a cluster of its own, and begins with the floor: as many pods as the workload
has, posted by a bare client, until all are ready. Seconds depend on the machine; multiples of the
floor of the same cluster do so far less.
"""

import asyncio
from collections import Counter

from bench.events import run
from bench.figures import Figure
from bench.objects import DEFAULT_SCHEDULER, make_pod
from bench.operators import Costs, Scene, scene
from bench.scenarios.multiplying import compare
from bench.scenarios.operating import (
    LEASE,
    REST_SECONDS,
    SPEED,
    create,
    list_figures,
    rest,
    roll_out,
)
from bench.workloads import SIZE, BenchApi, leader_worker_sets, model_servings, scale_to
from kohort.apis.leaderworkerset import labels
from kohort.cluster.kinds import POD
from kohort.cluster.port import Address

AT_ONCE = 64
WRITES = ("create", "patch", "update", "delete", "apply")
FACTOR_MAX = 1.3  # of what LeaderWorkerSets on pods take: each group has a Service more
GROWTH_MAX = 1.5  # of what a group costs in a workload with a tenth of the groups


def measure(quick: bool) -> list[Figure]:
    """Make, roll out, scale and leave alone, and the same of LeaderWorkerSets."""
    groups = 25 if quick else 100
    own, other = model_servings(), leader_worker_sets(labels.PODS)
    figures = run(_live(own, groups))
    figures += run(_live_by_role(groups))
    figures += run(compare(own, groups))
    figures += run(_grow(own, other, groups * 5 // 2))
    figures += run(_grow_far(own, groups))
    return figures


async def _live(api: BenchApi, groups: int) -> list[Figure]:
    """One workload through its life."""
    async with scene(api, nodes=64, speed=SPEED) as running:
        await running.warm()
        floor = await measure_floor(running, groups * SIZE)
        made = await create(running, groups)
        rolled, fewest = await roll_out(running, groups)
        fewer = await _scale(running, groups // 2)
        idle = await rest(running)
    what = f"{groups} x {SIZE}"
    requests = sum(n for asked, n in idle.requests.items() if asked not in LEASE)
    written = count_writes(made, groups)
    return [
        Figure(f"{what}, the floor", floor, "s"),
        *list_figures(f"{what}, all ready", made),
        Figure(f"{what}, all ready", made.seconds / floor, "floors"),
        # An entry, three workers and a Service; a revision and statuses are those of the whole.
        Figure("all ready: writes for each group", written, "", at_most=SIZE + 1.2),
        *list_figures(f"{what}, rolled out by group, 10%", rolled),
        Figure("rolled out by group: writes for each", count_writes(rolled, groups), ""),
        Figure("fewest groups ready meanwhile", fewest, "groups", at_least=groups - groups // 10),
        *list_figures(f"{what}, scaled to {groups // 2}", fewer),
        Figure("scaled down: writes for each", count_writes(fewer, groups - groups // 2), ""),
        Figure(f"requests in {REST_SECONDS} s of rest", requests, "", at_most=0),
    ]


async def _live_by_role(groups: int) -> list[Figure]:
    """The same rolled out by role, which takes the instances of all groups at once."""
    async with scene(model_servings(by_role=True), nodes=64, speed=SPEED) as running:
        await running.warm()
        await create(running, groups)
        rolled, _ = await roll_out(running, groups)
    what = f"{groups} x {SIZE}, rolled out by role"
    return [
        *list_figures(what, rolled),
        Figure("rolled out by role: writes for each", count_writes(rolled, groups), ""),
    ]


async def _grow(api: BenchApi, other: BenchApi, groups: int) -> list[Figure]:
    """A larger workload, and the same of the other API, each in multiples of its own floor."""
    found: list[tuple[float, Costs]] = []
    for each in (api, other):
        async with scene(each, nodes=64, speed=SPEED) as running:
            await running.warm()
            floor = await measure_floor(running, groups * SIZE)
            found.append((floor, await create(running, groups)))
    own, theirs = (costs.seconds / floor for floor, costs in found)
    what = f"{groups} x {SIZE}, all ready"
    return [
        *list_figures(what, found[0][1]),
        Figure(what, own, "floors"),
        Figure(f"{what}, {other.name}", theirs, "floors"),
        Figure(f"{what}, operator CPU, {other.name}", found[1][1].cpu, "s"),
        Figure(f"{what}, against {other.name}", own / theirs, "times", at_most=FACTOR_MAX),
    ]


async def _grow_far(api: BenchApi, groups: int) -> list[Figure]:
    """What a group costs in a small workload, and in one that has ten times as many."""
    async with scene(api, nodes=64, speed=SPEED) as running:
        await running.warm()
        small = await create(running, groups, "small")
        large = await create(running, groups * 10, "large")
    each = [costs.cpu / n * 1e3 for costs, n in ((small, groups), (large, groups * 10))]
    return [
        Figure(f"{groups} groups: operator CPU for each", each[0], "ms"),
        Figure(f"{groups * 10} groups: operator CPU for each", each[1], "ms"),
        Figure("of ten times as many against few", each[1] / each[0], "times", at_most=GROWTH_MAX),
        Figure(f"{groups * 10} groups: writes for each", count_writes(large, groups * 10), ""),
    ]


async def _scale(running: Scene, groups: int) -> Costs:
    await asyncio.sleep(1)
    before = running.operator.costs()
    await running.edit("serve", scale_to(groups))
    return await running.timed(lambda: running.are_done("serve"), before)


async def measure_floor(running: Scene, pods: int) -> float:
    """The seconds that a bare client needs for as many pods to be ready, and to be gone."""
    begun = running.operator.costs()
    names = [f"floor-{number}" for number in range(pods)]
    turns = asyncio.Semaphore(AT_ONCE)

    async def post(name: str) -> None:
        pod = make_pod(name, scheduler=DEFAULT_SCHEDULER)
        del pod["spec"]["containers"][0]["resources"]
        async with turns:
            await running.client.create(POD, "default", pod)

    async def remove(name: str) -> None:
        async with turns:
            await running.client.delete(Address(POD, "default", name), grace=0)

    held = running.groups.pods

    async def are_ready() -> bool:
        return all(name in held and held[name].is_ready for name in names)

    async def are_gone() -> bool:
        return not any(name in held for name in names)

    await asyncio.gather(*map(post, names))
    taken = await running.timed(are_ready, begun)
    await asyncio.gather(*map(remove, names))
    await running.timed(are_gone, begun)
    return taken.seconds


def count_writes(costs: Costs, groups: int) -> float:
    """What was written for each group or pod, events and the lease aside."""
    written: Counter[str] = Counter()
    for what, number in costs.requests.items():
        verb, _, kind = what.partition(" ")
        if verb in WRITES and kind not in ("Event", "Lease"):
            written[what] += number
    return written.total() / groups
