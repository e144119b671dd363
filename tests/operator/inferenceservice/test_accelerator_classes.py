"""AcceleratorClasses list the nodes that have them."""

from model_lab import ModelLab, accelerator

from kohort.apis.inferenceservice import kinds as ome
from kohort.cluster import kinds

RACK = "topology.kohort.dev/rack"
FIRST = ["gpu-00", "gpu-01", "gpu-02", "gpu-03"]
KIND = ome.ACCELERATOR_CLASS


def first_rack(**capabilities: str) -> dict:
    discovery = {"nodeSelector": {RACK: "rack-0", "nvidia.com/gpu.present": "true"}}
    return accelerator(discovery=discovery, capabilities=capabilities)


def status(lab: ModelLab) -> dict:
    return lab.see(KIND, "h100").get("status") or {}


async def test_a_class_lists_the_nodes_with_all_its_labels(lab: ModelLab):
    await lab.apply(first_rack(memoryGB="80Gi"))
    await lab.run(2)
    assert status(lab) == {"nodes": FIRST, "availableNodes": 4}


async def test_a_node_with_too_little_memory_does_not_count(lab: ModelLab):
    await lab.apply(first_rack(memoryGB="3Ti"))
    await lab.run(2)
    assert status(lab) == {"availableNodes": 0}


async def test_a_class_without_labels_finds_nothing(lab: ModelLab):
    await lab.apply(accelerator())
    await lab.run(2)
    assert status(lab) == {"availableNodes": 0}


async def test_nodes_that_come_change_and_go_are_followed(lab: ModelLab):
    await lab.apply(first_rack())
    await lab.run(2)
    await lab.change(kinds.NODE, "gpu-00", {"metadata": {"labels": {RACK: "rack-1"}}})
    await lab.change(kinds.NODE, "gpu-07", {"metadata": {"labels": {RACK: "rack-0"}}})
    await lab.remove(kinds.NODE, "gpu-01")
    await lab.run(3)
    assert status(lab) == {"nodes": ["gpu-02", "gpu-03", "gpu-07"], "availableNodes": 3}


async def test_another_selector_finds_other_nodes(lab: ModelLab):
    await lab.apply(first_rack())
    await lab.run(2)
    selector = {"spec": {"discovery": {"nodeSelector": {RACK: "rack-9"}}}}
    await lab.change(KIND, "h100", selector)
    await lab.run(3)
    assert status(lab) == {"availableNodes": 0}
    assert [event["metadata"]["namespace"] for event in lab.events("NoNodes")] == ["default"]


async def test_a_class_that_upstream_held_goes_when_it_is_deleted(lab: ModelLab):
    held = first_rack()
    held["metadata"]["finalizers"] = ["acceleratorclasses.ome.io/finalizer"]
    await lab.apply(held)
    await lab.run(2)
    await lab.remove(KIND, "h100")
    await lab.run(2)
    assert lab.see(KIND, "h100") == {}


async def test_at_rest_a_class_costs_no_write(lab: ModelLab):
    await lab.apply(first_rack())
    await lab.run(5)
    before = lab.api.store.revision
    await lab.run(300)
    assert lab.api.store.revision == before
