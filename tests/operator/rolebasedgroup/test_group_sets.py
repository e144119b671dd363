"""RoleBasedGroupSets: groups that are alike, rolled one after another and never fought over."""

from collections.abc import AsyncIterator, Callable

import pytest
from group_lab import standalone
from set_lab import CHILD, IMAGE, KIND, SetLab, group_set, start_set

from kohort.apis.rolebasedgroup import labels
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster.kinds import NODE
from kohort.cluster.node_labels import RACK
from kohort.cluster.objects import annotations_of, is_true, labels_of, name_of
from kohort.cluster.port import PatchType


@pytest.fixture
async def lab() -> AsyncIterator[SetLab]:
    found = SetLab()
    await found.open()
    yield found
    await found.close()


class TestUpstreamCases:
    """The cases of upstream's own suite, v1alpha2/rbgs, by name."""

    async def test_create_and_delete(self, lab: SetLab):
        await start_set(lab)
        assert sorted(lab.children()) == ["x-0", "x-1"]
        assert sorted(lab.pods()) == ["x-0-router-0", "x-1-router-0"]
        await lab.delete(KIND, "x")
        await lab.until(lambda: not lab.children() and not lab.pods())

    async def test_scaling(self, lab: SetLab):
        await start_set(lab)
        before = lab.uids()
        await lab.change("/spec/replicas", 4)
        await lab.until(lambda: lab.is_set_ready() and len(lab.pods()) == 4)
        await lab.change("/spec/replicas", 1)
        await lab.until(lambda: lab.is_set_ready() and len(lab.pods()) == 1)
        assert lab.uids() == {"x-0-router-0": before["x-0-router-0"]}

    async def test_exclusive_topology(self, lab: SetLab):
        await start_set(lab, standalone(replicas=3), annotations={labels.EXCLUSIVE_TOPOLOGY: RACK})
        racks = {name_of(node): labels_of(node)[RACK] for node in lab.all(NODE)}
        places: dict[str, set[str]] = {name: set() for name in lab.children()}
        for pod in lab.pods().values():
            places[labels_of(pod)[labels.GROUP_NAME]].add(racks[pod["spec"]["nodeName"]])
        assert [len(found) for found in places.values()] == [1, 1]
        assert places["x-0"] != places["x-1"]


class TestChildren:
    async def test_a_group_has_the_labels_of_its_place_and_of_the_template(self, lab: SetLab):
        await start_set(lab, labels={"app": "chat"}, annotations={"note": "a"})
        child = lab.child("x-1")
        assert labels_of(child) == {"app": "chat", labels.SET_NAME: "x", labels.SET_INDEX: "1"}
        assert annotations_of(child)["note"] == "a"
        assert child["metadata"]["ownerReferences"][0]["kind"] == "RoleBasedGroupSet"

    async def test_the_status_says_how_many_are_ready(self, lab: SetLab):
        await lab.apply(group_set(replicas=3))
        await lab.until(lambda: "conditions" in lab.set_status())
        (said,) = lab.set_status()["conditions"]
        assert (said["status"], said["reason"]) == ("False", "ReplicasNotReady")
        assert said["message"].endswith("(0/3)")
        await lab.until(lab.is_set_ready)
        (said,) = lab.set_status()["conditions"]
        assert (said["type"], said["reason"]) == ("Ready", "AllReplicasReady")
        assert lab.set_status()["replicas"] == lab.set_status()["readyReplicas"] == 3

    async def test_a_group_that_is_deleted_comes_back(self, lab: SetLab):
        await start_set(lab)
        uid = lab.child("x-0")["metadata"]["uid"]
        await lab.delete(CHILD, "x-0")
        await lab.until(
            lambda: "x-0" in lab.children() and lab.child("x-0")["metadata"]["uid"] != uid
        )
        await lab.until(lab.is_set_ready)

    async def test_a_group_of_another_owner_is_not_touched_and_is_named(self, lab: SetLab):
        own = group_set()["spec"]["groupTemplate"]["spec"]
        meta = {"name": "x-0", "namespace": "default"}
        await lab.apply(
            {"apiVersion": CHILD.api_version, "kind": CHILD.name, "metadata": meta, "spec": own}
        )
        await lab.apply(group_set())
        await lab.until(lambda: is_true(lab.set(), "Stalled"))
        stalled = [c for c in lab.set_status()["conditions"] if c["type"] == "Stalled"]
        assert "x-0" in stalled[0]["message"]
        assert "ownerReferences" not in lab.child("x-0")["metadata"]

    async def test_a_group_whose_index_was_changed_keeps_its_pods(self, lab: SetLab):
        await start_set(lab)
        before = lab.uids()
        path = "/metadata/labels/" + labels.SET_INDEX.replace("/", "~1")
        await lab.change_child("x-1", path, "7")
        await lab.until(lambda: labels_of(lab.child("x-1"))[labels.SET_INDEX] == "1")
        assert lab.uids() == before

    async def test_the_scale_subresource_scales(self, lab: SetLab):
        await start_set(lab)
        target = lab.api.target(KIND, "default", "x", "scale")
        patch = PatchBody(PatchType.MERGE, {"spec": {"replicas": 3}})
        await lab.api.patch(target, patch, WriteOptions())
        await lab.until(lambda: lab.is_set_ready() and len(lab.children()) == 3)


class TestRollouts:
    async def test_one_group_is_updated_after_another(self, lab: SetLab):
        """rbg#474: upstream updates all of them at once."""
        await start_set(lab, replicas=3)
        await lab.change(IMAGE, "engine:2")
        least, most = 3, 0
        while not lab.is_rolled("engine:2")():
            await lab.run(0.5)
            ready = [is_true(child, "Ready") for child in lab.children().values()]
            least, most = min(least, sum(ready)), max(most, 3 - sum(ready))
        assert (least, most) == (2, 1)

    async def test_pods_stay_where_the_change_allows_it(self, lab: SetLab):
        await start_set(lab)
        before = lab.uids()
        await lab.change(IMAGE, "engine:2")
        await lab.until(lab.is_rolled("engine:2"), 120)
        assert lab.uids() == before

    async def test_a_template_that_does_not_start_stops_at_the_first_group(self, lab: SetLab):
        await start_set(lab, replicas=3)
        path = "/spec/groupTemplate/spec/roles/0/standalonePattern/template/spec/nodeSelector"
        await lab.change(path, {"no": "node"})
        await lab.run(120)
        assert lab.set_status()["readyReplicas"] == 2
        await lab.edit("x", {"op": "remove", "path": path}, kind=KIND)
        await lab.until(lab.is_set_ready, 120)

    @pytest.mark.parametrize(("value", "together"), [("2", 2), ("100%", 3), ("34%", 1)])
    async def test_an_annotation_says_how_many_may_be_missing(
        self, lab: SetLab, value: str, together: int
    ):
        obj = group_set(replicas=3)
        obj["metadata"]["annotations"] = {labels.MAX_UNAVAILABLE: value}
        await lab.apply(obj)
        await lab.until(lab.is_set_ready)
        path = "/spec/groupTemplate/spec/roles/0/standalonePattern/template/spec/nodeSelector"
        await lab.change(path, {"no": "node"})
        await lab.run(120)
        assert lab.set_status()["readyReplicas"] == 3 - together

    async def test_an_annotation_that_says_nothing_stalls_the_set(self, lab: SetLab):
        obj = group_set()
        obj["metadata"]["annotations"] = {labels.MAX_UNAVAILABLE: "some"}
        await lab.apply(obj)
        await lab.until(lambda: is_true(lab.set(), "Stalled"))
        (said,) = lab.set_status()["conditions"]
        assert said["reason"] == "InvalidMaxUnavailable"
        assert '"some"' in said["message"]


class TestDefect18:
    """Upstream's sets fight with their own groups."""

    async def test_defect_18_at_rest_nothing_is_written(self, lab: SetLab):
        await start_set(lab, labels={"app": "chat"}, annotations={"note": "a"})
        await lab.run(5)
        assert await lab.count_writes(600) == 0

    async def test_defect_18_what_others_write_on_a_group_stays(self, lab: SetLab):
        await start_set(lab)
        path = "/metadata/annotations/" + labels.DISCOVERY_MODE.replace("/", "~1")
        await lab.change_child("x-0", path, "refine")
        assert await lab.count_writes(60) == 0
        assert annotations_of(lab.child("x-0"))[labels.DISCOVERY_MODE] == "refine"

    async def test_defect_18_changed_role_templates_reach_groups(self, lab: SetLab):
        template = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
        role = {"name": "router", "replicas": 1}
        role["standalonePattern"] = {"templateRef": {"name": "base", "patch": {}}}
        await start_set(lab, role, roleTemplates=[{"name": "base", "template": template}])
        path = "/spec/groupTemplate/spec/roleTemplates/0/template/spec/containers/0/image"
        await lab.change(path, "engine:2")
        await lab.until(lab.is_rolled("engine:2"), 120)

    async def test_defect_18_replicas_of_an_adapter_are_kept(self, lab: SetLab):
        await start_set(lab, standalone(replicas=1, scalingAdapter={"enable": True}))
        target = lab.api.target(labels.ADAPTER, "default", "x-0-router", "scale")
        patch = PatchBody(PatchType.MERGE, {"spec": {"replicas": 3}})
        await lab.api.patch(target, patch, WriteOptions())
        await lab.until(lambda: len(lab.pods()) == 4)
        await lab.run(10)
        assert await lab.count_writes(60) == 0
        assert len(lab.pods()) == 4
        await lab.change(IMAGE, "engine:2")
        await lab.until(lab.is_rolled("engine:2"), 240)
        counts = {
            name: child["spec"]["roles"][0]["replicas"] for name, child in lab.children().items()
        }
        assert counts == {"x-0": 3, "x-1": 1}

    async def test_defect_18_annotations_of_an_old_set_reach_groups(self, lab: SetLab):
        """A conversion from v1alpha1 writes them on the set alone."""
        obj = group_set()
        said = {labels.EXCLUSIVE_TOPOLOGY: "kubernetes.io/hostname"}
        obj["metadata"]["annotations"] = said
        await lab.apply(obj)
        await lab.until(lab.is_set_ready)
        for child in lab.children().values():
            assert annotations_of(child).items() >= said.items()


class TestEdits:
    async def test_what_leaves_the_template_leaves_groups(self, lab: SetLab):
        await start_set(lab, labels={"app": "chat", "tier": "a"})
        await lab.edit("x", {"op": "remove", "path": "/spec/groupTemplate/labels/tier"}, kind=KIND)
        await lab.until(lambda: not any("tier" in labels_of(c) for c in lab.children().values()))
        assert {labels_of(child)["app"] for child in lab.children().values()} == {"chat"}

    async def test_an_edited_group_is_put_back(self, lab: SetLab):
        await start_set(lab)
        path = IMAGE.replace("/spec/groupTemplate", "")
        await lab.change_child("x-1", path, "engine:9")
        await lab.run(1)
        await lab.until(lab.is_rolled("engine:1"))
        roles = lab.child("x-1")["spec"]["roles"]
        image = roles[0]["standalonePattern"]["template"]["spec"]["containers"][0]["image"]
        assert image == "engine:1"

    async def test_a_client_that_edits_again_and_again_is_not_fought(self, lab: SetLab):
        await start_set(lab)
        path = IMAGE.replace("/spec/groupTemplate", "")
        for _ in range(60):
            await lab.change_child("x-1", path, "engine:9")
            await lab.run(1)
        assert lab.cluster.tried["patch", CHILD.name] < 20


@pytest.mark.parametrize("writes", [1, 2, 3, 5, 8, 13])
async def test_an_operator_that_ends_after_any_write_is_followed_up(lab: SetLab, writes: int):
    lab.cluster.left = writes
    await lab.apply(group_set(replicas=2))
    await _survive(lab, lab.is_set_ready)
    lab.cluster.left = writes
    await lab.change(IMAGE, "engine:2")
    least = await _survive(lab, lab.is_rolled("engine:2"))
    assert least >= 1
    assert sorted(name_of(child) for child in lab.all(CHILD)) == ["x-0", "x-1"]


async def _survive(lab: SetLab, claim: Callable[[], bool]) -> int:
    """Start another operator whenever one has ended; the fewest groups that were ready."""
    least = 99
    for _ in range(240):
        await lab.run(0.5)
        least = min(least, sum(is_true(c, "Ready") for c in lab.children().values()))
        if lab.cluster.is_dead:
            await lab.stop_operator()
            lab.start_operator()
        if claim():
            return least
    raise AssertionError("it never ended")


class TestPartitions:
    """A set goes on to its next group when one has updated all that it may."""

    async def test_a_percentage_of_stateless_instances_does_not_stop_the_set(self, lab: SetLab):
        notes = {labels.INSTANCE_PATTERN: "Stateless"}
        half = {"rolloutStrategy": {"rollingUpdate": {"partition": "50%"}}}
        await start_set(lab, standalone(replicas=3, annotations=notes, **half))
        await lab.change(IMAGE, "engine:2")
        await lab.until(lambda: find_updated(lab) == {"x-0": [1], "x-1": [1]}, 240)

    async def test_the_partition_of_a_policy_does_not_stop_the_set(self, lab: SetLab):
        await start_set(lab, standalone("a", 2), standalone("b", 2))
        for name in ("x-0", "x-1"):
            rolling = {"rollingUpdate": {"partition": "50%"}}
            rule = {"name": "ab", "roles": ["a", "b"], "strategy": rolling}
            head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
            await lab.apply({**head, "metadata": {"name": name}, "spec": {"policies": [rule]}})
        await lab.run(5)
        await lab.change(IMAGE, "engine:2")
        await lab.until(lambda: find_updated(lab) == {"x-0": [1, 2], "x-1": [1, 2]}, 240)


def find_updated(lab: SetLab) -> dict[str, list[int]]:
    """How many pods of each role have the newest template, by group."""
    return {
        name: [role["updatedReplicas"] for role in child["status"]["roleStatuses"]]
        for name, child in lab.children().items()
    }
