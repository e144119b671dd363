"""What counts as stopped: pods that may run, whether their Deployment is still there or not."""

import pytest
from apply_lab import ApplyLab

from kohort.cluster import kinds
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.port import Address
from kohort.controller.install.names import LABELS
from kohort.takeover.steps import TookTooLong
from upstream_controllers import OTHERS

LWS = OTHERS["lws"]


async def open_lab() -> ApplyLab:
    return await ApplyLab("lws").open_with_others()


async def add_ended_pod(lab: ApplyLab, phase: str, labels: dict[str, str]) -> None:
    """What an eviction leaves: a pod that no process belongs to."""
    name = f"ended-{phase.lower()}-{len(labels)}"
    spec = {
        "containers": [{"name": "manager", "image": "x"}],
        "schedulingGates": [{"name": "example.com/never"}],
    }
    metadata = {"name": name, "namespace": LWS.namespace, "labels": labels}
    await lab.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    address = Address(kinds.POD, LWS.namespace, name, "status")
    await lab.door.patch(address, {"status": {"phase": phase}})


async def test_pods_that_outlive_their_deployment_are_waited_for():
    lab = await open_lab()
    assert await lab.is_killed(lab.take_over(1))  # the record is stored, nothing is stopped
    place = Address(DEPLOYMENT, LWS.namespace, LWS.deployment)
    await lab.door.delete(place, propagation="Orphan")
    await lab.run(5)
    with pytest.raises(TookTooLong, match="still waits for the end of pod lws-system/lws-contr"):
        await lab.take_over()
    assert "ours" not in lab.writers
    assert not (await lab.record() or {})["has_stopped"]
    await lab.close()


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
async def test_pods_that_have_ended_block_neither_stop_nor_undo(phase: str):
    lab = await open_lab()
    before = await lab.picture()
    await add_ended_pod(lab, phase, dict(LWS.labels))
    await add_ended_pod(lab, phase, dict(LABELS))
    await lab.take_over()
    assert await lab.undo()
    assert await lab.picture() == before
    await lab.close()


async def test_pods_of_a_controller_that_came_back_have_ended_before_ours_starts():
    """It was stopped, an autoscaler brought it back, and its user stopped it again."""
    lab = await open_lab()
    assert await lab.is_killed(lab.take_over(3))
    assert (await lab.record() or {})["has_stopped"]
    await lab.scale("lws", 1)
    await lab.until(lambda: "lws" in lab.writers, 60)
    place = Address(DEPLOYMENT, LWS.namespace, LWS.deployment)
    await lab.door.delete(place, propagation="Orphan")
    await lab.run(5)
    with pytest.raises(TookTooLong, match="still waits for the end of pod lws-system/lws-contr"):
        await lab.take_over()
    assert "ours" not in lab.writers
    assert lab.most_writers == 1
    await lab.close()
