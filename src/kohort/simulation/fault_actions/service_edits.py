"""
Edits of an InferenceService by its user, and of its model and runtime by an administrator.
"""

from kohort.simulation.checkers.truth import annotations_of
from kohort.simulation.harness import Harness
from kohort.simulation.inferenceservice import manifests
from kohort.simulation.inferenceservice.forms import is_one_group
from kohort.simulation.inferenceservice.labels import MODE, MODEL, ONE_GROUP, RUNTIME, WORKLOAD
from kohort.simulation.scenario import NAME, Fault

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
    made = manifests.make_component(harness.scenario, fault.value, 1)
    held = None if service["spec"].get(fault.value) else made
    await harness.patch(WORKLOAD, NAME, {"spec": {fault.value: held}})


async def _edit_shared(harness: Harness, fault: Fault) -> None:
    """Change the runtime, or an annotation of the model that is copied to its pods."""
    if fault.value == "runtime":
        spec = manifests.make_runtime(1 + fault.pick)["spec"]
        await harness.patch(RUNTIME, manifests.RUNTIME_NAME, {"spec": spec})
        return
    held = harness.truth.objects[MODEL].get(manifests.MODEL_NAME)
    if held is not None and annotations_of(held).get(EDITION) != str(fault.pick):
        change = {
            "metadata": {"annotations": {EDITION: str(fault.pick)}},
            "spec": {"vendor": f"v{fault.pick}"},
        }
        await harness.patch(MODEL, manifests.MODEL_NAME, change)


ACTIONS = {"switch": _switch, "reshape": _reshape, "edit-shared": _edit_shared}
