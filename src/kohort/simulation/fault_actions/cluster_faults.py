"""
What happens to nodes, pods, admission and quotas.
"""

import asyncio

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, name_of, uid_of
from kohort.simulation.fault_actions.targets import find_child, pick_node
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import Fault
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES, FAILED, NEVER_READY, KubeletStages

COST = "controller.kubernetes.io/pod-deletion-cost"


async def _change_pod(harness: Harness, fault: Fault, patch: Object) -> None:
    found = find_child(harness, kinds.POD, fault.pick)
    if found is not None:
        await harness.patch(kinds.POD, name_of(found), patch)


async def _webhook_down(harness: Harness, fault: Fault) -> None:
    harness.gate.down_since = harness.clock.elapsed()
    await asyncio.sleep(fault.seconds)
    harness.gate.down_since = None


async def _quota(harness: Harness, fault: Fault) -> None:
    harness.gate.is_full = True
    await asyncio.sleep(fault.seconds)
    harness.gate.is_full = False


async def _slow(harness: Harness, fault: Fault) -> None:
    name = "stop" if fault.name == "slow-stop" else "pull"
    harness.kubelet.stages = KubeletStages().with_seconds(**{name: fault.seconds})
    await asyncio.sleep(fault.seconds)
    harness.kubelet.stages = KubeletStages()


async def _node_loss(harness: Harness, fault: Fault) -> None:
    name = pick_node(harness, fault.pick)
    await harness.patch(kinds.NODE, name, {"metadata": {"annotations": {FAILED: "true"}}})
    await asyncio.sleep(fault.seconds)
    await harness.patch(kinds.NODE, name, {"metadata": {"annotations": {FAILED: None}}})


async def _cordon(harness: Harness, fault: Fault) -> None:
    names = [name for _, name in harness.api.store.bucket("nodes").keys]
    for name in names:
        await harness.patch(kinds.NODE, name, {"spec": {"unschedulable": True}})
    await asyncio.sleep(fault.seconds)
    for name in names:
        await harness.patch(kinds.NODE, name, {"spec": {"unschedulable": None}})


async def _evict(harness: Harness, fault: Fault) -> None:
    found = find_child(harness, kinds.POD, fault.pick)
    if found is not None:
        grace = 0 if fault.name == "vanish" else None
        await harness.delete(kinds.POD, found["metadata"]["name"], grace)


async def _crash_loop(harness: Harness, fault: Fault) -> None:
    notes = {CRASH_AFTER: "1s", CRASH_TIMES: str(1 + fault.pick % 2)}
    await _change_pod(harness, fault, {"metadata": {"annotations": notes}})


async def _unready(harness: Harness, fault: Fault) -> None:
    found = find_child(harness, kinds.POD, fault.pick)
    if found is None or NEVER_READY in annotations_of(found):
        return  # A pod of a template that never serves is not ready, and does not become so.
    name, uid = name_of(found), uid_of(found)
    await harness.patch(kinds.POD, name, {"metadata": {"annotations": {NEVER_READY: "true"}}})
    await asyncio.sleep(fault.seconds)
    held = harness.truth.objects[kinds.POD].get(name)
    if held is not None and uid_of(held) == uid:
        await harness.patch(kinds.POD, name, {"metadata": {"annotations": {NEVER_READY: None}}})


async def _set_cost(harness: Harness, fault: Fault) -> None:
    await _change_pod(harness, fault, {"metadata": {"annotations": {COST: fault.value}}})


ACTIONS = {
    "cost": _set_cost,
    "webhook-down": _webhook_down,
    "quota": _quota,
    "slow-stop": _slow,
    "slow-pull": _slow,
    "node-loss": _node_loss,
    "cordon": _cordon,
    "evict": _evict,
    "vanish": _evict,
    "crash-loop": _crash_loop,
    "unready": _unready,
}
