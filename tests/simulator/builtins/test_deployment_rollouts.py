"""How Deployments move from one ReplicaSet to the next."""

from typing import Any

from builtins_world import World, messages

from kohort.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kohort.cluster.objects import Object, find_condition
from kohort.simulator.builtins.deployments.controller import Deployments
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets

REVISION = "deployment.kubernetes.io/revision"


def deployment(image: str = "img:1", **spec: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": "app"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    return {
        "metadata": {"name": "app", "annotations": {"a": "b"}},
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": {"app": "app"}},
            "template": template,
            **spec,
        },
    }


def world_with(**spec: Any) -> World:
    world = World(Deployments(), ReplicaSets())
    world.create(DEPLOYMENT, deployment(**spec))
    world.settle()
    return world


def new_image(world: World, image: str) -> None:
    containers = [{"name": "c", "image": image}]
    world.patch(DEPLOYMENT, "app", {"spec": {"template": {"spec": {"containers": containers}}}})


def sizes(world: World) -> dict[str, int]:
    return {
        rs["spec"]["template"]["spec"]["containers"][0]["image"]: rs["spec"]["replicas"]
        for rs in world.all(REPLICA_SET)
    }


def progress(world: World) -> tuple[str, str]:
    condition = find_condition(world.read(DEPLOYMENT, "app"), "Progressing")
    assert condition is not None
    return condition["reason"], condition["message"]


def test_a_replica_set_carries_the_hash_the_size_and_the_revision():
    world = world_with()
    (rs,) = world.all(REPLICA_SET)
    digest = rs["metadata"]["name"].removeprefix("app-")
    assert rs["metadata"]["labels"] == {"app": "app", "pod-template-hash": digest}
    assert rs["spec"]["selector"]["matchLabels"] == rs["metadata"]["labels"]
    assert rs["metadata"]["annotations"] == {
        "a": "b",
        REVISION: "1",
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
    }
    assert world.read(DEPLOYMENT, "app")["metadata"]["annotations"][REVISION] == "1"
    assert messages(world, "ScalingReplicaSet") == [
        f"Scaled up replica set app-{digest} from 0 to 4"
    ]


def test_pods_are_named_after_their_replica_set_and_never_twice():
    world = world_with(replicas=1)
    (first,) = world.names(POD)
    (rs,) = world.names(REPLICA_SET)
    assert first.startswith(f"{rs}-") and len(first) == len(rs) + 6
    world.remove_pod(first)
    world.settle()
    (second,) = world.names(POD)
    assert second != first
    assert f"Created pod: {second}" in messages(world, "SuccessfulCreate")


def test_a_finished_rollout_says_so():
    world = world_with()
    (rs,) = world.names(REPLICA_SET)
    assert progress(world) == ("ReplicaSetUpdated", f'ReplicaSet "{rs}" is progressing.')
    world.converge()
    message = f'ReplicaSet "{rs}" has successfully progressed.'
    assert progress(world) == ("NewReplicaSetAvailable", message)
    status = world.read(DEPLOYMENT, "app")["status"]
    assert {k: v for k, v in status.items() if k != "conditions"} == {
        "observedGeneration": 1,
        "replicas": 4,
        "updatedReplicas": 4,
        "readyReplicas": 4,
        "availableReplicas": 4,
        "terminatingReplicas": 0,
    }


def test_a_rolling_update_starts_with_the_surge_and_what_may_be_missing():
    world = world_with()
    world.converge()
    new_image(world, "img:2")
    world.settle()
    assert sizes(world) == {"img:1": 3, "img:2": 2}
    world.converge()
    assert sizes(world) == {"img:1": 0, "img:2": 4}


def test_recreate_waits_until_the_last_old_pod_is_gone():
    world = world_with(strategy={"type": "Recreate"})
    world.converge()
    new_image(world, "img:2")
    world.settle()
    assert sizes(world) == {"img:1": 0}
    world.converge()
    assert sizes(world) == {"img:1": 0, "img:2": 4}


def test_going_back_moves_the_revision_of_the_old_replica_set():
    world = world_with()
    for image in ("img:2", "img:1"):
        world.converge()
        new_image(world, image)
    world.converge()
    by_image = {
        rs["spec"]["template"]["spec"]["containers"][0]["image"]: rs["metadata"]["annotations"]
        for rs in world.all(REPLICA_SET)
    }
    assert (by_image["img:1"][REVISION], by_image["img:2"][REVISION]) == ("3", "2")
    assert by_image["img:1"]["deployment.kubernetes.io/revision-history"] == "1"
    assert world.read(DEPLOYMENT, "app")["metadata"]["annotations"][REVISION] == "3"


def test_old_replica_sets_beyond_the_limit_are_deleted():
    world = world_with(revisionHistoryLimit=1)
    for image in ("img:2", "img:3", "img:4"):
        world.converge()
        new_image(world, image)
    world.converge()
    assert sizes(world) == {"img:3": 0, "img:4": 4}


def test_a_paused_deployment_scales_but_does_not_roll():
    world = world_with()
    world.converge()
    world.patch(DEPLOYMENT, "app", {"spec": {"paused": True, "replicas": 6}})
    new_image(world, "img:2")
    world.settle()
    assert sizes(world) == {"img:1": 6}
    assert progress(world) == ("DeploymentPaused", "Deployment is paused")
    world.patch(DEPLOYMENT, "app", {"spec": {"paused": None}})
    world.converge()
    assert sizes(world) == {"img:1": 0, "img:2": 6}


def test_a_change_of_size_within_a_rollout_is_shared_in_proportion():
    world = world_with(
        replicas=10, strategy={"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    )
    world.converge()
    new_image(world, "img:2")
    world.settle()
    assert sizes(world) == {"img:1": 8, "img:2": 5}
    world.patch(DEPLOYMENT, "app", {"spec": {"replicas": 15}})
    world.settle()
    assert sizes(world) == {"img:1": 11, "img:2": 7}


def test_a_rollout_that_does_not_move_exceeds_its_deadline():
    world = world_with(progressDeadlineSeconds=60)
    world.advance(62)
    (rs,) = world.names(REPLICA_SET)
    message = f'ReplicaSet "{rs}" has timed out progressing.'
    assert progress(world) == ("ProgressDeadlineExceeded", message)


def test_replica_sets_of_a_deleted_deployment_are_adopted_by_its_successor():
    world = world_with()
    (rs,) = world.names(REPLICA_SET)
    world.delete(DEPLOYMENT, "app")
    world.patch(REPLICA_SET, rs, {"metadata": {"ownerReferences": None}})
    world.settle()
    world.create(DEPLOYMENT, deployment())
    world.settle()
    assert world.names(REPLICA_SET) == [rs]
    assert len(world.names(POD)) == 4


def test_nothing_is_written_when_nothing_changed():
    world = world_with()
    world.converge()
    world.wake("default/app", f"default/{world.names(REPLICA_SET)[0]}")
    assert world.settle() == 0
