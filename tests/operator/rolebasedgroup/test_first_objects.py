"""All objects of a new role come in one go, whatever the caches have seen of them by then."""

import json

from group_lab import KIND, GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.apiserver.store.entries import Event
from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, name_of
from kohort.cluster.port import PatchType
from kohort.simulator.stages import CRASH_AFTER, NEVER_READY

LAYERS = ("RoleInstanceSet", "ControllerRevision", "RoleInstance", "Pod")
GATES = ("InPlaceUpdateReady", "InstancePodReady")
STARTS_LATE = {"sim.kohort.dev/ready-after": "30s"}


def late(role: Object, pattern: str) -> Object:
    """The role with pods whose containers are not ready for a while."""
    role[pattern]["template"]["metadata"] = {"annotations": STARTS_LATE}
    return role


def gates_of(pod: Object) -> dict[str, str]:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return {c["type"]: c["status"] for c in conditions if c["type"] in GATES}


async def test_pods_are_made_before_the_caches_show_their_owners(lab: GroupLab):
    await lab.run(1)
    lab.cluster.hold(*LAYERS)
    await lab.apply(group(leader_worker("engine", 2), standalone("router", 1)))
    await lab.run(1)
    assert len(lab.pods()) == 5
    assert {name_of(s) for s in lab.all(kinds.SERVICE)} >= {"s-x-engine", "s-x-router"}
    lab.cluster.release()
    await lab.until(lab.is_done, 60)
    tried, written = lab.cluster.tried, lab.cluster.writes
    assert tried["create", "Pod"] == written["create", "Pod"] == 5


async def test_the_first_status_counts_the_instances_that_were_just_made(lab: GroupLab):
    """The caches see none of them, so it follows from what the API server stored."""
    await lab.run(1)
    lab.cluster.hold(*LAYERS)
    await lab.apply(group(leader_worker("engine", 2), standalone("router", 1)))
    await lab.run(1)
    counts = {role["name"]: role for role in lab.status()["roleStatuses"]}
    assert [counts["engine"][k] for k in ("replicas", "updatedReplicas")] == [2, 2]
    assert [counts["router"][k] for k in ("replicas", "readyReplicas")] == [1, 0]
    assert lab.cluster.writes["patch", "RoleBasedGroup/status"] == 1


async def test_pods_with_ports_wait_until_the_caches_show_who_else_has_them(lab: GroupLab):
    """Two groups may choose the same port; each sees the other's choice only in the caches."""
    ask = {"allocations": [{"name": "http", "env": "PORT", "scope": "PodScoped"}]}
    role = standalone("router", 1)
    notes = {labels.PORT_ALLOCATOR: json.dumps(ask)}
    role["standalonePattern"]["template"]["metadata"] = {"annotations": notes}
    await lab.run(1)
    lab.cluster.hold(*LAYERS)
    await lab.apply(group(role))
    await lab.run(1)
    assert lab.all(labels.INSTANCE_SET) and not lab.pods()
    lab.cluster.release()
    await lab.until(lab.is_done, 60)


async def test_instances_wait_for_the_policy_that_their_group_brings(lab: GroupLab):
    """A plan that does not see the policy would make more instances than its skew allows."""
    rule = '[{"name": "pd", "roles": ["a", "b"], "strategy": {"rollingUpdate": {"maxSkew": "1%"}}}]'
    await lab.run(1)
    lab.cluster.hold(*LAYERS)
    roles = standalone("a", 1), standalone("b", 1)
    await lab.apply(group(*roles, **{labels.OLD_COORDINATION: rule}))
    await lab.run(1)
    assert lab.all(labels.POLICY) and not lab.all(labels.INSTANCE)
    lab.cluster.release()
    await lab.until(lab.is_done, 60)


async def test_children_whose_names_may_be_taken_are_left_to_a_later_plan(lab: GroupLab):
    """The set was deleted, and the garbage collector has yet to delete what it owned."""
    await start(lab, standalone("router", 1))
    (old,) = lab.all(labels.INSTANCE)
    lab.cluster.hold(*LAYERS[1:])
    await lab.delete(labels.INSTANCE_SET, "x-router")
    await lab.run(2)
    assert lab.cluster.tried["create", "RoleInstance"] == 1
    lab.cluster.release()
    await lab.until(lambda: bool(lab.pods()) and lab.is_done(), 60)
    assert lab.all(labels.INSTANCE)[0]["metadata"]["uid"] != old["metadata"]["uid"]


async def test_the_only_pod_of_an_instance_has_open_gates_before_it_runs(lab: GroupLab):
    await lab.apply(group(late(standalone("router", 2), "standalonePattern")))
    await lab.run(5)
    pods = lab.pods().values()
    assert [gates_of(pod) for pod in pods] == [dict.fromkeys(GATES, "True")] * 2
    assert not lab.is_ready()
    await lab.until(lab.is_done, 60)
    assert lab.cluster.writes["patch", "Pod/status"] == 2


async def test_pods_that_wait_for_each_other_have_closed_gates_until_all_run(lab: GroupLab):
    await lab.apply(group(late(leader_worker("engine", 1), "leaderWorkerPattern")))
    await lab.run(5)
    assert [gates_of(pod) for pod in lab.pods().values()] == [{}, {}]


async def test_gates_that_were_not_opened_with_the_pod_are_opened_later(lab: GroupLab):
    """The operator ends after the pod is stored."""
    await lab.stop_operator()
    await lab.apply(group(late(standalone("router", 1), "standalonePattern")))
    lab.start_operator()
    while not lab.pods():
        lab.cluster.left = 1
        await lab.run(0.2)
        await lab.stop_operator()
        lab.start_operator()
    assert gates_of(next(iter(lab.pods().values()))) == {}
    lab.cluster.left = None
    await lab.run(3)
    assert gates_of(next(iter(lab.pods().values())))["InstancePodReady"] == "True"


async def test_an_update_in_place_closes_the_gates_of_a_pod_that_is_alone(lab: GroupLab):
    await start(lab, standalone("router", 1))
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.images() == {"engine:2"}, 30)
    assert gates_of(next(iter(lab.pods().values())))["InstancePodReady"] == "False"
    await lab.until(lab.is_done, 60)


async def test_statuses_of_instances_do_not_delay_that_of_their_group(lab: GroupLab):
    """The group becomes ready a moment after its first instance, and says so first."""
    first, second = standalone("a", 1), standalone("b", 1)
    for role, seconds in ((first, "3s"), (second, "3100ms")):
        notes = {"pull-for": "10ms", "start-for": "10ms", "ready-after": seconds}
        stages = {f"sim.kohort.dev/{stage}": text for stage, text in notes.items()}
        role["standalonePattern"]["template"]["metadata"] = {"annotations": stages}
    seen: list[tuple[str, bool]] = []
    for kind in (KIND, labels.INSTANCE):
        bucket = lab.api.registry.of(kind).bucket
        lab.api.store.subscribe(bucket, lambda event: seen.append(read_ready(event)))
    await start(lab, first, second)
    await lab.until(lambda: ("x-a-0", True) in seen)
    assert seen.index(("x", True)) < seen.index(("x-a-0", True))


def read_ready(event: Event) -> tuple[str, bool]:
    obj = event.entry.decode()
    conditions = (obj.get("status") or {}).get("conditions") or ()
    ready = ("Ready", "RoleInstanceReady")
    return name_of(obj), any(c["type"] in ready and c["status"] == "True" for c in conditions)


async def let_one_more_be_ready(lab: GroupLab) -> None:
    for name, pod in sorted(lab.pods().items()):
        if NEVER_READY in annotations_of(pod):
            target = lab.api.target(kinds.POD, lab.namespace, name)
            body = {"metadata": {"annotations": {NEVER_READY: None}}}
            await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())
            return


async def test_statuses_of_sets_and_adapters_do_not_tell_of_each_pod_on_the_way(lab: GroupLab):
    """No client acts on them before all pods are ready; that of the group tells of each."""
    role = standalone("engine", 8, scalingAdapter={"enable": True})
    role["standalonePattern"]["template"]["metadata"] = {"annotations": {NEVER_READY: "true"}}
    await lab.apply(group(role))
    await lab.run(10)
    before = dict(lab.cluster.writes)
    for count in range(1, 9):
        await let_one_more_be_ready(lab)
        await lab.run(1.2)
        (told,) = lab.status()["roleStatuses"]
        assert told["readyReplicas"] == count
    await lab.until(lab.is_done, 5)
    await lab.run(1)
    for kind in (labels.INSTANCE_SET, labels.ADAPTER):
        (found,) = lab.all(kind)
        assert found["status"]["readyReplicas"] == 8
        written = ("patch", f"{kind.name}/status")
        assert lab.cluster.writes[written] - before[written] <= 3


async def test_a_set_tells_at_once_of_a_pod_that_is_not_ready_any_more(lab: GroupLab):
    await start(lab, standalone("engine", 4))
    await lab.run(10)
    name = next(iter(lab.pods()))
    target = lab.api.target(kinds.POD, lab.namespace, name)
    body = {"metadata": {"annotations": {CRASH_AFTER: "0.1s"}}}
    await lab.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())
    await lab.until(lambda: lab.all(labels.INSTANCE_SET)[0]["status"]["readyReplicas"] == 3, 2)
