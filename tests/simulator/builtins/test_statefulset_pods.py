"""How StatefulSets make, remove and replace their pods."""

from typing import Any

import pytest
from builtins_world import World, messages

from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.objects import Object
from kohort.simulator.builtins.statefulsets.controller import StatefulSets
from kohort.simulator.component import CreateRequest, DeleteRequest


def stateful_set(image: str = "img:1", **spec: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    return {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "serviceName": "svc",
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            **spec,
        },
    }


def world_with(**spec: Any) -> World:
    world = World(StatefulSets(honours_max_unavailable=spec.pop("gate", False)))
    world.create(STATEFUL_SET, stateful_set(**spec))
    world.settle()
    return world


def new_image(world: World, image: str) -> None:
    containers = [{"name": "c", "image": image}]
    world.patch(STATEFUL_SET, "web", {"spec": {"template": {"spec": {"containers": containers}}}})


def images(world: World) -> dict[str, str]:
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in world.all(POD)}


def status(world: World) -> Object:
    return world.read(STATEFUL_SET, "web")["status"]


def test_a_pod_has_the_name_the_labels_and_the_host_of_its_place():
    world = world_with()
    pod = world.read(POD, "web-0")
    revision = status(world)["updateRevision"]
    assert pod["metadata"]["labels"] == {
        "app": "web",
        "controller-revision-hash": revision,
        "statefulset.kubernetes.io/pod-name": "web-0",
        "apps.kubernetes.io/pod-index": "0",
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("web-0", "svc")
    assert pod["metadata"]["generateName"] == "web-"
    assert messages(world, "SuccessfulCreate") == ["Create Pod web-0 in StatefulSet web successful"]


def test_ordered_pods_start_one_after_the_other():
    world = world_with()
    assert world.names(POD) == ["web-0"]
    world.set_ready("web-0")
    world.settle()
    assert world.names(POD) == ["web-0", "web-1"]
    world.converge()
    assert world.names(POD) == ["web-0", "web-1", "web-2"]
    assert status(world)["readyReplicas"] == 3


def test_parallel_pods_start_at_once_from_the_first_ordinal():
    world = world_with(podManagementPolicy="Parallel", ordinals={"start": 5})
    assert world.names(POD) == ["web-5", "web-6", "web-7"]


def test_ordered_pods_leave_one_after_the_other_from_the_top():
    world = world_with()
    world.converge()
    world.patch(STATEFUL_SET, "web", {"spec": {"replicas": 1}})
    world.settle()
    assert world.read(POD, "web-2")["metadata"].get("deletionTimestamp")
    assert "deletionTimestamp" not in world.read(POD, "web-1")["metadata"]
    world.converge()
    assert world.names(POD) == ["web-0"]
    assert (
        messages(world, "SuccessfulDelete")[0] == "Delete Pod web-2 in StatefulSet web successful"
    )


def test_a_scale_down_waits_for_unready_predecessors():
    world = world_with()
    world.converge()
    world.set_ready("web-0", ready=False)
    world.patch(STATEFUL_SET, "web", {"spec": {"replicas": 1}})
    world.settle()
    assert not [a for a in world.log if isinstance(a, DeleteRequest)]


def test_a_broken_pod_waits_to_leave_for_broken_ones_below_it():
    world = world_with()
    world.converge()
    for name in ("web-1", "web-2"):
        world.set_ready(name, ready=False)
    world.patch(STATEFUL_SET, "web", {"spec": {"replicas": 1}})
    world.settle()
    assert not any("deletionTimestamp" in pod["metadata"] for pod in world.all(POD))
    world.set_ready("web-1")
    world.settle()
    assert "deletionTimestamp" in world.read(POD, "web-2")["metadata"]


def test_parallel_pods_leave_at_once():
    world = world_with(podManagementPolicy="Parallel")
    world.converge()
    world.patch(STATEFUL_SET, "web", {"spec": {"replicas": 1}})
    world.settle()
    assert len([a for a in world.log if isinstance(a, DeleteRequest)]) == 2


def test_a_leaving_pod_holds_its_place_until_it_is_gone():
    world = world_with()
    world.converge()
    world.delete(POD, "web-1")
    before = len(world.log)
    world.settle()
    assert not [a for a in world.log[before:] if isinstance(a, CreateRequest)]
    world.remove_pod("web-1")
    world.converge()
    assert world.names(POD) == ["web-0", "web-1", "web-2"]


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_pod_that_ended_is_made_again(phase: str, policy: str):
    world = world_with(podManagementPolicy=policy)
    world.converge()
    old = world.read(POD, "web-1")["metadata"]["uid"]
    world.set_ready("web-1", ready=False, phase=phase)
    world.converge()
    assert world.read(POD, "web-1")["metadata"]["uid"] != old
    assert len([a for a in world.log if isinstance(a, DeleteRequest)]) == 1


def test_an_update_replaces_from_the_top_and_waits_for_each():
    world = world_with()
    world.converge()
    new_image(world, "img:2")
    world.settle()
    world.remove_pod("web-2")
    world.settle()
    assert images(world) == {"web-0": "img:1", "web-1": "img:1", "web-2": "img:2"}
    assert status(world)["currentRevision"] != status(world)["updateRevision"]
    assert (status(world)["currentReplicas"], status(world)["updatedReplicas"]) == (2, 1)
    world.converge()
    assert set(images(world).values()) == {"img:2"}
    assert status(world)["currentRevision"] == status(world)["updateRevision"]


def test_an_outdated_pod_that_ended_is_removed_once():
    world = world_with(podManagementPolicy="Parallel")
    world.converge()
    world.set_ready("web-2", ready=False, phase="Failed")
    new_image(world, "img:2")
    world.settle()
    assert [action.name for action in world.log if isinstance(action, DeleteRequest)] == ["web-2"]


def test_pods_below_the_partition_keep_their_revision_even_when_made_again():
    world = world_with(updateStrategy={"rollingUpdate": {"partition": 2}})
    world.converge()
    new_image(world, "img:2")
    world.converge()
    assert images(world) == {"web-0": "img:1", "web-1": "img:1", "web-2": "img:2"}
    world.delete(POD, "web-0")
    world.converge()
    assert images(world)["web-0"] == "img:1"


def test_on_delete_replaces_only_what_a_user_deletes():
    world = world_with(updateStrategy={"type": "OnDelete"})
    world.converge()
    new_image(world, "img:2")
    world.converge()
    assert set(images(world).values()) == {"img:1"}
    world.delete(POD, "web-1")
    world.converge()
    assert images(world)["web-1"] == "img:2"


def test_max_unavailable_counts_only_behind_its_gate():
    strategy = {"rollingUpdate": {"partition": 0, "maxUnavailable": 2}}
    for gate, expected in ((False, 1), (True, 2)):
        world = world_with(podManagementPolicy="Parallel", updateStrategy=strategy, gate=gate)
        world.converge()
        new_image(world, "img:2")
        world.settle()
        assert len([a for a in world.log if isinstance(a, DeleteRequest)]) == expected


def test_a_pod_counts_as_available_after_its_minimum_time():
    world = world_with(minReadySeconds=10)
    world.set_ready("web-0")
    world.settle()
    assert world.names(POD) == ["web-0"]
    assert (status(world)["readyReplicas"], status(world)["availableReplicas"]) == (1, 0)
    world.advance(10)
    assert world.names(POD) == ["web-0", "web-1"]


def test_a_set_that_is_being_deleted_does_nothing():
    world = world_with()
    world.patch(STATEFUL_SET, "web", {"metadata": {"finalizers": ["foregroundDeletion"]}})
    world.delete(STATEFUL_SET, "web")
    world.set_ready("web-0")
    world.settle()
    assert world.names(POD) == ["web-0"]
    assert status(world)["readyReplicas"] == 1


def test_an_orphan_of_the_right_name_and_labels_is_adopted():
    world = World(StatefulSets())
    labels = {"app": "web", "controller-revision-hash": "web-old"}
    world.create(POD, {"metadata": {"name": "web-0", "labels": labels}, "spec": {}})
    world.create(POD, {"metadata": {"name": "other", "labels": labels}, "spec": {}})
    world.create(STATEFUL_SET, stateful_set(replicas=1))
    world.settle()
    pod = world.read(POD, "web-0")
    assert pod["metadata"]["ownerReferences"][0]["name"] == "web"
    assert pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "web-0"
    assert "ownerReferences" not in world.read(POD, "other")["metadata"]


def test_a_pod_that_no_longer_matches_is_let_go():
    world = world_with(replicas=2)
    world.converge()
    world.patch(POD, "web-1", {"metadata": {"labels": {"app": "debug"}}})
    world.settle()
    assert "ownerReferences" not in world.read(POD, "web-1")["metadata"]
    assert 'Create Pod web-1 in StatefulSet web failed error: pods "web-1" already exists' in (
        messages(world, "FailedCreate")
    )


def test_nothing_is_written_when_nothing_changed():
    world = world_with()
    world.converge()
    world.wake("default/web")
    assert world.settle() == 0


@pytest.mark.parametrize("replicas", [1_000_000, 2**31 - 1])
def test_a_set_of_any_size_is_made_in_windows(replicas):
    world = World(StatefulSets())
    world.create(STATEFUL_SET, stateful_set(replicas=replicas, podManagementPolicy="Parallel"))
    runner = world.runners[0]
    for kind in list(runner.pending):
        runner.deliver(kind)
    key = next(iter(runner.keys))
    step = runner.component.step(key, runner, world.moment)
    made = [a for a in step.actions if isinstance(a, CreateRequest) and a.kind == POD]
    assert len(made) == 500
