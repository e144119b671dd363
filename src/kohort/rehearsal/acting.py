"""
What the timed faults do to the cluster, to pods, and to the workload.

A fault that lasts undoes itself when its time is over. A fault that finds nothing
to act on does nothing: what exists at a time depends on everything before it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from kohort.cluster.objects import Kind, Object
from kohort.rehearsal.checkers.truth import KEY, WORKLOAD, is_leaving, labels_of
from kohort.rehearsal.play import NAME, Fault, make_template, make_workload
from kohort.rehearsal.stage import Stage
from kohort.simulator import kinds
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES, FAILED, NEVER_READY, KubeletStages

_CHILDREN = {
    "Pod": kinds.POD,
    "StatefulSet": kinds.STATEFUL_SET,
    "Service": kinds.SERVICE,
    "ControllerRevision": kinds.REVISION,
}
_PART_KINDS = {**_CHILDREN, "Node": kinds.NODE}
Act = Callable[[Stage, Fault], Awaitable[None]]


async def act(stage: Stage, fault: Fault) -> None:
    """Let one fault happen when its time has come; those of requests happen by themselves."""
    action = ACTIONS.get(fault.name)
    if action is not None:
        await asyncio.sleep(fault.at)
        await action(stage, fault)


async def _lag(stage: Stage, fault: Fault) -> None:
    until = stage.clock.elapsed() + fault.seconds
    lags = stage.trouble.lags
    lags[fault.kind] = max(lags.get(fault.kind, 0.0), until)
    await asyncio.sleep(fault.seconds)


async def _relist(stage: Stage, fault: Fault) -> None:
    await _lag(stage, fault)
    stage.trouble.breaks[fault.kind] = fault.name


async def _part_lag(stage: Stage, fault: Fault) -> None:
    kind = _PART_KINDS[fault.kind]
    seats = [seat for seat in stage.world.seats if seat.part.name == fault.value]
    for seat in seats:
        seat.hold(kind)
    await asyncio.sleep(fault.seconds)
    for seat in seats:
        seat.release(kind)


async def _jump(stage: Stage, fault: Fault) -> None:
    stage.time.jump += timedelta(seconds=float(fault.value))


async def _cut_off(stage: Stage, fault: Fault) -> None:
    for candidate in stage.candidates:
        if candidate.election is not None and candidate.election.is_held:
            stage.trouble.cut_off[candidate.writer] = stage.clock.elapsed() + fault.seconds
    await asyncio.sleep(fault.seconds)


def _find(stage: Stage, kind: Kind, pick: int) -> Object | None:
    """One of the workload's children that is not leaving."""
    held = stage.truth.objects[kind]
    names = sorted(n for n, o in held.items() if NAME in labels_of(o).values())
    staying = [name for name in names if not is_leaving(held[name])]
    return held[staying[pick % len(staying)]] if staying else None


async def _delete_child(stage: Stage, fault: Fault) -> None:
    kind = _CHILDREN[fault.value]
    found = _find(stage, kind, fault.pick)
    if found is not None:
        await stage.delete(kind, found["metadata"]["name"])


async def _strip_label(stage: Stage, fault: Fault) -> None:
    leaders = [group.leader["metadata"]["name"] for group in stage.truth.groups()]
    if leaders:
        name = leaders[fault.pick % len(leaders)]
        await stage.patch(kinds.POD, name, {"metadata": {"labels": {KEY: None}}})


async def _change_pod(stage: Stage, fault: Fault, patch: Object) -> str:
    found = _find(stage, kinds.POD, fault.pick)
    if found is None:
        return ""
    name: str = found["metadata"]["name"]
    await stage.patch(kinds.POD, name, patch)
    return name


async def _scale_child(stage: Stage, fault: Fault) -> None:
    if stage.truth.leader_set is not None:
        replicas = 1 + fault.pick % 3
        await stage.patch(kinds.STATEFUL_SET, NAME, {"spec": {"replicas": replicas}})


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
    name = _pick_node(stage, fault.pick)
    await stage.patch(kinds.NODE, name, {"metadata": {"annotations": {FAILED: "true"}}})
    await asyncio.sleep(fault.seconds)
    await stage.patch(kinds.NODE, name, {"metadata": {"annotations": {FAILED: None}}})


def _pick_node(stage: Stage, pick: int) -> str:
    names = [name for _, name in stage.api.store.bucket("nodes").keys]
    return names[pick % len(names)]


async def _cordon(stage: Stage, fault: Fault) -> None:
    names = [name for _, name in stage.api.store.bucket("nodes").keys]
    for name in names:
        await stage.patch(kinds.NODE, name, {"spec": {"unschedulable": True}})
    await asyncio.sleep(fault.seconds)
    for name in names:
        await stage.patch(kinds.NODE, name, {"spec": {"unschedulable": None}})


async def _evict(stage: Stage, fault: Fault) -> None:
    found = _find(stage, kinds.POD, fault.pick)
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


async def _edit(stage: Stage, spec: Object) -> None:
    await stage.patch(WORKLOAD, NAME, {"spec": spec})


async def _roll(stage: Stage, fault: Fault) -> None:
    template = make_template(f"engine:{fault.value}")
    template["metadata"]["annotations"] = {NEVER_READY: None}
    await _edit(stage, {"leaderWorkerTemplate": {"workerTemplate": template}})


async def _bad_roll(stage: Stage, fault: Fault) -> None:
    template = make_template("engine:bad", is_bad=True)
    await _edit(stage, {"leaderWorkerTemplate": {"workerTemplate": template}})
    await asyncio.sleep(fault.seconds)
    await _roll(stage, Fault("roll", value="1"))


async def _scale(stage: Stage, fault: Fault) -> None:
    await _edit(stage, {"replicas": int(fault.value)})


async def _resize(stage: Stage, fault: Fault) -> None:
    await _edit(stage, {"leaderWorkerTemplate": {"size": int(fault.value)}})


async def _hold(stage: Stage, fault: Fault) -> None:
    await _set_partition(stage, 1 + fault.pick % 2)
    await asyncio.sleep(fault.seconds)
    await _set_partition(stage, 0)


async def _set_partition(stage: Stage, partition: int) -> None:
    rolling = {"rollingUpdateConfiguration": {"partition": partition}}
    await _edit(stage, {"rolloutStrategy": rolling})


async def _recreate(stage: Stage, fault: Fault) -> None:
    await stage.delete(WORKLOAD, NAME)
    await asyncio.sleep(fault.pick % 3 * 0.4)
    await stage.create(WORKLOAD, make_workload(stage.play))


ACTIONS: dict[str, Act] = {
    "lag": _lag,
    "relist": _relist,
    "break": _relist,
    "part-lag": _part_lag,
    "clock-jump": _jump,
    "partitioned": _cut_off,
    "delete-child": _delete_child,
    "strip-label": _strip_label,
    "scale-child": _scale_child,
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
    "roll": _roll,
    "bad-roll": _bad_roll,
    "scale": _scale,
    "resize": _resize,
    "hold": _hold,
    "recreate": _recreate,
}
