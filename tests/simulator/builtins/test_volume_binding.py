"""How claims get volumes, and how both go."""

from typing import Any

import pytest
from builtins_world import World, messages

from kohort.cluster.kinds import CLAIM, POD, STORAGE_CLASS, VOLUME
from kohort.cluster.objects import Object
from kohort.simulator.builtins.volumes import Volumes

PROTECTION = "kubernetes.io/pvc-protection"
# The node has stopped all containers; something else holds the pod.
LEAVING = {
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 0,
    "finalizers": ["foregroundDeletion"],
}


def world_with(**storage_class: Any) -> World:
    world = World(Volumes())
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    metadata = {"name": "standard", "annotations": annotations}
    base = {"metadata": metadata, "provisioner": "sim", "reclaimPolicy": "Delete"}
    world.create(STORAGE_CLASS, {**base, **storage_class})
    world.settle()
    return world


def claim(world: World, name: str = "c", **spec: Any) -> Object:
    resources = {"requests": {"storage": "1Gi"}}
    body = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    world.create(CLAIM, {"metadata": {"name": name, "finalizers": [PROTECTION]}, "spec": body})
    world.settle()
    return world.read(CLAIM, name)


def use(world: World, volume: Object | None = None) -> None:
    volume = volume or {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    world.create(POD, {"metadata": {"name": "p"}, "spec": {"volumes": [volume]}})
    world.settle()


def test_a_claim_gets_a_volume_and_both_are_bound():
    world = world_with()
    obj = claim(world)
    name = f"pvc-{obj['metadata']['uid']}"
    assert obj["spec"]["volumeName"] == name
    assert obj["spec"]["storageClassName"] == "standard"
    assert obj["status"] == {
        "phase": "Bound",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
    }
    assert obj["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
        "volume.beta.kubernetes.io/storage-provisioner": "sim",
        "volume.kubernetes.io/storage-provisioner": "sim",
    }
    volume = world.read(VOLUME, name)
    assert volume["status"]["phase"] == "Bound"
    assert volume["spec"]["claimRef"]["uid"] == obj["metadata"]["uid"]
    assert volume["metadata"]["annotations"] == {"pv.kubernetes.io/provisioned-by": "sim"}


def test_a_claim_may_wait_for_the_node_of_its_first_pod():
    world = world_with(volumeBindingMode="WaitForFirstConsumer")
    assert "volumeName" not in claim(world)["spec"]
    use(world)
    assert "volumeName" not in world.read(CLAIM, "c")["spec"]
    assert "waiting for first consumer to be created before binding" in (
        messages(world, "WaitForFirstConsumer")
    )
    world.set_ready("p")
    world.settle()
    assert world.read(CLAIM, "c")["status"]["phase"] == "Bound"


def test_a_volume_goes_with_its_claim():
    world = world_with()
    claim(world)
    world.delete(CLAIM, "c")
    world.settle()
    assert not world.exists(CLAIM, "c")
    assert world.names(VOLUME) == []


def test_a_volume_that_is_retained_is_released():
    world = world_with(reclaimPolicy="Retain")
    claim(world)
    world.delete(CLAIM, "c")
    world.settle()
    (volume,) = world.all(VOLUME)
    assert volume["status"]["phase"] == "Released"


def test_a_claim_in_use_stays_until_the_pod_has_gone():
    world = world_with()
    claim(world)
    use(world)
    world.set_ready("p")
    world.delete(CLAIM, "c")
    world.settle()
    assert world.exists(CLAIM, "c")
    world.remove_pod("p")
    world.settle()
    assert not world.exists(CLAIM, "c")


@pytest.mark.parametrize("phase", ["Failed", "Succeeded", "Running"])
def test_a_claim_is_in_use_by_a_pod_that_has_ended_or_is_leaving(phase: str):
    """A real server asks only whether the pod exists and has a node."""
    world = world_with()
    claim(world)
    use(world)
    world.set_ready("p")
    world.patch(POD, "p", {"metadata": LEAVING, "status": {"phase": phase}})
    world.delete(CLAIM, "c")
    world.settle()
    assert world.exists(CLAIM, "c")


def test_a_claim_that_was_made_for_its_pod_goes_when_the_node_is_done_with_the_pod():
    world = world_with()
    claim(world, name="p-v")
    use(world, {"name": "v", "ephemeral": {}})
    world.set_ready("p")
    world.delete(CLAIM, "p-v")
    world.settle()
    assert world.exists(CLAIM, "p-v")
    world.patch(POD, "p", {"metadata": LEAVING})
    world.settle()
    assert not world.exists(CLAIM, "p-v")


def test_a_claim_takes_the_smallest_free_volume_that_fits():
    world = world_with()
    for name, size in (("large", "5Gi"), ("fits", "2Gi"), ("small", "500Mi")):
        spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]}
        world.create(VOLUME, {"metadata": {"name": name}, "spec": spec})
    obj = claim(world, storageClassName="")
    assert obj["spec"]["volumeName"] == "fits"
    phases = {v["metadata"]["name"]: v["status"]["phase"] for v in world.all(VOLUME)}
    assert phases == {"large": "Available", "fits": "Bound", "small": "Available"}


def test_a_claim_of_a_class_that_does_not_exist_says_so():
    world = world_with()
    claim(world, storageClassName="fast")
    assert messages(world, "ProvisioningFailed") == ['storageclass.storage.k8s.io "fast" not found']


def test_a_claim_waits_for_a_default_class():
    world = World(Volumes())
    assert "storageClassName" not in claim(world)["spec"]
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    metadata = {"name": "late", "annotations": annotations}
    world.create(STORAGE_CLASS, {"metadata": metadata, "provisioner": "sim"})
    world.settle()
    assert world.read(CLAIM, "c")["spec"]["storageClassName"] == "late"


def test_a_bound_claim_that_loses_its_volume_says_so():
    world = world_with()
    name = claim(world)["spec"]["volumeName"]
    world.delete(VOLUME, name)
    world.settle()
    assert world.read(CLAIM, "c")["status"]["phase"] == "Lost"


def test_nothing_is_written_when_nothing_changed():
    world = world_with()
    name = claim(world)["spec"]["volumeName"]
    world.wake("claim/default/c", f"volume//{name}")
    assert world.settle() == 0
