"""
What happens to gangs: to their objects, their queue, their domains, and the scheduler.
"""

import asyncio

from kohort.apis.gangs.dialects.volcano import QUEUE
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, is_leaving
from kohort.simulation.checkers.gang_dialects import BY_KIND, HYPER_NODE, find_node
from kohort.simulation.gang_clusters import NODE_GPUS, write_requests, write_topology
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import NAME, Fault
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.world.component_runner import ComponentRunner

GANG = "kohort.dev/gang"
LATE_SECONDS = 0.3


def _scheduler(harness: Harness) -> ComponentRunner:
    return next(
        runner for runner in harness.world.runners if isinstance(runner.component, Scheduler)
    )


def _find_gang(harness: Harness, pick: int) -> tuple[Kind, str] | None:
    """One of the gangs that are there."""
    held = harness.truth.objects
    found = [(kind, name) for kind in BY_KIND for name in sorted(held.get(kind, ()))]
    return found[pick % len(found)] if found else None


async def _refuse_binds(harness: Harness, fault: Fault) -> None:
    harness.api.refused_each = int(fault.value)
    await asyncio.sleep(fault.seconds)
    harness.api.refused_each = 0


async def _bind_late(harness: Harness, fault: Fault) -> None:
    """Pods reach the scheduler before the news that their gang has gone."""
    runner = _scheduler(harness)
    for kind in (kinds.POD, *BY_KIND):
        runner.hold(kind)
    await asyncio.sleep(fault.seconds)
    await _lose_gang(harness, fault)
    runner.release(kinds.POD)
    await asyncio.sleep(LATE_SECONDS)
    for kind in BY_KIND:
        runner.release(kind)


async def _take_scheduler_away(harness: Harness, fault: Fault) -> None:
    runner = _scheduler(harness)
    held = tuple(runner.component.kinds)
    for kind in held:
        runner.hold(kind)
    await asyncio.sleep(fault.seconds)
    for kind in held:
        runner.release(kind)


async def _preempt(harness: Harness, fault: Fault) -> None:
    pods = harness.truth.objects[kinds.POD]
    placed = sorted(n for n, pod in pods.items() if find_node(pod) and not is_leaving(pod))
    if placed:
        await harness.delete(kinds.POD, placed[fault.pick % len(placed)])


async def _lose_gang(harness: Harness, fault: Fault) -> None:
    found = _find_gang(harness, fault.pick)
    if found is not None:
        await harness.delete(*found)


async def _close_queue(harness: Harness, fault: Fault) -> None:
    await harness.patch(QUEUE, "default", {"status": {"state": "Closed"}}, "status")
    await asyncio.sleep(fault.seconds)
    await harness.patch(QUEUE, "default", {"status": {"state": "Open"}}, "status")


async def _edit_domain(harness: Harness, fault: Fault) -> None:
    domains = harness.truth.objects.get(HYPER_NODE, {})
    names = sorted(name for name, found in domains.items() if found["spec"]["tier"] == 1)
    if not names:
        return
    name = names[fault.pick % len(names)]
    members = domains[name]["spec"]["members"]
    if len(members) < 2:
        return
    await harness.patch(HYPER_NODE, name, {"spec": {"members": members[:1]}})
    await asyncio.sleep(fault.seconds)
    await harness.patch(HYPER_NODE, name, {"spec": {"members": members}})


async def _crowd(harness: Harness, fault: Fault) -> None:
    """Room is there in pieces: a count by nodes alone would spread gangs over them."""
    nodes = [name for _, name in harness.api.store.bucket("nodes").keys][fault.pick % 2 :: 2]
    requests = write_requests(NODE_GPUS // 2)
    for node in nodes:
        container = {"name": "other", "image": "other:1", **requests}
        spec = {"nodeName": node, "containers": [container]}
        await harness.create(kinds.POD, {"metadata": {"name": f"other-{node}"}, "spec": spec})
    await asyncio.sleep(fault.seconds)
    for node in nodes:
        await harness.delete(kinds.POD, f"other-{node}", 0)


async def _retell(harness: Harness, fault: Fault) -> None:
    harness.set_gangs(fault.value.format(harness.scenario.gang))
    for candidate in harness.candidates:
        candidate.kill(fault.seconds)


async def _change_topology(harness: Harness, fault: Fault) -> None:
    topology = write_topology(fault.value)
    if topology is not None:
        topology.setdefault("highestTierAllowed", None)
    await harness.patch(harness.simulated.kind, NAME, {"spec": {"networkTopology": topology}})


async def _choose_gang(harness: Harness, fault: Fault) -> None:
    notes = {GANG: fault.value or None}
    await harness.patch(harness.simulated.kind, NAME, {"metadata": {"annotations": notes}})


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
