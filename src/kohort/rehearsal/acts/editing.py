"""
What users ask for while the run goes on: other templates, other numbers, another object.
"""

import asyncio

from kohort.cluster.objects import Object
from kohort.rehearsal.checkers.truth import WORKLOAD
from kohort.rehearsal.play import (
    BAD_IMAGE,
    FLEETING_IMAGE,
    NAME,
    Fault,
    make_template,
    make_workload,
)
from kohort.rehearsal.stage import Stage
from kohort.simulator.stages import CRASH_AFTER, NEVER_READY


async def _edit(stage: Stage, spec: Object) -> None:
    await stage.patch(WORKLOAD, NAME, {"spec": spec})


async def _roll(stage: Stage, fault: Fault) -> None:
    template = make_template(f"engine:{fault.value}", gpus=stage.play.gpus)
    template["metadata"]["annotations"] = {NEVER_READY: None, CRASH_AFTER: None}
    await _edit(stage, {"leaderWorkerTemplate": {"workerTemplate": template}})


async def _bad_roll(stage: Stage, fault: Fault) -> None:
    template = make_template(BAD_IMAGE, is_bad=True, gpus=stage.play.gpus)
    template["metadata"]["annotations"] |= {CRASH_AFTER: None}
    await _edit(stage, {"leaderWorkerTemplate": {"workerTemplate": template}})
    await asyncio.sleep(fault.seconds)
    await _roll(stage, Fault("roll", value="1"))


async def _fleeting_roll(stage: Stage, fault: Fault) -> None:
    template = make_template(FLEETING_IMAGE, gpus=stage.play.gpus)
    # Ready half a second after its start, or after its model is loaded.
    ready = 4.2 if stage.play.gpus else 0.5
    serves = 3.5 if fault.pick % 3 == 2 else 1.0
    crash = {CRASH_AFTER: f"{ready + serves:g}s"}
    template["metadata"]["annotations"] = {NEVER_READY: None, **crash}
    await _edit(stage, {"leaderWorkerTemplate": {"workerTemplate": template}})
    await asyncio.sleep(fault.seconds)
    await _roll(stage, Fault("roll", value=fault.value))


async def _scale(stage: Stage, fault: Fault) -> None:
    replicas = {"spec": {"replicas": int(fault.value)}}
    # Half of them through the subresource, as autoscalers do it.
    await stage.patch(WORKLOAD, NAME, replicas, "scale" if fault.pick % 2 else "")


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


ACTIONS = {
    "roll": _roll,
    "bad-roll": _bad_roll,
    "fleeting-roll": _fleeting_roll,
    "scale": _scale,
    "resize": _resize,
    "hold": _hold,
    "recreate": _recreate,
}
