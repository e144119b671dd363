"""Which pods ReplicaSets make, remove and report."""

from typing import Any

from builtins_world import World, messages

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import Forbidden
from kohort.cluster.kinds import POD, REPLICA_SET
from kohort.cluster.objects import Kind, Object, find_condition
from kohort.simulator.builtins.deployments.replicasets import ReplicaSets
from kohort.simulator.component import CreateRequest


def replica_set(**spec: Any) -> Object:
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": []}}
    base = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": "x"}, "spec": {**base, **spec}}


def running(**spec: Any) -> World:
    world = World(ReplicaSets())
    world.create(REPLICA_SET, replica_set(**spec))
    world.converge()
    return world


def scale(world: World, replicas: int) -> None:
    world.patch(REPLICA_SET, "x", {"spec": {"replicas": replicas}})
    world.converge()


def test_the_status_counts_what_is_there():
    world = running()
    assert world.read(REPLICA_SET, "x")["status"] == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 1,
        "terminatingReplicas": 0,
    }


def test_nothing_is_remembered_of_pods_that_outlive_their_set():
    component = ReplicaSets()
    world = World(component)
    world.create(REPLICA_SET, replica_set())
    world.converge()
    world.remove_pod(world.names(POD)[0])
    world.converge()
    assert sum(map(len, component._retired.values())) == 1
    world.delete(REPLICA_SET, "x")
    world.converge()
    for name in world.names(POD):
        world.remove_pod(name)
    world.converge()
    assert not component._retired


def test_unready_pods_go_first():
    world = running()
    victim = world.names(POD)[1]
    world.set_ready(victim, ready=False)
    scale(world, 2)
    assert victim not in world.names(POD)


def test_cheap_pods_go_before_dear_ones():
    world = running()
    keeper = world.names(POD)[1]
    cost = {"controller.kubernetes.io/pod-deletion-cost": "100"}
    world.patch(POD, keeper, {"metadata": {"annotations": cost}})
    scale(world, 1)
    assert world.names(POD) == [keeper]


def test_pods_that_became_ready_last_go_first():
    world = running(replicas=1)
    first = world.names(POD)
    world.advance(100)
    scale(world, 3)
    scale(world, 1)
    assert world.names(POD) == first


def test_an_orphan_counts_and_a_stranger_is_let_go():
    world = World(ReplicaSets())
    world.create(POD, {"metadata": {"name": "stray", "labels": {"app": "x"}}, "spec": {}})
    world.create(REPLICA_SET, replica_set(replicas=1))
    world.converge()
    assert world.names(POD) == ["stray"]
    world.patch(POD, "stray", {"metadata": {"labels": {"app": "y"}}})
    world.converge()
    assert "ownerReferences" not in world.read(POD, "stray")["metadata"]
    assert len(world.names(POD)) == 2


def test_a_refused_pod_is_reported_and_the_report_goes_when_it_is_made():
    world = World(ReplicaSets())
    world.create(REPLICA_SET, replica_set(replicas=1))
    component = world.runners[0].component
    refused = CreateRequest(POD, {"metadata": {"name": "x-1"}})
    component.refused("default/x", refused, Forbidden('pods "x-1" is forbidden: no quota'))
    world.settle()
    assert find_condition(world.read(REPLICA_SET, "x"), "ReplicaFailure") is None
    assert messages(world, "FailedCreate") == ['Error creating: pods "x-1" is forbidden: no quota']


class Limited(World):
    """A world whose quota allows two pods."""

    def create(self, kind: Kind, obj: Object) -> StoredObject:
        if kind == POD and len(self.names(POD)) >= 2:
            raise Forbidden("exceeded quota: two")
        return super().create(kind, obj)


def step_often(world: World, times: int) -> None:
    """Some looks at the set, with all that was written delivered before each."""
    runner = world.runners[0]
    for _ in range(times):
        runner.deliver(REPLICA_SET)
        runner.deliver(POD)
        world.wake("default/x")
        world.step(runner)


def test_a_quota_that_refuses_some_pods_does_not_keep_the_status_from_counting_the_others():
    world = Limited(ReplicaSets())
    world.create(REPLICA_SET, replica_set(replicas=4))
    step_often(world, 2)
    world.run_nodes()
    step_often(world, 2)
    found = world.read(REPLICA_SET, "x")
    assert (found["status"]["replicas"], found["status"]["readyReplicas"]) == (2, 2)
    failure = find_condition(found, "ReplicaFailure")
    assert failure is not None
    assert (failure["reason"], failure["message"]) == ("FailedCreate", "exceeded quota: two")
    assert "Error creating: exceeded quota: two" in messages(world, "FailedCreate")
