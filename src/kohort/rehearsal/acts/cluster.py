"""
What happens to nodes, pods, admission and quotas.
"""

import asyncio

from kohort.cluster.objects import Object
from kohort.rehearsal.acts.finding import find_child, pick_node
from kohort.rehearsal.play import Fault
from kohort.rehearsal.stage import Stage
from kohort.simulator import kinds
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES, FAILED, NEVER_READY, KubeletStages


async def _change_pod(stage: Stage, fault: Fault, patch: Object) -> str:
    found = find_child(stage, kinds.POD, fault.pick)
    if found is None:
        return ""
    name: str = found["metadata"]["name"]
    await stage.patch(kinds.POD, name, patch)
    return name


async def _webhook_down(stage: Stage, fault: Fault) -> None:
    stage.gate.is_down = True
    await asyncio.sleep(fault.seconds)
    stage.gate.is_down = False


async def _quota(stage: Stage, fault: Fault) -> None:
    stage.gate.is_full = True
    await asyncio.sleep(fault.seconds)
    stage.gate.is_full = False


async def _slow(stage: Stage, fault: Fault) -> None:
    name = "stop" if fault.name == "slow-stop" else "pull"
    stage.kubelet.stages = KubeletStages().with_seconds(**{name: fault.seconds})
    await asyncio.sleep(fault.seconds)
    stage.kubelet.stages = KubeletStages()


async def _node_loss(stage: Stage, fault: Fault) -> None:
    name = pick_node(stage, fault.pick)
    await stage.patch(kinds.NODE, name, {"metadata": {"annotations": {FAILED: "true"}}})
    await asyncio.sleep(fault.seconds)
    await stage.patch(kinds.NODE, name, {"metadata": {"annotations": {FAILED: None}}})


async def _cordon(stage: Stage, fault: Fault) -> None:
    names = [name for _, name in stage.api.store.bucket("nodes").keys]
    for name in names:
        await stage.patch(kinds.NODE, name, {"spec": {"unschedulable": True}})
    await asyncio.sleep(fault.seconds)
    for name in names:
        await stage.patch(kinds.NODE, name, {"spec": {"unschedulable": None}})


async def _evict(stage: Stage, fault: Fault) -> None:
    found = find_child(stage, kinds.POD, fault.pick)
    if found is not None:
        grace = 0 if fault.name == "vanish" else None
        await stage.delete(kinds.POD, found["metadata"]["name"], grace)


async def _crash_loop(stage: Stage, fault: Fault) -> None:
    notes = {CRASH_AFTER: "1s", CRASH_TIMES: str(1 + fault.pick % 2)}
    await _change_pod(stage, fault, {"metadata": {"annotations": notes}})


async def _unready(stage: Stage, fault: Fault) -> None:
    name = await _change_pod(stage, fault, {"metadata": {"annotations": {NEVER_READY: "true"}}})
    await asyncio.sleep(fault.seconds)
    if name in stage.truth.objects[kinds.POD]:
        await stage.patch(kinds.POD, name, {"metadata": {"annotations": {NEVER_READY: None}}})


ACTIONS = {
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
