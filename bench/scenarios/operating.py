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
from bench.workloads import SIZE, leader_worker_sets
from kohort.apis.leaderworkerset import labels
from kohort.cluster.kinds import POD
from kohort.cluster.port import Address

SPEED = 100
LOST = 10
REST_SECONDS = 5
LEASE = ("read Lease", "update Lease", "patch Lease")


def measure(quick: bool, carrier: str = labels.STATEFULSETS) -> list[Figure]:
    """The life of a large workload."""
    return run(_live(carrier, 50 if quick else 250))


async def _live(carrier: str, groups: int) -> list[Figure]:
    async with scene(leader_worker_sets(carrier), nodes=64, speed=SPEED) as running:
        await running.warm()
        made = await create(running, groups)
        rolled, fewest = await roll_out(running, groups)
        mended = await _recover(running, groups)
        idle = await rest(running)
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


async def create(running: Scene, groups: int, name: str = "serve") -> Costs:
    """Make one workload; what it costs until it is ready."""
    before = running.operator.costs()
    await running.make(name, groups)
    return await running.timed(lambda: running.are_done(name), before)


async def roll_out(running: Scene, groups: int) -> tuple[Costs, int]:
    """Give it another image; what that costs, and how few groups served meanwhile."""
    await asyncio.sleep(1)
    seen = running.groups
    others = seen.serving - groups
    seen.fewest = seen.serving
    before = running.operator.costs()
    await running.edit("serve", running.api.edit_image("engine:2"))
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


async def rest(running: Scene) -> Costs:
    """Leave everything alone; what that costs."""
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
