"""
What users ask for while the run goes on: other templates, other numbers, another object.

The user of an InferenceService also changes its form and its components, and an administrator the
model and runtime that it refers to.

``metric`` changes the load which an autoscaler of the workload sees: an annotation of the
HorizontalPodAutoscaler holds the metric ``load``, and every ten of it ask for one group. The first
such fault creates the autoscaler. Seeds do not draw it, since it edits the scale as other faults
do; scenarios may have it.
"""

import asyncio
from dataclasses import replace

from kohort.cluster.kinds import AUTOSCALER
from kohort.cluster.objects import Kind, Object, annotations_of
from kohort.simulation.harness import Harness
from kohort.simulation.inferenceservice import scenarios
from kohort.simulation.inferenceservice.forms import is_one_group
from kohort.simulation.inferenceservice.labels import MODE, MODEL, ONE_GROUP, RUNTIME, WORKLOAD
from kohort.simulation.scenario import BAD_IMAGE, FLEETING_IMAGE, NAME, NAMESPACE, Fault
from kohort.simulation.simulated_api import Template
from kohort.simulator.builtins.autoscalers.metrics import METRIC
from kohort.simulator.stages import CRASH_AFTER, NEVER_READY

EDITION = "example.com/edition"


async def _switch(harness: Harness, fault: Fault) -> None:
    """One group for all components, or a workload for each."""
    service = harness.truth.workload
    if service is not None:
        mode = None if is_one_group(service) else ONE_GROUP
        await harness.patch(WORKLOAD, NAME, {"metadata": {"annotations": {MODE: mode}}})


async def _reshape(harness: Harness, fault: Fault) -> None:
    """Remove a component that the service has, or add one that it has not."""
    service = harness.truth.workload
    if service is None:
        return
    made = scenarios.make_component(harness.scenario, fault.value, 1)
    held = None if service["spec"].get(fault.value) else made
    await harness.patch(WORKLOAD, NAME, {"spec": {fault.value: held}})


async def _edit_shared(harness: Harness, fault: Fault) -> None:
    """Change the runtime, or an annotation of the model that is copied to its pods."""
    if fault.value == "runtime":
        spec = scenarios.make_runtime(1 + fault.pick)["spec"]
        await harness.patch(RUNTIME, scenarios.RUNTIME_NAME, {"spec": spec})
        return
    held = harness.truth.objects[MODEL].get(scenarios.MODEL_NAME)
    if held is not None and annotations_of(held).get(EDITION) != str(fault.pick):
        change = {
            "metadata": {"annotations": {EDITION: str(fault.pick)}},
            "spec": {"vendor": f"v{fault.pick}"},
        }
        await harness.patch(MODEL, scenarios.MODEL_NAME, change)


GROUPS_MAX = 4
_LOAD = f"{METRIC}load"
_TARGET = {"type": "AverageValue", "averageValue": "10"}


async def _set_metric(harness: Harness, fault: Fault) -> None:
    said = {"annotations": {_LOAD: fault.value}}
    target = harness.api.target(AUTOSCALER, NAMESPACE, NAME)
    if harness.api.context.find(target) is None:
        await harness.create(AUTOSCALER, _make_autoscaler(harness.simulated.kind, said))
    else:
        await harness.patch(AUTOSCALER, NAME, {"metadata": said})


def _make_autoscaler(kind: Kind, said: Object) -> Object:
    target = {"apiVersion": kind.api_version, "kind": kind.name, "name": NAME}
    load = {"metric": {"name": "load"}, "target": _TARGET}
    metrics = [{"type": "External", "external": load}]
    spec = {"maxReplicas": GROUPS_MAX, "scaleTargetRef": target, "metrics": metrics}
    return {"metadata": {"name": NAME, **said}, "spec": spec}


async def _set_template(harness: Harness, wanted: Template) -> None:
    write, scenario = harness.simulated.edits.write_template, harness.scenario
    await harness.edit_workload(lambda workload: write(scenario, workload, wanted))


async def _roll(harness: Harness, fault: Fault) -> None:
    await _set_good(harness, fault)


async def _set_good(harness: Harness, fault: Fault, mends: str = "") -> None:
    notes = {NEVER_READY: None, CRASH_AFTER: None}
    await _set_template(harness, Template(f"engine:{fault.value}", notes, fault.pick, mends))


async def _bad_roll(harness: Harness, fault: Fault) -> None:
    notes = {NEVER_READY: "true", CRASH_AFTER: None}
    await _set_template(harness, Template(BAD_IMAGE, notes, fault.pick))
    await asyncio.sleep(fault.seconds)
    await _set_good(harness, replace(fault, value="1"), mends=BAD_IMAGE)


async def _fleeting_roll(harness: Harness, fault: Fault) -> None:
    # Ready half a second after its start, or after its model is loaded.
    ready = 4.2 if harness.scenario.gpus else 0.5
    serves = 3.5 if fault.pick % 3 == 2 else 1.0
    notes = {NEVER_READY: None, CRASH_AFTER: f"{ready + serves:g}s"}
    await _set_template(harness, Template(FLEETING_IMAGE, notes, fault.pick))
    await asyncio.sleep(fault.seconds)
    await _set_good(harness, fault, mends=FLEETING_IMAGE)


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


async def _pause(harness: Harness, fault: Fault) -> None:
    """Stop the rollout of a role; without a value it goes on after a while."""
    await _set_pause(harness, fault, is_paused=True)
    await asyncio.sleep(fault.seconds)
    if not fault.value:
        await _set_pause(harness, fault, is_paused=False)


async def _set_pause(harness: Harness, fault: Fault, *, is_paused: bool) -> None:
    write = harness.simulated.edits.write_pause
    await harness.edit_workload(lambda workload: write(workload, fault.pick, is_paused))


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
    "pause": _pause,
    "recreate": _recreate,
    "metric": _set_metric,
    "switch": _switch,
    "reshape": _reshape,
    "edit-shared": _edit_shared,
}
