"""What users are promised of groups of roles, and an update in place step by step."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import orjson
from group_lab import GroupLab, group, leader_worker, standalone, start
from test_coordinated_groups import policy, set_images
from test_group_gangs import GANG, open_lab, placed

from kohort.apis.api import Settings
from kohort.apis.gangs.dialects.volcano import VOLCANO
from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.node_labels import RACK
from kohort.cluster.objects import Object, find_condition, is_true, labels_of, name_of
from kohort.cluster.port import PatchType, Selection

GRACE = {"rollingUpdate": {"maxUnavailable": 1, "inPlaceUpdateStrategy": {"gracePeriodSeconds": 5}}}


def nodes_of(lab: GroupLab) -> dict[str, str]:
    return {name: pod["spec"]["nodeName"] for name, pod in lab.pods().items()}


def addresses_of(lab: GroupLab) -> dict[str, str]:
    return {name: pod["status"]["podIP"] for name, pod in lab.pods().items()}


async def scale(lab: GroupLab, name: str, replicas: int) -> None:
    target = lab.api.target(labels.ADAPTER, lab.namespace, name, "scale")
    body = {"spec": {"replicas": replicas}}
    await lab.api.patch(
        target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="autoscaler")
    )


async def test_promise_an_upgrade_in_place_keeps_uid_address_and_node(lab: GroupLab):
    await start(lab, leader_worker(), standalone(replicas=3))
    before = lab.uids(), nodes_of(lab), addresses_of(lab)
    await lab.set_image("engine:2", 0, "leaderWorkerPattern")
    await lab.set_image("engine:2", 1)
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
    assert (lab.uids(), nodes_of(lab), addresses_of(lab)) == before


async def test_promise_autoscaling_of_a_role_changes_no_other_field(lab: GroupLab):
    role = standalone("decode", 2, scalingAdapter={"enable": True})
    await start(lab, role, standalone("router", 1))
    before = lab.group()["spec"]
    await scale(lab, "x-decode", 4)
    await lab.until(lambda: lab.is_done() and len(lab.pods("decode")) == 4)
    after = lab.group()["spec"]
    assert after["roles"][0].pop("replicas") == 4
    before["roles"][0].pop("replicas")
    assert after == before


async def test_promise_roles_start_after_those_that_they_depend_on(lab: GroupLab):
    await start(lab, standalone("a", 2), standalone("b", 1, dependencies=["a"]))
    made = {name: pod["metadata"]["creationTimestamp"] for name, pod in lab.pods().items()}
    ready = [
        c["lastTransitionTime"]
        for pod in lab.pods("a").values()
        for c in pod["status"]["conditions"]
        if c["type"] == "Ready"
    ]
    assert max(ready) <= made["x-b-0"]


async def test_promise_a_failed_pod_restarts_its_whole_instance_and_no_other(lab: GroupLab):
    await start(lab, leader_worker())
    before = lab.uids()
    await lab.fail_pod("x-engine-0-1")
    await lab.until(lambda: lab.is_done() and not _kept(lab, before, "x-engine-0"), 240)
    assert len(_kept(lab, before, "x-engine-1")) == 2


def _kept(lab: GroupLab, before: dict[str, str], prefix: str) -> list[str]:
    now = lab.uids()
    return [n for n, uid in before.items() if n.startswith(prefix) and now.get(n) == uid]


async def test_promise_a_revision_can_be_had_again(lab: GroupLab):
    await start(lab, standalone(replicas=2))
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 120)
    revisions = [r for r in lab.all(CONTROLLER_REVISION) if name_of(r).startswith("x-")]
    own = [r for r in revisions if labels.GROUP_REVISION in labels_of(r)]
    assert sorted(r["revision"] for r in own) == [1, 2]
    first = next(r for r in own if r["revision"] == 1)
    role = next(r for r in first["data"]["spec"]["roles"] if r.get("name") == "router")
    path = "/spec/roles/0/standalonePattern/template"
    await lab.set_field(path, role["standalonePattern"]["template"])
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:1"}, 120)


async def test_promise_one_role_is_updated_before_another(lab: GroupLab):
    """No instance of B changes before all of A have changed and are ready."""
    order = {labels.UPDATE_ORDER: '{"pd": ["a", "b"]}'}
    await lab.apply(policy({"rollingUpdate": {"maxSkew": "100%"}}, "a", "b", **order))
    await start(lab, standalone("a", 3), standalone("b", 3))
    await set_images(lab, "engine:2")
    while not (lab.is_done() and lab.images() == {"engine:2"}):
        await lab.run(0.25)
        if "engine:2" in lab.images("b"):
            assert lab.images("a") == {"engine:2"}
            assert all(is_true(pod, "Ready") for pod in lab.pods("a").values())
        assert lab.clock.elapsed() < 600


async def test_promise_two_to_one_is_kept_while_scaling_and_upgrading(lab: GroupLab):
    """At each moment A has at most one step more than twice as many as B, or as few."""
    ratio = {labels.RATIO: '{"pd": {"a": 2, "b": 1}}'}
    strategy = {
        "rollingUpdate": {"maxSkew": "34%"},
        "scaling": {"maxSkew": "34%", "progression": "OrderReady"},
    }
    await lab.apply(policy(strategy, "a", "b", **ratio))
    scaled = standalone("b", 1, scalingAdapter={"enable": True})
    await start(lab, standalone("a", 2), scaled)
    await scale(lab, "x-b", 3)

    def is_grown() -> bool:
        return lab.is_done() and (len(lab.pods("a")), len(lab.pods("b"))) == (6, 3)

    await _keep_ratio(lab, is_grown, lambda role: len(lab.pods(role)))
    await set_images(lab, "engine:2")

    def count_updated(role: str) -> int:
        found = [p["spec"]["containers"][0]["image"] for p in lab.pods(role).values()]
        return found.count("engine:2")

    is_updated = lambda: lab.is_done() and lab.images() == {"engine:2"}  # noqa: E731
    await _keep_ratio(lab, is_updated, count_updated)


async def test_promise_a_gang_is_placed_whole_or_not_at_all():
    """65 pods with a GPU each do not fit on 64 GPUs, so none is placed; 64 are."""
    lab = await open_lab("volcano", Settings(gangs=(VOLCANO,)))
    await lab.apply(group(placed(standalone(replicas=65), gpus=True), **GANG))
    await lab.until(lambda: len(lab.pods()) == 65)
    await lab.run(60)
    assert not any(pod["spec"].get("nodeName") for pod in lab.pods().values())
    await lab.set_field("/spec/roles/0/replicas", 64)
    await lab.until(lab.is_done, 240)
    assert len(nodes_of(lab)) == 64
    await lab.close()


async def test_promise_an_exclusive_group_has_its_rack_to_itself(lab: GroupLab):
    alone = {labels.EXCLUSIVE_TOPOLOGY: RACK}
    await start(lab, leader_worker(), standalone(replicas=1), **alone)
    other = group(standalone(replicas=3), **alone)
    other["metadata"]["name"] = "y"
    await lab.apply(other)
    await lab.until(lambda: is_true(lab.group("y"), "Ready"), 120)
    racks = {name_of(node): labels_of(node)[RACK] for node in lab.all(kinds.NODE)}
    places: dict[str, set[str]] = {"x": set(), "y": set()}
    for name, node in nodes_of(lab).items():
        places[name[0]].add(racks[node])
    assert [len(found) for found in places.values()] == [1, 1]
    assert places["x"] != places["y"]


async def _keep_ratio(
    lab: GroupLab, is_over: Callable[[], bool], count: Callable[[str], int]
) -> None:
    """Let it end; until then the shares of A (of 6) and B (of 3) differ by a step of each."""
    end = lab.clock.elapsed() + 600
    while not is_over():
        await lab.run(0.25)
        assert abs(count("a") / 6 - count("b") / 3) <= 0.34 + 1 / 6 + 1e-9
        assert lab.clock.elapsed() < end


class Steps:
    """The order in which things are seen to happen to the last decoder."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def note(self, what: str) -> None:
        if what not in self.seen:
            self.seen.append(what)

    async def follow(self, lab: GroupLab, kind: Any) -> None:
        listed = await lab.cluster.list(Selection(kind))
        async for event in lab.cluster.watch(Selection(kind), listed.version):
            self.read(orjson.loads(event.raw))

    def read(self, obj: Object) -> None:
        name, kind = obj["metadata"].get("name"), obj["kind"]
        if kind == "RoleInstanceSet" and "engine:2" in str(obj["spec"]):
            self.note("set is patched")
        if kind == "ControllerRevision" and obj.get("revision") == 2:
            self.note(
                "group revision" if labels.GROUP_REVISION in labels_of(obj) else "set revision"
            )
        if kind == "RoleInstance" and name == "x-router-2" and "engine:2" in str(obj["spec"]):
            self.note("instance is patched")
        if kind == "RoleInstance" and name == "x-router-1" and "engine:2" in str(obj["spec"]):
            self.note("next instance is patched")
        if kind == "RoleInstance" and name == "x-router-2" and "engine:2" in str(obj["spec"]):
            self.read_instance(obj)
        if kind == "Pod" and name == "x-router-2":
            self.read_pod(obj)

    def read_instance(self, instance: Object) -> None:
        is_changed = (find_condition(instance, "RoleInstanceInPlaceUpdateReady") or {}).get(
            "status"
        )
        if is_changed == "False" and not is_true(instance, "RoleInstanceReady"):
            self.note("instance is unready")
        (part,) = instance["status"]["componentStatuses"]
        if "instance is unready" in self.seen and is_true(instance, "RoleInstanceReady"):
            assert is_changed == "True" and part["updatedReplicas"] == part["size"] == 1
            self.note("instance is ready")

    def read_pod(self, pod: Object) -> None:
        held = {c["type"]: c["status"] for c in pod.get("status", {}).get("conditions", ())}
        notes = pod["metadata"].get("annotations", {})
        running = [c["image"] for c in pod["status"].get("containerStatuses", ())]
        asked = pod["spec"]["containers"][0]["image"]
        if held.get("InPlaceUpdateReady") == held.get("InstancePodReady") == "False":
            self.note("gates are closed")
        if labels.IN_PLACE_GRACE in notes and asked == "engine:1":
            self.note("grace begins")
        if asked == "engine:2" and labels.IN_PLACE_GRACE not in notes:
            self.note("image is patched")
        if running == ["engine:2"]:
            self.note("container has restarted")
            if held.get("InPlaceUpdateReady") == held.get("InstancePodReady") == "True":
                self.note("gates are open")
                if held.get("Ready") == "True":
                    self.note("pod is ready")


async def test_appendix_b_the_timeline_of_an_upgrade_in_place(lab: GroupLab):
    await start(lab, standalone(replicas=3, rolloutStrategy=GRACE))
    before, steps = (lab.uids(), nodes_of(lab), addresses_of(lab)), Steps()
    watched = (labels.INSTANCE_SET, CONTROLLER_REVISION, labels.INSTANCE, kinds.POD)
    tasks = [asyncio.ensure_future(steps.follow(lab, kind)) for kind in watched]
    await lab.settle()
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:2"}, 240)
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    order = ["set is patched", "instance is patched", "gates are closed", "grace begins"]
    order += ["image is patched", "container has restarted", "gates are open", "pod is ready"]
    order += ["next instance is patched"]
    assert steps.seen.index("instance is unready") < steps.seen.index("instance is ready")
    assert steps.seen.index("pod is ready") < steps.seen.index("instance is ready")
    assert [step for step in steps.seen if step in order] == order
    assert {"group revision", "set revision"} <= set(steps.seen[: steps.seen.index(order[1])])
    (held,) = lab.all(labels.INSTANCE_SET)
    assert held["status"]["currentRevision"] == held["status"]["updateRevision"]
    counts = {"name": "router", "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3}
    assert lab.status()["roleStatuses"] == [counts]
    assert (lab.uids(), nodes_of(lab), addresses_of(lab)) == before
    assert not any(i["status"].get("restartCount") for i in lab.all(labels.INSTANCE))


async def test_what_left_the_template_leaves_pods_that_change_twice_within_their_grace_period(
    lab: GroupLab,
):
    await start(lab, standalone(replicas=1, rolloutStrategy=GRACE))
    before, path = lab.uids(), "/spec/roles/0/standalonePattern/template/metadata"
    await lab.set_field(path, {"annotations": {"example.com/odd": "true"}})
    await lab.until(lambda: "example.com/odd" in str(lab.pods()) and lab.is_done(), 60)
    await lab.edit("x", {"op": "remove", "path": path}, kind=labels.KIND)
    await lab.set_image("engine:2")
    await lab.until(lambda: labels.IN_PLACE_GRACE in str(lab.pods()), 60)
    await lab.set_image("engine:3")
    await lab.until(lambda: lab.is_done() and lab.images() == {"engine:3"}, 60)
    assert "example.com/odd" not in str(lab.pods()) and lab.uids() == before
