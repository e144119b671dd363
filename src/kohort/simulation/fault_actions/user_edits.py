"""
What users ask for while the run goes on: other templates, other numbers, another object.
"""

import asyncio

from kohort.cluster.objects import Object
from kohort.simulation.checkers.truth import WORKLOAD
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import (
    BAD_IMAGE,
    FLEETING_IMAGE,
    NAME,
    Fault,
    make_template,
    make_workload,
)
from kohort.simulator.stages import CRASH_AFTER, NEVER_READY


async def _edit(harness: Harness, spec: Object) -> None:
    await harness.patch(WORKLOAD, NAME, {"spec": spec})


async def _roll(harness: Harness, fault: Fault) -> None:
    template = make_template(f"engine:{fault.value}", gpus=harness.scenario.gpus)
    template["metadata"]["annotations"] = {NEVER_READY: None, CRASH_AFTER: None}
    await _edit(harness, {"leaderWorkerTemplate": {"workerTemplate": template}})


async def _bad_roll(harness: Harness, fault: Fault) -> None:
    template = make_template(BAD_IMAGE, is_bad=True, gpus=harness.scenario.gpus)
    template["metadata"]["annotations"] |= {CRASH_AFTER: None}
    await _edit(harness, {"leaderWorkerTemplate": {"workerTemplate": template}})
    await asyncio.sleep(fault.seconds)
    await _roll(harness, Fault("roll", value="1"))


async def _fleeting_roll(harness: Harness, fault: Fault) -> None:
    template = make_template(FLEETING_IMAGE, gpus=harness.scenario.gpus)
    # Ready half a second after its start, or after its model is loaded.
    ready = 4.2 if harness.scenario.gpus else 0.5
    serves = 3.5 if fault.pick % 3 == 2 else 1.0
    crash = {CRASH_AFTER: f"{ready + serves:g}s"}
    template["metadata"]["annotations"] = {NEVER_READY: None, **crash}
    await _edit(harness, {"leaderWorkerTemplate": {"workerTemplate": template}})
    await asyncio.sleep(fault.seconds)
    await _roll(harness, Fault("roll", value=fault.value))


async def _scale(harness: Harness, fault: Fault) -> None:
    replicas = {"spec": {"replicas": int(fault.value)}}
    # Half of them through the subresource, as autoscalers do it.
    await harness.patch(WORKLOAD, NAME, replicas, "scale" if fault.pick % 2 else "")


async def _resize(harness: Harness, fault: Fault) -> None:
    await _edit(harness, {"leaderWorkerTemplate": {"size": int(fault.value)}})


async def _hold(harness: Harness, fault: Fault) -> None:
    await _set_partition(harness, 1 + fault.pick % 2)
    await asyncio.sleep(fault.seconds)
    await _set_partition(harness, 0)


async def _set_partition(harness: Harness, partition: int) -> None:
    rolling = {"rollingUpdateConfiguration": {"partition": partition}}
    await _edit(harness, {"rolloutStrategy": rolling})


async def _recreate(harness: Harness, fault: Fault) -> None:
    await harness.delete(WORKLOAD, NAME)
    await asyncio.sleep(fault.pick % 3 * 0.4)
    await harness.create(WORKLOAD, make_workload(harness.scenario))


ACTIONS = {
    "roll": _roll,
    "bad-roll": _bad_roll,
    "fleeting-roll": _fleeting_roll,
    "scale": _scale,
    "resize": _resize,
    "hold": _hold,
    "recreate": _recreate,
}
