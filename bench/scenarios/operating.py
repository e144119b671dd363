"""
Operating: what workloads cost the operator, and what it writes for them.

Cluster and operator are two processes, each on a core of its own, and talk over
HTTPS, admission included. One large workload is made, rolled out and damaged, with
each carrier; then many small ones are compared with a few of them made alone.
"""

import asyncio
from collections import Counter

from bench.events import run
from bench.families import make_workload
from bench.figures import Figure
from bench.operators import Costs, Scene, scene
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.translation.reading import POD
from kohort.cluster.port import Address

SIZE = 4
SPEED = 100
LOST = 10
REST_SECONDS = 5
_IMAGE = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
_LEASE = ("read Lease", "update Lease", "patch Lease")


def measure(quick: bool) -> list[Figure]:
    """The life of a large workload, and of many small ones."""
    groups, objects = (50, 20) if quick else (250, 100)
    figures: list[Figure] = []
    for carrier in ("statefulsets", "pods"):
        figures += run(_live(carrier, groups))
    return figures + run(_compare(objects))


async def _live(carrier: str, groups: int) -> list[Figure]:
    async with scene(SIZE, nodes=64, speed=SPEED) as running:
        await _warm(running, carrier)
        made = await _create(running, carrier, groups)
        rolled, fewest = await _roll_out(running, groups)
        mended = await _recover(running, groups)
        idle = await _rest(running)
    goal = groups - groups // 10
    requests = sum(number for what, number in idle.requests.items() if what not in _LEASE)
    what = f"{carrier}: {groups} groups x {SIZE}"
    return [
        *_tell(f"{what}: all ready", made),
        *_tell(f"{what}: rolled out, 10%", rolled),
        Figure(f"{what}: fewest ready meanwhile", fewest, "groups", at_least=goal),
        *_tell(f"{what}: {LOST} lost workers", mended),
        Figure(f"{what}: requests in {REST_SECONDS} s of rest", requests, "", at_most=0),
    ]


async def _warm(running: Scene, carrier: str) -> None:
    """What is done once, at first use, is no part of what a workload costs."""
    await _make(running, "warm", 1, carrier)
    await running.timed(lambda: running.are_done("warm"), running.operator.costs())


async def _make(running: Scene, name: str, groups: int, carrier: str) -> None:
    body = make_workload(name, groups, SIZE, carrier)
    await running.client.create(labels.KIND, "default", body)


async def _create(running: Scene, carrier: str, groups: int) -> Costs:
    before = running.operator.costs()
    await _make(running, "serve", groups, carrier)
    return await running.timed(lambda: running.are_done("serve"), before)


async def _roll_out(running: Scene, groups: int) -> tuple[Costs, int]:
    await asyncio.sleep(1)
    seen = running.groups
    others = seen.serving - groups
    seen.fewest = seen.serving
    before = running.operator.costs()
    change = [{"op": "replace", "path": _IMAGE, "value": "engine:2"}]
    from kohort.cluster.port import PatchForm

    address = Address(labels.KIND, "default", "serve")
    await running.client.patch(address, change, PatchForm.JSON)
    costs = await running.timed(lambda: running.are_done("serve"), before)
    return costs, seen.fewest - others


async def _recover(running: Scene, groups: int) -> Costs:
    await asyncio.sleep(1)
    step = groups // LOST
    leaders = [f"serve-{number * step}" for number in range(LOST)]
    pods = running.groups.pods
    old = {pods[name].metadata.uid for name in leaders}
    before = running.operator.costs()
    for name in leaders:
        await running.client.delete(Address(POD, "default", f"{name}-1"))

    async def are_back() -> bool:
        new = {pods[name].metadata.uid for name in leaders if name in pods}
        return len(new) == LOST and not new & old and await running.are_done("serve")

    return await running.timed(are_back, before)


async def _rest(running: Scene) -> Costs:
    await asyncio.sleep(2)
    before = running.operator.costs()
    await asyncio.sleep(REST_SECONDS)
    return running.operator.costs().less(before)


async def _compare(objects: int) -> list[Figure]:
    async with scene(SIZE, nodes=64, speed=SPEED) as running:
        await _warm(running, labels.STATEFULSETS)
        alone, few = Costs(), 5
        for number in range(few):
            name = f"alone-{number}"
            before = running.operator.costs()
            await _make(running, name, 2, labels.STATEFULSETS)
            costs = await running.timed(lambda name=name: running.are_done(name), before)
            alone.cpu += costs.cpu
            alone.requests += costs.requests
        before = running.operator.costs()
        names = [f"many-{number}" for number in range(objects)]
        await asyncio.gather(*(_make(running, name, 2, labels.STATEFULSETS) for name in names))
        many = await running.timed(lambda: running.are_done(*names), before)
    what = f"{objects} objects of 2 x {SIZE}"
    one = alone.cpu / few
    return [
        *_tell(f"{what}: all ready", many),
        Figure(f"{what}: operator CPU for each", many.cpu / objects * 1e3, "ms"),
        Figure("one object alone: operator CPU", one * 1e3, "ms", note=_list(alone.requests, few)),
        Figure("each of many against one alone", many.cpu / objects / one, "times", at_most=1.5),
    ]


def _tell(what: str, costs: Costs) -> list[Figure]:
    reviews = sum(number for path, number in costs.reviews.items() if path.endswith("v1-pod"))
    note = f"cluster {costs.server_cpu:.1f} s; {costs.looks} looks; {reviews} pod reviews"
    return [
        Figure(what, costs.seconds, "s", note=_list(costs.requests)),
        Figure(f"{what}, operator CPU", costs.cpu, "s", note=note),
    ]


def _list(requests: Counter[str], share: int = 1) -> str:
    told = {what: number for what, number in requests.most_common() if what not in _LEASE}
    return ", ".join(f"{number / share:g} {what}" for what, number in told.items())
