"""
What happens to gangs: to their objects, their queue, their domains, and whoever places them.
"""

import asyncio

from kohort.apis.gangs.definitions.volcano import QUEUE
from kohort.cluster.objects import Kind
from kohort.rehearsal.checkers.gangs.words import BY_KIND, HYPER_NODE, find_node
from kohort.rehearsal.checkers.truth import WORKLOAD, is_leaving
from kohort.rehearsal.gangs.furniture import NODE_GPUS
from kohort.rehearsal.gangs.telling import write_requests, write_topology
from kohort.rehearsal.play import NAME, Fault
from kohort.rehearsal.stage import Stage
from kohort.simulator import kinds
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.world.seats import Seat

GANG = "kohort.dev/gang"
LATE_SECONDS = 0.3


def _scheduler(stage: Stage) -> Seat:
    return next(seat for seat in stage.world.seats if isinstance(seat.part, Scheduler))


def _find_gang(stage: Stage, pick: int) -> tuple[Kind, str] | None:
    """One of the gangs that are there."""
    held = stage.truth.objects
    found = [(kind, name) for kind in BY_KIND for name in sorted(held.get(kind, ()))]
    return found[pick % len(found)] if found else None


async def _refuse_binds(stage: Stage, fault: Fault) -> None:
    stage.api.refused_each = int(fault.value)
    await asyncio.sleep(fault.seconds)
    stage.api.refused_each = 0


async def _bind_late(stage: Stage, fault: Fault) -> None:
    """Pods reach the scheduler before the news that their gang has gone."""
    seat = _scheduler(stage)
    for kind in (kinds.POD, *BY_KIND):
        seat.hold(kind)
    await asyncio.sleep(fault.seconds)
    await _lose_gang(stage, fault)
    seat.release(kinds.POD)
    await asyncio.sleep(LATE_SECONDS)
    for kind in BY_KIND:
        seat.release(kind)


async def _take_scheduler_away(stage: Stage, fault: Fault) -> None:
    seat = _scheduler(stage)
    held = tuple(seat.part.kinds)
    for kind in held:
        seat.hold(kind)
    await asyncio.sleep(fault.seconds)
    for kind in held:
        seat.release(kind)


async def _preempt(stage: Stage, fault: Fault) -> None:
    pods = stage.truth.objects[kinds.POD]
    placed = sorted(n for n, pod in pods.items() if find_node(pod) and not is_leaving(pod))
    if placed:
        await stage.delete(kinds.POD, placed[fault.pick % len(placed)])


async def _lose_gang(stage: Stage, fault: Fault) -> None:
    found = _find_gang(stage, fault.pick)
    if found is not None:
        await stage.delete(*found)


async def _close_queue(stage: Stage, fault: Fault) -> None:
    await stage.patch(QUEUE, "default", {"status": {"state": "Closed"}}, "status")
    await asyncio.sleep(fault.seconds)
    await stage.patch(QUEUE, "default", {"status": {"state": "Open"}}, "status")


async def _edit_domain(stage: Stage, fault: Fault) -> None:
    domains = stage.truth.objects.get(HYPER_NODE, {})
    names = sorted(name for name, found in domains.items() if found["spec"]["tier"] == 1)
    if not names:
        return
    name = names[fault.pick % len(names)]
    members = domains[name]["spec"]["members"]
    if len(members) < 2:
        return
    await stage.patch(HYPER_NODE, name, {"spec": {"members": members[:1]}})
    await asyncio.sleep(fault.seconds)
    await stage.patch(HYPER_NODE, name, {"spec": {"members": members}})


async def _crowd(stage: Stage, fault: Fault) -> None:
    """Room is there in pieces: whoever counts it by nodes alone spreads gangs over them."""
    nodes = [name for _, name in stage.api.store.bucket("nodes").keys][fault.pick % 2 :: 2]
    requests = write_requests(NODE_GPUS // 2)
    for node in nodes:
        container = {"name": "other", "image": "other:1", **requests}
        spec = {"nodeName": node, "containers": [container]}
        await stage.create(kinds.POD, {"metadata": {"name": f"other-{node}"}, "spec": spec})
    await asyncio.sleep(fault.seconds)
    for node in nodes:
        await stage.delete(kinds.POD, f"other-{node}", 0)


async def _retell(stage: Stage, fault: Fault) -> None:
    stage.tell(fault.value.format(stage.play.gang))
    for candidate in stage.candidates:
        candidate.kill(fault.seconds)


async def _change_topology(stage: Stage, fault: Fault) -> None:
    topology = write_topology(fault.value)
    if topology is not None:
        topology.setdefault("highestTierAllowed", None)
    await stage.patch(WORKLOAD, NAME, {"spec": {"networkTopology": topology}})


async def _choose_gang(stage: Stage, fault: Fault) -> None:
    notes = {GANG: fault.value or None}
    await stage.patch(WORKLOAD, NAME, {"metadata": {"annotations": notes}})


ACTIONS = {
    "partial-bind": _refuse_binds,
    "late-bind": _bind_late,
    "scheduler-away": _take_scheduler_away,
    "preempt": _preempt,
    "lose-gang": _lose_gang,
    "close-queue": _close_queue,
    "edit-domain": _edit_domain,
    "crowd": _crowd,
    "retell": _retell,
    "retopology": _change_topology,
    "choose-gang": _choose_gang,
}
