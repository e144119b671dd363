"""
Operating: what workloads cost the operator, and what it writes for them.

Cluster and operator are two processes, each on a core of its own, and talk over
HTTPS, admission included. One large workload is made, rolled out and damaged, and
left alone.
"""

import asyncio
from collections import Counter

from bench.events import run
from bench.figures import Figure
from bench.operators import Costs, Scene, scene
from bench.snapshots import make_workload
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.read import POD
from kohort.cluster.port import Address, PatchForm

SIZE = 4
SPEED = 100
LOST = 10
REST_SECONDS = 5
_IMAGE = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
LEASE = ("read Lease", "update Lease", "patch Lease")


def measure(quick: bool, carrier: str = labels.STATEFULSETS) -> list[Figure]:
    """The life of a large workload."""
    return run(_live(carrier, 50 if quick else 250))


async def _live(carrier: str, groups: int) -> list[Figure]:
    async with scene(SIZE, nodes=64, speed=SPEED) as running:
        await warm(running, carrier)
        made = await _create(running, carrier, groups)
        rolled, fewest = await _roll_out(running, groups)
        mended = await _recover(running, groups)
        idle = await _rest(running)
    goal = groups - groups // 10
    requests = sum(number for what, number in idle.requests.items() if what not in LEASE)
    what = f"{groups} x {SIZE}"
    return [
        *list_figures(f"{what}, all ready", made),
        *_limit("all ready", made, groups),
        *list_figures(f"{what}, rolled out, 10%", rolled),
        *_limit("rolled out", rolled, groups),
        Figure("fewest groups ready meanwhile", fewest, "groups", at_least=goal),
        *list_figures(f"{what}, {LOST} lost workers", mended),
        *_limit("lost workers", mended, LOST, LOST),
        Figure(f"requests in {REST_SECONDS} s of rest", requests, "", at_most=0),
    ]


def _limit(what: str, costs: Costs, groups: int, more: int = 0) -> list[Figure]:
    """What may be written, compared with what was; ``more`` pods come from sets on their own."""
    asked = costs.requests
    reviews = _count_reviews(costs) - asked["dry_run_create Pod"]
    made = {
        "status writes": (asked["patch LeaderWorkerSet/status"], int(costs.seconds) + 2),
        "worker sets made": (asked["create StatefulSet"], groups),
        "leaders deleted": (asked["delete Pod"], groups),
        "pods made": (asked["create Pod"], groups * SIZE),
        "pod reviews, simulations aside": (reviews, groups * SIZE + more),
    }
    return [
        Figure(f"{what}: {name}", number, "", at_most=most)
        for name, (number, most) in made.items()
        if number
    ]


async def warm(running: Scene, carrier: str) -> None:
    """What is done once, at first use, is no part of what a workload costs."""
    await make(running, "warm", 1, carrier)
    await running.timed(lambda: running.are_done("warm"), running.operator.costs())


async def make(running: Scene, name: str, groups: int, carrier: str) -> None:
    """Ask for a workload."""
    body = make_workload(name, groups, SIZE, carrier)
    await running.client.create(labels.KIND, "default", body)


async def _create(running: Scene, carrier: str, groups: int) -> Costs:
    before = running.operator.costs()
    await make(running, "serve", groups, carrier)
    return await running.timed(lambda: running.are_done("serve"), before)


async def _roll_out(running: Scene, groups: int) -> tuple[Costs, int]:
    await asyncio.sleep(1)
    seen = running.groups
    others = seen.serving - groups
    seen.fewest = seen.serving
    before = running.operator.costs()
    change = [{"op": "replace", "path": _IMAGE, "value": "engine:2"}]
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


def _count_reviews(costs: Costs) -> int:
    return sum(number for path, number in costs.reviews.items() if path.endswith("v1-pod"))


def list_figures(what: str, costs: Costs) -> list[Figure]:
    """What something took and cost, and all that was asked of the server for it."""
    reviews = _count_reviews(costs)
    note = f"cluster {costs.server_cpu:.1f} s; {costs.looks} looks; {reviews} pod reviews"
    return [
        Figure(what, costs.seconds, "s", note=list_requests(costs.requests)),
        Figure(f"{what}, operator CPU", costs.cpu, "s", note=note),
    ]


def list_requests(requests: Counter[str], share: int = 1) -> str:
    """The requests by verb and kind, the lease aside."""
    told = {what: number for what, number in requests.most_common() if what not in LEASE}
    return ", ".join(f"{number / share:g} {what}" for what, number in told.items())
