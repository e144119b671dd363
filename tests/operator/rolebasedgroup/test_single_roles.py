"""RoleInstanceSets and RoleInstances that a user makes by hand: workloads of one role."""

import pytest
from group_lab import group, standalone
from single_lab import (
    IMAGE,
    INSTANCE,
    SET,
    SingleLab,
    component,
    instance,
    instance_set,
    start_instances,
)

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.objects.pods import GATES
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, is_true, labels_of
from kohort.simulator.stages import FAILED, PULL_ERROR

RESTART = "RecreateRoleInstanceOnPodRestart"
LAB = SingleLab


def are_gates_open(pod: Object) -> bool:
    return all(is_true(pod, gate) for gate in GATES)


async def test_a_set_by_hand_makes_its_instances_and_their_pods(lab: SingleLab):
    await start_instances(lab, component("leader"), component("worker", 2))
    assert list(lab.instances()) == ["x-0", "x-1"]
    assert sorted(lab.pods()) == [
        *("x-0-leader-0", "x-0-worker-0", "x-0-worker-1"),
        *("x-1-leader-0", "x-1-worker-0", "x-1-worker-1"),
    ]
    status = lab.set()["status"]
    assert status["availableReplicas"] == 2
    assert status["labelSelector"] == "app=x"
    assert status["currentRevision"] == status["updateRevision"]
    assert all(is_true(found, "RoleInstanceReady") for found in lab.instances().values())


async def test_an_autoscaler_reads_the_whole_selector_of_a_set(lab: SingleLab):
    chosen = [
        {"key": "tier", "operator": "In", "values": ["b", "a"]},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    await start_instances(lab, selector={"matchLabels": {"app": "x"}, "matchExpressions": chosen})
    assert lab.set()["status"]["labelSelector"] == "app=x,!old,tier in (a,b)"


async def test_a_set_by_hand_is_scaled_without_touching_the_rest(lab: SingleLab):
    await start_instances(lab)
    before = lab.uids()
    await lab.change("/spec/replicas", 4)
    await lab.until(lab.is_set_done, 60)
    assert before.items() <= lab.uids().items()
    await lab.change("/spec/replicas", 1)
    await lab.until(lambda: lab.is_set_done() and len(lab.pods()) == 1, 60)
    assert list(lab.instances()) == ["x-0"]


async def test_a_set_by_hand_rolls_in_place_within_its_budget(lab: SingleLab):
    await start_instances(lab, replicas=3, updateStrategy={"maxUnavailable": 1})
    before, least = lab.uids(), 3
    await lab.change(IMAGE, "engine:2")
    while lab.images() != {"engine:2"} or not lab.is_set_done():
        await lab.run(1.0)
        least = min(least, sum(is_true(pod, "Ready") for pod in lab.pods().values()))
    assert lab.uids() == before
    assert least == 2


async def test_pods_stay_if_the_template_that_they_could_not_follow_is_taken_back(lab: SingleLab):
    await start_instances(lab)
    before = lab.uids()
    template = "/spec/roleInstanceTemplate/components/0/template/spec"
    grace = f"{template}/terminationGracePeriodSeconds"

    def has_moved() -> bool:
        specs = [found["spec"]["components"][0] for found in lab.instances().values()]
        return any("terminationGracePeriodSeconds" in spec["template"]["spec"] for spec in specs)

    await lab.change(grace, 7)
    while not has_moved():
        await lab.run(0.03)
    image = {"op": "replace", "path": IMAGE, "value": "engine:2"}
    await lab.edit("x", {"op": "remove", "path": grace}, image, kind=SET)
    await lab.until(lambda: lab.is_set_done() and lab.images() == {"engine:2"}, 120)
    assert lab.uids() == before


async def test_gates_open_again_though_the_kubelet_did_not_see_them_closed(lab: SingleLab):
    await start_instances(lab, replicas=1)
    (pod,) = lab.pods().values()
    fails = {"op": "add", "path": "/metadata/annotations", "value": {FAILED: "true"}}
    await lab.edit(pod["spec"]["nodeName"], fails, kind=kinds.NODE)
    await lab.change(IMAGE, "engine:2")
    await lab.until(lambda: not any(are_gates_open(pod) for pod in lab.pods().values()), 10)
    await lab.change(IMAGE, "engine:1")
    await lab.run(3)
    (pod,) = lab.pods().values()
    assert are_gates_open(pod)
    assert is_true(pod, "Ready")  # nodes are given up after a longer silence
    assert lab.is_set_done()


async def test_a_partition_of_a_set_by_hand_keeps_old_instances(lab: SingleLab):
    await start_instances(lab, replicas=3, updateStrategy={"partition": 2})
    await lab.change(IMAGE, "engine:2")
    await lab.until(lambda: lab.set()["status"]["updatedReadyReplicas"] == 1, 60)
    await lab.run(30)
    images = {n: p["spec"]["containers"][0]["image"] for n, p in lab.pods().items()}
    old, new = "engine:1", "engine:2"
    assert images == {"x-0-engine-0": old, "x-1-engine-0": old, "x-2-engine-0": new}


async def test_a_failed_pod_restarts_its_whole_instance_of_a_set_by_hand(lab: SingleLab):
    await start_instances(lab, component("a"), component("b"), restart=RESTART)
    before = lab.uids()
    await lab.fail_pod("x-0-a-0")
    await lab.until(lambda: lab.uids()["x-0-b-0"] != before["x-0-b-0"], 60)
    await lab.until(lab.is_set_done, 60)
    same = {name for name, uid in lab.uids().items() if before[name] == uid}
    assert same == {"x-1-a-0", "x-1-b-0"}
    assert lab.instances()["x-0"]["status"]["restartCount"] == 1


async def test_a_deleted_set_by_hand_takes_all_its_objects_along(lab: SingleLab):
    await start_instances(lab)
    await lab.delete(SET, "x")
    await lab.run(60)
    assert not lab.instances() and not lab.pods() and not lab.all(kinds.CONTROLLER_REVISION)


async def test_a_set_by_hand_at_rest_costs_no_write(lab: SingleLab):
    await start_instances(lab)
    await lab.run(30)
    before = sum(lab.cluster.tried.values())
    await lab.run(120)
    assert sum(lab.cluster.tried.values()) == before


async def test_a_new_set_adopts_what_its_namesake_left_behind(lab: SingleLab):
    await start_instances(lab)
    before = lab.uids()
    await lab.delete(SET, "x", propagation="Orphan")
    await lab.until(lambda: lab.find(SET, "x") is None, 30)
    await lab.apply(instance_set())
    await lab.until(lab.is_set_done, 60)
    assert lab.uids() == before


async def test_the_set_of_a_group_stays_a_projection(lab: SingleLab):
    await lab.apply(group(standalone(replicas=2)))
    await lab.until(lab.is_done, 60)
    controllers = {c.api.kind: c for c in lab.operator.controllers}
    assert len(controllers[SET].roots) == len(controllers[INSTANCE].roots) == 0


async def test_an_instance_of_a_set_that_lost_its_labels_is_no_workload(lab: SingleLab):
    await start_instances(lab)
    before, status = lab.uids(), lab.instances()["x-0"]["status"]
    path = "/metadata/labels/rbg.workloads.x-k8s.io~1role-instance-index"
    await lab.edit("x-0", {"op": "remove", "path": path}, kind=INSTANCE)
    await lab.run(60)
    assert lab.uids() == before
    assert lab.instances()["x-0"]["status"] == status


async def test_an_instance_by_hand_makes_its_pods_and_says_when_it_is_ready(lab: SingleLab):
    await lab.apply(instance())
    await lab.until(lab.is_instance_ready, 60)
    assert sorted(lab.pods()) == ["solo-leader-0", "solo-worker-0", "solo-worker-1"]
    found = lab.find(INSTANCE, "solo")
    assert found is not None
    sizes = [c["readyReplicas"] for c in found["status"]["componentStatuses"]]
    assert sizes == [1, 2]


async def test_an_instance_by_hand_changes_its_pods_in_place(lab: SingleLab):
    await lab.apply(instance(component("leader"), component("worker")))
    await lab.until(lab.is_instance_ready, 60)
    before = lab.uids()
    path = "/spec/components/1/template/spec/containers/0/image"
    await lab.change(path, "engine:2", name="solo")
    await lab.until(lambda: "engine:2" in lab.images() and lab.is_instance_ready(), 60)
    assert lab.uids() == before


@pytest.mark.parametrize("is_in_place", [True, False])
async def test_an_instance_by_hand_that_has_rested_follows_its_spec(
    lab: SingleLab, is_in_place: bool
):
    await lab.apply(instance(component("leader"), component("worker")))
    await lab.until(lab.is_instance_ready, 60)
    await lab.run(30)
    before = lab.uids()
    field, value = ("image", "engine:2") if is_in_place else ("args", ["--fast"])
    path = f"/spec/components/1/template/spec/containers/0/{field}"
    await lab.change(path, value, name="solo")

    def is_changed() -> bool:
        pod = lab.pods().get("solo-worker-0")
        return pod is not None and pod["spec"]["containers"][0].get(field) == value

    await lab.until(lambda: is_changed() and lab.is_instance_ready(), 60)
    after = lab.uids()
    assert after["solo-leader-0"] == before["solo-leader-0"]
    assert (after["solo-worker-0"] == before["solo-worker-0"]) is is_in_place


async def test_an_instance_by_hand_has_not_seen_a_spec_whose_revision_is_not_stored(
    lab: SingleLab,
):
    """Or it would be said to be ready with a template that it does not have."""
    await lab.apply(instance(component()))
    await lab.until(lab.is_instance_ready, 60)
    await lab.run(30)
    first = lab.instances()["solo"]["status"]["updateRevision"]
    await lab.change("/spec/components/0/template/spec/containers/0/image", "engine:2", name="solo")
    said: list[tuple[int, str]] = []

    def note() -> bool:
        status = lab.instances()["solo"]["status"]
        said.append((status["observedGeneration"], status["updateRevision"]))
        return lab.images() == {"engine:2"}

    await lab.until(note, 60)
    assert (2, first) not in said


async def test_the_revision_that_an_instance_by_hand_served_is_marked(lab: SingleLab):
    await lab.apply(instance(component()))
    await lab.until(lab.is_instance_ready)
    await lab.change("/spec/components/0/template/spec/containers/0/image", "engine:2", name="solo")
    await lab.until(lambda: len(lab.all(kinds.CONTROLLER_REVISION)) == 2)
    first, second = sorted(lab.all(kinds.CONTROLLER_REVISION), key=lambda each: each["revision"])
    assert labels.SERVED in annotations_of(first) and labels.SERVED not in annotations_of(second)


async def test_a_component_of_an_instance_by_hand_grows_and_shrinks(lab: SingleLab):
    await lab.apply(instance())
    await lab.until(lab.is_instance_ready, 60)
    before = lab.uids()
    await lab.change("/spec/components/1/size", 3, name="solo")
    await lab.until(lambda: len(lab.pods()) == 4 and lab.is_instance_ready(), 60)
    assert before.items() <= lab.uids().items()
    await lab.change("/spec/components/1/size", 1, name="solo")
    await lab.until(lambda: len(lab.pods()) == 2 and lab.is_instance_ready(), 60)


async def test_an_instance_by_hand_without_components_says_what_it_lacks(lab: SingleLab):
    await lab.apply(instance(component(size=0)))
    await lab.run(5)
    found = lab.find(INSTANCE, "solo")
    assert found is not None
    (stalled,) = [c for c in found["status"]["conditions"] if c["type"] == "Stalled"]
    assert "has no component with pods" in stalled["message"]


@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5, 7, 9])
async def test_a_set_by_hand_is_completed_after_the_operator_ends(lab: SingleLab, writes: int):
    lab.cluster.left = writes
    await lab.apply(instance_set())
    for _ in range(120):
        await lab.run(0.5)
        if lab.cluster.is_dead:
            await lab.stop_operator()
            lab.start_operator()
    assert lab.is_set_done()
    assert sorted(lab.pods()) == ["x-0-engine-0", "x-1-engine-0"]
    assert len(lab.all(kinds.CONTROLLER_REVISION)) == 1


@pytest.mark.parametrize("key", [labels.GANG, labels.INSTANCE_GANG])
async def test_a_set_by_hand_gets_its_pods_though_it_asks_for_a_gang(lab: SingleLab, key: str):
    await start_instances(lab, component("leader"), component("worker"), annotations={key: "true"})
    assert len(lab.pods()) == 4


async def test_pods_of_a_template_with_the_name_of_a_group_are_seen(lab: SingleLab):
    taken = component()
    taken["template"]["metadata"] = {"labels": {labels.GROUP_NAME: "other", "team": "a"}}
    await start_instances(lab, taken)
    assert {labels_of(pod)["team"] for pod in lab.pods().values()} == {"a"}
    await lab.apply(instance(taken))
    await lab.until(lab.is_instance_ready, 60)


async def test_an_instance_by_itself_says_if_it_is_ready_once_it_was(lab: SingleLab):
    """The condition says that it served: a first start that fails would count as a crash."""
    stuck = component()
    stuck["template"]["metadata"] = {"annotations": {PULL_ERROR: "no"}}
    await lab.apply(instance(stuck))
    await lab.until(lambda: len(lab.pods()) == 1)
    await lab.run(30)
    status = lab.instances()["solo"]["status"]
    assert status["observedGeneration"] == 1
    told = {condition["type"] for condition in status.get("conditions") or ()}
    assert "RoleInstanceReady" not in told
