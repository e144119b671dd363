"""
What users ask for while the run goes on: other templates, other numbers, another object.
"""

import asyncio

from kohort.simulation.harness import Harness
from kohort.simulation.scenario import BAD_IMAGE, FLEETING_IMAGE, NAME, Fault
from kohort.simulation.simulated_api import Template
from kohort.simulator.stages import CRASH_AFTER, NEVER_READY


async def _set_template(harness: Harness, wanted: Template) -> None:
    write, scenario = harness.simulated.edits.write_template, harness.scenario
    await harness.edit_workload(lambda workload: write(scenario, workload, wanted))


async def _roll(harness: Harness, fault: Fault) -> None:
    notes = {NEVER_READY: None, CRASH_AFTER: None}
    await _set_template(harness, Template(f"engine:{fault.value}", notes, fault.pick))


async def _bad_roll(harness: Harness, fault: Fault) -> None:
    notes = {NEVER_READY: "true", CRASH_AFTER: None}
    await _set_template(harness, Template(BAD_IMAGE, notes, fault.pick))
    await asyncio.sleep(fault.seconds)
    await _roll(harness, Fault("roll", value="1", pick=fault.pick))


async def _fleeting_roll(harness: Harness, fault: Fault) -> None:
    # Ready half a second after its start, or after its model is loaded.
    ready = 4.2 if harness.scenario.gpus else 0.5
    serves = 3.5 if fault.pick % 3 == 2 else 1.0
    notes = {NEVER_READY: None, CRASH_AFTER: f"{ready + serves:g}s"}
    await _set_template(harness, Template(FLEETING_IMAGE, notes, fault.pick))
    await asyncio.sleep(fault.seconds)
    await _roll(harness, Fault("roll", value=fault.value, pick=fault.pick))


async def _scale(harness: Harness, fault: Fault) -> None:
    replicas = {"spec": {"replicas": int(fault.value)}}
    # Half of them through the subresource, as autoscalers do it.
    await harness.patch(harness.simulated.kind, NAME, replicas, "scale" if fault.pick % 2 else "")


async def _resize(harness: Harness, fault: Fault) -> None:
    write = harness.simulated.edits.write_size
    await harness.edit_workload(lambda workload: write(workload, int(fault.value)))


async def _hold(harness: Harness, fault: Fault) -> None:
    await _set_partition(harness, 1 + fault.pick % 2)
    await asyncio.sleep(fault.seconds)
    await _set_partition(harness, 0)


async def _set_partition(harness: Harness, partition: int) -> None:
    write = harness.simulated.edits.write_partition
    await harness.edit_workload(lambda workload: write(workload, partition))


async def _scale_role(harness: Harness, fault: Fault) -> None:
    edits = harness.simulated.edits
    scaled = edits.find_scaled(harness.scenario, fault.pick)
    if scaled is not None:
        # An autoscaler does it.
        kind, name = scaled
        await harness.patch(kind, name, {"spec": {"replicas": int(fault.value)}}, "scale")
    else:
        write, count = edits.write_role_scale, int(fault.value)
        await harness.edit_workload(lambda workload: write(workload, count, fault.pick))


async def _recreate(harness: Harness, fault: Fault) -> None:
    await harness.delete(harness.simulated.kind, NAME)
    await asyncio.sleep(fault.pick % 3 * 0.4)
    await harness.create_workload()


ACTIONS = {
    "roll": _roll,
    "bad-roll": _bad_roll,
    "fleeting-roll": _fleeting_roll,
    "scale": _scale,
    "scale-role": _scale_role,
    "resize": _resize,
    "hold": _hold,
    "recreate": _recreate,
}
